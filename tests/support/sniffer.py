"""Counts what passes a device: IPv4, alone or inside IPv6."""
import collections
import ipaddress
import socket
import struct
import time

import server

ETH_P_IP, ETH_P_IPV6, ETH_P_ALL = 0x0800, 0x86DD, 0x0003
PACKET_OUTGOING = 4
SOL_PACKET, PACKET_STATISTICS = 263, 6
IPPROTO_DSTOPTS = 60
PORT_PROTOCOLS = {socket.IPPROTO_TCP, socket.IPPROTO_UDP, 132, 33, 136}  # and SCTP, DCCP, UDP-Lite
ICMP_QUERIES = {0, 8, 13, 14}


def in_port_set(port, a, k, psid):
    """RFC 7597 section 5.1."""
    if (port >> (16 - a - k)) & ((1 << k) - 1) != psid:
        return False
    return a == 0 or port >> (16 - a) != 0


class Counts:
    def __init__(self, arguments):
        self.port_set = arguments.port_set
        self.side = 0 if arguments.side == "src" else 2
        self.outer_source = ipaddress.ip_address(arguments.outer_src).packed if arguments.outer_src else None
        self.total = collections.Counter()
        self.next_header = collections.Counter()
        self.overhead = collections.Counter()
        self.protocol = collections.Counter()
        self.address = collections.Counter()
        self.icmp_type = collections.Counter()
        self.mss = collections.Counter()
        self.ports = collections.Counter()
        self.first_mss = None

    def ipv6(self, packet):
        if self.outer_source and packet[8:24] != self.outer_source:
            return
        self.total["ipv6"] += 1
        length, header = struct.unpack_from("!HB", packet, 4)
        self.next_header[header] += 1
        offset = 40
        if header == IPPROTO_DSTOPTS:
            header = packet[40]
            offset += (packet[41] + 1) * 8
        if header == socket.IPPROTO_IPIP:
            inner = packet[offset:]
            self.overhead[40 + length - struct.unpack_from("!H", inner, 2)[0]] += 1
            self.ipv4(inner)

    def ipv4(self, packet):
        self.total["ipv4"] += 1
        protocol = packet[9]
        self.protocol[protocol] += 1
        address = packet[12:16] if self.side == 0 else packet[16:20]
        self.address[str(ipaddress.ip_address(address))] += 1
        fragment = struct.unpack_from("!H", packet, 6)[0]
        if fragment & 0x1FFF:
            self.total["later_fragments"] += 1
            return
        body = packet[(packet[0] & 15) * 4 :]
        if protocol in PORT_PROTOCOLS:
            self.port(struct.unpack_from("!H", body, self.side)[0])
            if protocol == socket.IPPROTO_TCP and body[13] & 2:
                self.syn(body)
        elif protocol == socket.IPPROTO_ICMP:
            self.icmp_type[body[0]] += 1
            if body[0] in ICMP_QUERIES:
                self.port(struct.unpack_from("!H", body, 4)[0])
        else:
            self.total["no_port"] += 1

    def port(self, port):
        self.ports[port] += 1
        if self.port_set:
            self.total["inside" if in_port_set(port, *self.port_set) else "outside"] += 1

    def syn(self, tcp):
        options = tcp[20 : (tcp[12] >> 4) * 4]
        while options:
            kind = options[0]
            if kind == 0:
                return
            if kind == 1:
                options = options[1:]
                continue
            if kind == 2:
                mss = struct.unpack_from("!H", options, 2)[0]
                self.mss[mss] += 1
                if self.first_mss is None:
                    self.first_mss = mss
            options = options[options[1] :]

    def report(self, dropped):
        total = {name: self.total[name] for name in ("ipv6", "ipv4", "inside", "outside", "no_port", "later_fragments")}
        outside = []
        if self.port_set:
            outside = sorted(p for p in self.ports if not in_port_set(p, *self.port_set))
        return {
            **total,
            "next_header": self.next_header,
            "overhead": self.overhead,
            "protocol": self.protocol,
            "address": self.address,
            "icmp_type": self.icmp_type,
            "mss": self.mss,
            "first_mss": self.first_mss,
            "distinct": len(self.ports),
            "ports": sorted(self.ports),
            "outside_ports": outside,
            "missed": dropped,
        }


def capture(device, ready, use, seconds=None):
    """Calls use(protocol, outgoing, packet) until SIGTERM or for so long; returns how many packets were missed."""
    # Cooked (SOCK_DGRAM): the packet starts at layer 3 on every kind of device.
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    sock.bind((device, ETH_P_ALL))
    end = time.monotonic() + seconds if seconds else None
    server.stop_on_signals()

    def take():
        packet, (_, protocol, kind, *_) = sock.recvfrom(70000)
        use(protocol, kind == PACKET_OUTGOING, packet)

    try:
        server.announce(ready)
        while end is None or time.monotonic() < end:
            sock.settimeout(max(0.01, end - time.monotonic()) if end else None)
            try:
                take()
            except TimeoutError:
                pass
    except server.Stop:
        # what was queued before the signal counts
        sock.setblocking(False)
        try:
            while True:
                take()
        except BlockingIOError:
            pass
    return struct.unpack("II", sock.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]


def run(arguments):
    counts = Counts(arguments)
    handlers = {ETH_P_IP: counts.ipv4, ETH_P_IPV6: counts.ipv6}
    wanted = {"in": (False,), "out": (True,), "both": (False, True)}[arguments.direction]

    def use(protocol, outgoing, packet):
        handler = handlers.get(protocol)
        if handler and outgoing in wanted:
            handler(packet)

    return counts.report(capture(arguments.dev, arguments.ready, use, arguments.time))
