#!/usr/bin/env python3
"""Traffic for the tests: makes flows and packets, answers them, counts them. Results are one JSON object on stdout."""
import argparse
import json
import resource
import sys

import flows
import packets
import server
import sniffer


def endpoint(text):
    address, _, port = text.rpartition(":")
    return address, int(port)


def port_set(text):
    a, k, psid = map(int, text.split(","))
    return a, k, psid


def parser():
    top = argparse.ArgumentParser(description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)

    def command(name, run, help):
        p = commands.add_parser(name, help=help, description=help)
        p.set_defaults(run=run)
        return p

    for name, run, help in (
        ("udp-fill", flows.udp_fill, "open UDP flows to one destination, each from another port; needs echo-server there"),
        ("tcp-fill", flows.tcp_fill, "open TCP connections to one destination and hold them; needs echo-server there"),
    ):
        p = command(name, run, help)
        p.add_argument("--dst", type=endpoint, required=True, metavar="IP:PORT")
        p.add_argument("--src", default="0.0.0.0", metavar="IP")
        p.add_argument("--count", type=int, default=1008)
        p.add_argument("--first-port", type=int, default=20000, help="source port of the first flow (20000)")
        p.add_argument("--window", type=int, default=64, help="flows waiting for an answer at a time (64)")
        p.add_argument("--wait", type=float, default=3, help="seconds to wait for late answers (3)")
        p.add_argument("--hold", type=float, default=0, help="seconds to keep all open after that (0)")
        p.add_argument("--background", type=float, default=0, metavar="R",
                       help="other UDP flows sent per flow, to 250 other destinations of the /24, unanswered (0)")
    p = command("ping-many", flows.ping_many, "send ICMP echo requests with distinct ids at once")
    p.add_argument("--dst", required=True, metavar="IP")
    p.add_argument("--count", type=int, default=40)
    p.add_argument("--first-id", type=int, default=20000)
    p.add_argument("--wait", type=float, default=3)
    p.add_argument("--outside", metavar="NETNS", help="also report the ids that arrive there")

    p = command("echo-server", server.run, "answer UDP and TCP with the source seen, record sources; ends at SIGTERM; "
                "SIGUSR1 prints the record so far")
    p.add_argument("--udp", type=int, action="append", default=[], metavar="PORT")
    p.add_argument("--tcp", type=int, action="append", default=[], metavar="PORT")
    p.add_argument("--icmp", action="store_true", help="record ids of echo requests (the kernel answers them)")
    p.add_argument("--ready", metavar="FILE", help="create FILE when listening")

    p = command("sniff", sniffer.run, "count IPv4 packets, alone or inside IPv6, on a device; ends at SIGTERM")
    p.add_argument("--dev", required=True)
    p.add_argument("--time", type=float, help="end after so many seconds")
    p.add_argument("--direction", choices=("in", "out", "both"), default="both")
    p.add_argument("--outer-src", metavar="IPV6", help="only packets with this outer source")
    p.add_argument("--port-set", type=port_set, metavar="A,K,PSID", help="sort ports and ids into inside and outside")
    p.add_argument("--side", choices=("src", "dst"), default="src", help="whose port is looked at (src)")
    p.add_argument("--ready", metavar="FILE", help="create FILE when listening")

    p = command("raw", packets.run, "send single odd packets: " + ", ".join(packets.CASES))
    p.add_argument("--src", required=True, metavar="IP")
    p.add_argument("--dst", required=True, metavar="IP")
    p.add_argument("--sport", type=int, default=40000)
    p.add_argument("--dport", type=int, default=40000)
    p.add_argument("--case", action="append", default=[], choices=[*packets.GROUPS, *packets.CASES], metavar="CASE",
                   help="a case or a group: " + ", ".join(packets.GROUPS) + " (leaks)")
    return top


def main():
    arguments = parser().parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    json.dump(arguments.run(arguments), sys.stdout, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
