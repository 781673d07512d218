"""Many flows at once from one host, and how many of them got through."""
import ipaddress
import json
import os
import selectors
import socket
import struct
import subprocess
import sys
import tempfile
import time

TCPI_TOTAL_RETRANS = 100  # its place in struct tcp_info


class Background:
    """Flows of others: to 250 destinations beside the one under test, nobody answers."""

    def __init__(self, arguments):
        self.rate = arguments.background
        self.owed = 0.0
        self.sent = 0
        net = ipaddress.ip_network(arguments.dst[0] + "/24", strict=False)
        self.hosts = [str(net[i]) for i in range(2, 252) if str(net[i]) != arguments.dst[0]]
        self.source = arguments.src
        self.port = 40000
        self.sockets = []

    def step(self):
        self.owed += self.rate
        while self.owed >= 1:
            self.owed -= 1
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.bind((self.source, self.port))
            self.port = 40000 if self.port == 60999 else self.port + 1
            # a stride that shares no factor with 250 visits all hosts, in another order than the ports
            sock.sendto(b"x", (self.hosts[self.sent * 97 % len(self.hosts)], 9999))
            self.sent += 1
            sock.close()


def fill(arguments, kind, connected, retried):
    """Opens the flows in order, `window` at a time. `connected(sock)` may be called while the answer is not there yet."""
    selector = selectors.DefaultSelector()
    background = Background(arguments)
    sockets = {}
    answers = {}
    waiting = set()

    def collect(timeout):
        for key, _ in selector.select(timeout):
            try:
                data = key.fileobj.recv(64)
            except OSError:
                data = b""
            selector.unregister(key.fileobj)
            waiting.discard(key.data)
            if data:
                address, port = data.split()
                answers[key.data] = address.decode(), int(port)

    started = time.monotonic()
    for index in range(arguments.count):
        background.step()
        sock = socket.socket(socket.AF_INET, kind)
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((arguments.src, arguments.first_port + index))
        connected(sock, arguments.dst)
        sockets[index] = sock
        waiting.add(index)
        selector.register(sock, selectors.EVENT_READ, index)
        collect(0)
        # Flows without an answer must not stop the rest: a full window is given a moment, then forgotten.
        deadline = time.monotonic() + 0.3
        while len(waiting) >= arguments.window:
            collect(0.05)
            if time.monotonic() >= deadline:
                waiting.clear()
    opened = time.monotonic()
    while len(answers) < arguments.count and time.monotonic() < opened + arguments.wait:
        collect(0.1)
    late = [index for index, sock in sockets.items() if index not in answers or retried(sock)]
    sources = sorted(set(answers.values()))
    report = {
        "asked": arguments.count,
        "answered": len(answers),
        "first_refused": min(late, default=None),
        "refused": [index for index in sockets if index not in answers],
        "late": [index for index in late if index in answers],
        "addresses": sorted({address for address, _ in sources}),
        "distinct": len(sources),
        "ports": [port for _, port in sources],
        "background": background.sent,
        "seconds": round(time.monotonic() - started, 2),
    }
    if arguments.hold:
        print(json.dumps(report, sort_keys=True), flush=True)
        time.sleep(arguments.hold)
    return report


def udp_fill(arguments):
    def send(sock, destination):
        sock.connect(destination)
        sock.send(b"x")

    return fill(arguments, socket.SOCK_DGRAM, send, lambda sock: False)


def tcp_fill(arguments):
    def connect(sock, destination):
        try:
            sock.connect(destination)
        except BlockingIOError:
            pass

    def retransmitted(sock):
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        return struct.unpack_from("I", info, TCPI_TOTAL_RETRANS)[0] > 0

    return fill(arguments, socket.SOCK_STREAM, connect, retransmitted)


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def echo_request(identifier, sequence=1, payload=b"mape-gen"):
    head = struct.pack("!BBHHH", 8, 0, 0, identifier, sequence)
    return struct.pack("!BBHHH", 8, 0, checksum(head + payload), identifier, sequence) + payload


def ping_many(arguments):
    outside = Outside(arguments.outside) if arguments.outside else None
    sock = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    sock.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
    sock.settimeout(0.1)
    asked = set(range(arguments.first_id, arguments.first_id + arguments.count))
    answered = set()
    for identifier in sorted(asked):
        sock.sendto(echo_request(identifier), (arguments.dst, 0))
    deadline = time.monotonic() + arguments.wait
    while answered != asked and time.monotonic() < deadline:
        try:
            packet, _ = sock.recvfrom(2048)
        except TimeoutError:
            continue
        icmp = packet[(packet[0] & 15) * 4 :]
        if icmp[0] == 0:
            answered.add(struct.unpack_from("!H", icmp, 4)[0])
    report = {"asked": len(asked), "answered": len(answered & asked), "unanswered": sorted(asked - answered)}
    if outside:
        report["outside"] = outside.ids()
    return report


class Outside:
    """An echo-server in the other namespace that records echo requests."""

    def __init__(self, netns):
        tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "traffic.py")
        with tempfile.TemporaryDirectory() as directory:
            ready = os.path.join(directory, "ready")
            self.process = subprocess.Popen(
                ["ip", "netns", "exec", netns, sys.executable, tool, "echo-server", "--icmp", "--ready", ready],
                stdout=subprocess.PIPE,
            )
            while not os.path.exists(ready) and self.process.poll() is None:
                time.sleep(0.05)

    def ids(self):
        self.process.terminate()
        record = json.loads(self.process.communicate()[0])
        return [identifier for _, identifier, _ in record["icmp"]]
