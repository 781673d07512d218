#!/usr/bin/env python3
"""UDP, TCP and ICMP from a host of the LAN, whatever becomes of it, until SIGTERM: new flows all the time, and old ones that go on.

  steady_traffic.py --dst IP --port PORT [--pause S]     prints what was sent and answered as one JSON object
"""
import argparse
import collections
import json
import socket
import time

import flows
import server


class Traffic:
    def __init__(self, destination):
        self.destination = destination
        self.counts = collections.Counter()
        self.icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        self.icmp.setblocking(False)
        self.old = [self.udp() for _ in range(8)]
        self.tcp = collections.deque()
        self.round = 0

    def udp(self):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setblocking(False)
        sock.connect(self.destination)
        return sock

    def attempt(self, name, action):
        try:
            action()
            self.counts[name] += 1
        except OSError:
            self.counts[name + " refused"] += 1

    def take(self, sock, name):
        try:
            while sock.recv(2048):
                self.counts[name + " answered"] += 1
                if name == "tcp":
                    sock.send(b"x")
        except OSError:
            pass

    def step(self):
        self.round += 1
        new = self.udp()
        self.attempt("udp", lambda: new.send(b"new"))
        self.old.append(new)
        first = self.old.pop(0)
        self.take(first, "udp")
        first.close()
        going = self.old[self.round % len(self.old)]
        self.attempt("udp", lambda: going.send(b"old"))
        if self.round % 2:
            self.attempt("icmp", lambda: self.icmp.sendto(flows.echo_request(self.round & 0xFFFF), (self.destination[0], 0)))
            self.take(self.icmp, "icmp")
            return
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.setblocking(False)
        self.counts["tcp"] += 1
        try:
            sock.connect(self.destination)
        except OSError:
            pass
        self.tcp.append(sock)
        for each in self.tcp:
            self.take(each, "tcp")
        while len(self.tcp) > 8:
            self.tcp.popleft().close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dst", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--pause", type=float, default=0.01)
    parser.add_argument("--ready")
    arguments = parser.parse_args()
    traffic = Traffic((arguments.dst, arguments.port))
    server.stop_on_signals()
    try:
        server.announce(arguments.ready)
        while True:
            traffic.step()
            time.sleep(arguments.pause)
    except server.Stop:
        print(json.dumps(traffic.counts, sort_keys=True))


if __name__ == "__main__":
    main()
