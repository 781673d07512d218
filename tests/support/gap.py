#!/usr/bin/env python3
"""How long a stream of UDP packets is interrupted: `send` sends without end, `receive` tells the longest time without one.

The ready file of `receive` is there with the first packet."""
import argparse
import json
import signal
import socket
import sys
import time


def send(arguments):
    stream = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:
        try:
            stream.sendto(b"x", (arguments.dst, arguments.port))
        except OSError:
            pass  # no route for a moment: that is what is looked for
        time.sleep(0.001)


def receive(arguments):
    stream = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    stream.bind(("", arguments.port))
    times = []

    def end(*_):
        gaps = [later - earlier for earlier, later in zip(times, times[1:])]
        json.dump({"packets": len(times), "longest_gap": max(gaps, default=0)}, sys.stdout)
        sys.stdout.flush()
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    while True:
        stream.recv(100)
        times.append(time.monotonic())
        if arguments.ready and len(times) == 1:
            open(arguments.ready, "w").close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["send", "receive"])
    parser.add_argument("--dst")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--ready")
    arguments = parser.parse_args()
    {"send": send, "receive": receive}[arguments.what](arguments)


main()
