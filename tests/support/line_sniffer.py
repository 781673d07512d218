#!/usr/bin/env python3
"""Watches a device at the border relay: does what each packet says belong to one line? Ends at SIGTERM with one JSON object.

  line_sniffer.py --dev ce0 --line CE=IPV4,A,K,PSID [--line ...] --ready FILE

Of each line the outer source, the inner source and the port (or ICMP id) must be those of that line; anything else that
carries IPv4, tunnelled or not, is a leak.
"""
import argparse
import collections
import ipaddress
import json
import socket
import struct

import sniffer


class Lines:
    def __init__(self, lines):
        self.lines = {}
        for line in lines:
            ce, _, rest = line.partition("=")
            ipv4, a, k, psid = rest.split(",")
            port_set = tuple(map(int, (a, k, psid)))
            self.lines[ipaddress.ip_address(ce).packed] = ce, ipaddress.ip_address(ipv4).packed, port_set
        self.counts = {ce: collections.Counter() for ce, _, _ in self.lines.values()}
        self.leaks = collections.Counter()

    def packet(self, protocol, packet):
        if protocol == sniffer.ETH_P_IP:
            self.leaks["IPv4 without a tunnel"] += 1
        elif protocol == sniffer.ETH_P_IPV6 and packet[6] in (socket.IPPROTO_IPIP, sniffer.IPPROTO_DSTOPTS):
            inner = packet[40:] if packet[6] == socket.IPPROTO_IPIP else packet[40 + (packet[41] + 1) * 8 :]
            self.tunnelled(packet[8:24], inner)

    def tunnelled(self, outer, inner):
        source = str(ipaddress.ip_address(inner[12:16]))
        line = self.lines.get(outer)
        if not line:
            self.leaks[f"outer source {ipaddress.ip_address(outer)}, inner {source}"] += 1
            return
        ce, ipv4, port_set = line
        if inner[12:16] != ipv4:
            self.leaks[f"{ce}: inner source {source}"] += 1
            return
        body = inner[(inner[0] & 15) * 4 :]
        kind = inner[9]
        if struct.unpack_from("!H", inner, 6)[0] & 0x1FFF:
            self.counts[ce]["fragment"] += 1
            return
        if kind in sniffer.PORT_PROTOCOLS:
            port = struct.unpack_from("!H", body)[0]
        elif kind == socket.IPPROTO_ICMP and body[0] in sniffer.ICMP_QUERIES:
            port = struct.unpack_from("!H", body, 4)[0]
        elif kind == socket.IPPROTO_ICMP:
            self.counts[ce]["icmp error"] += 1
            return
        else:
            self.leaks[f"{ce}: protocol {kind}"] += 1
            return
        if sniffer.in_port_set(port, *port_set):
            self.counts[ce][{6: "tcp", 17: "udp", 1: "icmp"}.get(kind, kind)] += 1
        else:
            self.leaks[f"{ce}: protocol {kind}, port {port}"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--line", action="append", required=True)
    parser.add_argument("--ready")
    arguments = parser.parse_args()
    lines = Lines(arguments.line)

    def use(protocol, outgoing, packet):
        if not outgoing:
            lines.packet(protocol, packet)

    missed = sniffer.capture(arguments.dev, arguments.ready, use)
    print(json.dumps({"lines": lines.counts, "leaks": lines.leaks, "missed": missed}))


if __name__ == "__main__":
    main()
