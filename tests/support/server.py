"""The far end: tells each flow the source address and port it arrived from, and records them."""
import collections
import functools
import json
import selectors
import signal
import socket
import struct
import sys

IP_PKTINFO = 8


class Stop(Exception):
    pass


def stop_on_signals():
    """SIGTERM and SIGINT raise Stop, also out of a blocking call."""

    def handler(*_):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise Stop

    signal.signal(signal.SIGTERM, handler)
    signal.signal(signal.SIGINT, handler)


def announce(path):
    if path:
        with open(path, "w"):
            pass


class Record:
    def __init__(self):
        self.udp = collections.Counter()
        self.tcp = collections.Counter()
        self.icmp = collections.Counter()

    def report(self):
        def rows(counter):
            return [[address, port, count] for (address, port), count in sorted(counter.items())]

        return {name: rows(getattr(self, name)) for name in ("udp", "tcp", "icmp")}


def serve_udp(sock, record):
    while True:
        try:
            data, ancillary, _, source = sock.recvmsg(2048, 64)
        except BlockingIOError:
            return
        record.udp[source] += 1
        # The answer must leave from the address that was asked.
        local = ancillary[0][2][8:12]
        info = struct.pack("i4s4s", 0, local, bytes(4))
        try:
            sock.sendmsg([f"{source[0]} {source[1]}".encode()], [(socket.IPPROTO_IP, IP_PKTINFO, info)], 0, source)
        except OSError:
            pass


def serve_tcp(sock, record, selector):
    while True:
        try:
            connection, source = sock.accept()
        except BlockingIOError:
            return
        record.tcp[source] += 1
        connection.setblocking(False)
        connection.send(f"{source[0]} {source[1]}\n".encode())
        selector.register(connection, selectors.EVENT_READ, functools.partial(drain, connection, selector))


def drain(connection, selector):
    try:
        if connection.recv(65536):
            return
    except OSError:
        pass
    selector.unregister(connection)
    connection.close()


def serve_icmp(sock, record):
    while True:
        try:
            packet, source = sock.recvfrom(2048)
        except BlockingIOError:
            return
        icmp = packet[(packet[0] & 15) * 4 :]
        if icmp[0] == 8:
            record.icmp[source[0], struct.unpack_from("!H", icmp, 4)[0]] += 1


def listen(kind, port, selector, record):
    sock = socket.socket(socket.AF_INET, kind)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setblocking(False)
    sock.bind(("0.0.0.0", port))
    if kind == socket.SOCK_DGRAM:
        sock.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
        sock.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
        selector.register(sock, selectors.EVENT_READ, lambda: serve_udp(sock, record))
    else:
        sock.listen(4096)
        selector.register(sock, selectors.EVENT_READ, lambda: serve_tcp(sock, record, selector))


def run(arguments):
    record = Record()
    selector = selectors.DefaultSelector()

    def snapshot(*_):
        print(json.dumps(record.report(), sort_keys=True))
        sys.stdout.flush()

    stop_on_signals()
    signal.signal(signal.SIGUSR1, snapshot)
    for port in arguments.udp:
        listen(socket.SOCK_DGRAM, port, selector, record)
    for port in arguments.tcp:
        listen(socket.SOCK_STREAM, port, selector, record)
    if arguments.icmp:
        icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        icmp.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)
        icmp.setblocking(False)
        selector.register(icmp, selectors.EVENT_READ, lambda: serve_icmp(icmp, record))
    try:
        announce(arguments.ready)
        while True:
            for key, _ in selector.select():
                key.data()
    except Stop:
        return record.report()
