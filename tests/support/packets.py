"""Single packets that a NAT does not translate, or that should not come in."""
import ipaddress
import socket
import struct

from flows import checksum, echo_request


def packed(address):
    return ipaddress.ip_address(address).packed


class Ends:
    def __init__(self, arguments):
        self.src, self.dst = packed(arguments.src), packed(arguments.dst)
        self.sport, self.dport = arguments.sport, arguments.dport

    def ports(self):
        return struct.pack("!HH", self.sport, self.dport)

    def sum(self, protocol, body, covered=None):
        """Checksum with the IPv4 pseudo-header, over the first `covered` bytes."""
        part = body if covered is None else body[:covered]
        return checksum(self.src + self.dst + struct.pack("!BBH", 0, protocol, len(body)) + part)


def ipv4(src, dst, protocol, body):
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(body), 0x4D47, 0, 64, protocol, 0) + src + dst
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


def tcp(ends, flags):
    body = ends.ports() + struct.pack("!IIBBHHH", 1000, 2000, 5 << 4, flags, 1024, 0, 0)
    return body[:16] + struct.pack("!H", ends.sum(6, body)) + body[18:]


def udp(ends):
    body = ends.ports() + struct.pack("!HH", 12, 0) + b"mape"
    return body[:6] + struct.pack("!H", ends.sum(17, body)) + body[8:]


def udplite(ends):
    body = ends.ports() + struct.pack("!HH", 8, 0) + b"mape"  # the header alone is covered
    return body[:6] + struct.pack("!H", ends.sum(136, body, 8)) + body[8:]


def dccp(ends):
    # Request: data offset 5 words, type 0, 48-bit sequence numbers, service code
    body = ends.ports() + struct.pack("!BBHBBHII", 5, 0, 0, 1, 0, 0, 1, 0x6D617065)
    return body[:6] + struct.pack("!H", ends.sum(33, body)) + body[8:]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def sctp(ends):
    init = struct.pack("!BBHIIHHI", 1, 0, 20, 0x6D617065, 65536, 1, 1, 1)
    head = ends.ports() + struct.pack("!I", 0)
    return head + struct.pack("<I", crc32c(head + bytes(4) + init)) + init


def gre(ends):
    return struct.pack("!HH", 0, 0x0800) + ipv4(ends.src, ends.dst, 17, udp(ends))


# name: (protocol, body), each as a host would send it
CASES = {
    "gre": lambda e: (47, gre(e)),
    "esp": lambda e: (50, struct.pack("!II", 0x6D617065, 1) + bytes(32)),
    "sctp": lambda e: (132, sctp(e)),
    "dccp": lambda e: (33, dccp(e)),
    "udplite": lambda e: (136, udplite(e)),
    "ipip": lambda e: (4, ipv4(e.src, e.dst, 17, udp(e))),
    "ipv6": lambda e: (41, ipv6_packet(e)),
    "tcp-rst": lambda e: (6, tcp(e, 0x04)),
    "tcp-ack": lambda e: (6, tcp(e, 0x10)),
    "tcp-fin-ack": lambda e: (6, tcp(e, 0x11)),
    "tcp-rst-ack": lambda e: (6, tcp(e, 0x14)),
    "tcp-syn": lambda e: (6, tcp(e, 0x02)),
    "udp": lambda e: (17, udp(e)),
    "icmp-echo": lambda e: (1, echo_request(e.sport)),
    "icmp-timestamp": lambda e: (1, timestamp_request(e.sport)),
    "outer-ipv6": None,
}
GROUPS = {
    # what leaves a router untranslated when nothing guards its tunnel (map-e tests, T6)
    "leaks": ["gre", "esp", "sctp", "dccp", "udplite", "ipip", "tcp-rst", "tcp-fin-ack", "tcp-rst-ack"],
    "invalid-tcp": ["tcp-rst", "tcp-ack", "tcp-fin-ack", "tcp-rst-ack"],
}


def timestamp_request(identifier):
    head = struct.pack("!BBHHHIII", 13, 0, 0, identifier, 1, 0, 0, 0)
    return head[:2] + struct.pack("!H", checksum(head)) + head[4:]


def ipv6_packet(ends):
    """An IPv6 packet that tries to come through the tunnel: UDP from and to addresses for documentation."""
    body = ends.ports() + struct.pack("!HH", 8, 0)
    return struct.pack("!IHBB", 6 << 28, len(body), 17, 64) + packed("2001:db8::1") + packed("2001:db8::2") + body


def send_outer_ipv6(ends):
    """Protocol 41 beside the tunnel's own 4: --src and --dst are the tunnel's ends."""
    body = ipv6_packet(ends)
    head = struct.pack("!IHBB", 6 << 28, len(body), 41, 64) + ends.src + ends.dst
    with socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW) as sock:
        sock.sendto(head + body, (str(ipaddress.ip_address(ends.dst)), 0))


def run(arguments):
    ends = Ends(arguments)
    names = []
    for name in arguments.case or ["leaks"]:
        names += GROUPS.get(name, [name])
    sent, failed = [], {}
    for name in names:
        try:
            if name == "outer-ipv6":
                send_outer_ipv6(ends)
            else:
                protocol, body = CASES[name](ends)
                with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW) as sock:
                    sock.sendto(ipv4(ends.src, ends.dst, protocol, body), (arguments.dst, 0))
            sent.append(name)
        except OSError as error:
            failed[name] = str(error)
    return {"sent": sent, "failed": failed}
