#!/usr/bin/env python3
"""Makes the seeds of the targets whose input is binary: answers of this kernel, recorded, and scripts for `reply`.

    unshare -n tests/fuzz/seeds.py [DIRECTORY]

Needs root, nft and iproute2. Seeds of the other targets are text, by hand. DIRECTORY: tests/fuzz/corpus.
"""
import pathlib
import socket
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus"
LARGEST = 6000
REQUEST, ACK, DUMP, MULTI, DUMP_INTR = 1, 4, 0x300, 2, 0x10
CAPPED, ACK_TLVS = 0x100, 0x200


def save(target, name, data):
    directory = CORPUS / target
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(data)


def run(*command):
    subprocess.run(command, check=True)


def attribute(kind, payload):
    header = struct.pack("=HH", 4 + len(payload), kind)
    return header + payload + bytes(-len(payload) % 4)


def message(kind, flags, payload, sequence=7, port=0):
    return struct.pack("=IHHII", 16 + len(payload), kind, flags, sequence, port) + payload


def dump(bus, kind, payload):
    """Every message of the answer, without the end."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, bus) as kernel:
        kernel.bind((0, 0))
        kernel.send(message(kind, REQUEST | DUMP, payload))
        answer = b""
        while True:
            datagram = kernel.recv(1 << 20)
            while datagram:
                length, kind_of_answer = struct.unpack_from("=IH", datagram)
                if kind_of_answer == 3:
                    return answer
                if kind_of_answer == 2:
                    raise OSError(-struct.unpack_from("=i", datagram, 16)[0], "dump")
                padded = datagram[:length] + bytes(-length % 4)
                answer += padded
                datagram = datagram[len(padded):]


def messages(dumped):
    while dumped:
        length = struct.unpack_from("=I", dumped)[0]
        length += -length % 4
        yield dumped[:length]
        dumped = dumped[length:]


def cut(dumped):
    """As many whole messages as fit into a seed."""
    kept = b""
    for one in messages(dumped):
        if len(kept) + len(one) > LARGEST:
            break
        kept += one
    return kept


def tunnel_link():
    """An ip6tnl, which not every kernel has: what matters of tests/unit/netlink/rtnl_read_test.cpp's."""
    ipv6 = lambda text: socket.inet_pton(socket.AF_INET6, text)
    u32 = lambda number: struct.pack("=I", number)
    data = attribute(1, u32(7)) + attribute(2, ipv6("2001:db8::1")) + attribute(3, ipv6("2001:db8:ffff::9"))
    data += attribute(4, b"\x40") + attribute(6, b"\x04") + attribute(7, bytes(4)) + attribute(8, u32(0x30001))
    data += attribute(9, b"\x04") + attribute(20, u32(3))
    attributes = attribute(3, b"mape0\0") + attribute(4, u32(1460)) + attribute(16, b"\0") + attribute(5, u32(7))
    attributes += attribute(20, b"mape-gen\0") + attribute(18, attribute(1, b"ip6tnl\0") + attribute(2, data))
    return message(16, MULTI, struct.pack("=BxHiII", 0, 769, 9, 0x10c1, 0) + attributes)


def record_rtnetlink():
    run("ip", "link", "add", "name", "wan0", "type", "veth", "peer", "name", "lan0")
    for device in ("lo", "wan0", "lan0"):
        run("ip", "link", "set", device, "up")
    run("ip", "link", "add", "name", "mape0", "type", "veth", "peer", "name", "other0")
    run("ip", "link", "set", "mape0", "up", "alias", "mape-gen 0")
    run("ip", "-6", "address", "add", "2001:db8::1/128", "dev", "wan0", "nodad", "noprefixroute")
    run("ip", "address", "add", "192.0.2.1/32", "dev", "mape0")
    run("ip", "address", "add", "192.168.1.1", "peer", "192.168.1.2/32", "dev", "lan0")
    run("ip", "route", "add", "default", "dev", "mape0", "proto", "77", "table", "300")
    run("ip", "route", "add", "198.51.100.0/24", "nexthop", "dev", "lan0", "nexthop", "dev", "mape0")
    run("ip", "route", "add", "203.0.113.0/24", "via", "inet6", "fe80::1", "dev", "lan0")
    run("ip", "-6", "route", "add", "default", "via", "fe80::1", "dev", "wan0")
    run("ip", "rule", "add", "pref", "1000", "iif", "lan0", "from", "192.168.1.0/24", "lookup", "300", "protocol", "77")
    run("ip", "rule", "add", "pref", "1001", "from", "192.168.1.5/24", "fwmark", "1", "lookup", "300")
    family4, family6 = bytes([2]), bytes([10])
    dumps = {
        "links": dump(0, 18, bytes(16)),
        "addresses": dump(0, 22, bytes(8)),
        "routes4": dump(0, 26, family4 + bytes(11)),
        "routes6": dump(0, 26, family6 + bytes(11)),
        "rules": dump(0, 34, family4 + bytes(11)),
    }
    for name, dumped in dumps.items():
        if name == "links":
            for one in messages(dumped):
                if b"\0wan0\0" in one:
                    save("rtnl_read", "link", one)
        else:
            save("rtnl_read", name, cut(dumped))
    save("rtnl_read", "tunnel", tunnel_link())
    save("rtnl_read", "network", tunnel_link() + cut(dumps["addresses"] + dumps["rules"] + dumps["routes6"]))


SMALL = """table ip mape_mape0 {
    comment "mape-gen 0.1.0 0123456789abcdef"
    counter dropped { }
    set outside { type ifname; flags interval; elements = { "mape*" } }
    map pick { type inet_service : verdict; flags interval; elements = { 1-9 : jump other, 80 : accept } }
    chain other { counter; }
    chain out { type nat hook postrouting priority 99; oifname "mape0" tcp dport { 1, 2 } counter name dropped snat to 192.0.2.1:5
                oifname @outside quota 1 mbytes ct state new accept comment "x"
                tcp dport vmap @pick; }
}"""


def record_nftables():
    nfgenmsg = bytes([2, 0, 0, 0])
    for golden in ("small", "unshared"):
        run("nft", "flush", "ruleset")
        subprocess.run(["nft", "-f", "-"], check=True, text=True,
                       input=SMALL if golden == "small" else (HERE / "../golden/ruleset" / (golden + ".nft")).read_text())
        all_of_it = b""
        for kind in (1, 19, 23, 4, 10, 7):  # tables, objects, flowtables, chains, sets, rules
            all_of_it += dump(12, 10 << 8 | kind, nfgenmsg)
        for one in messages(dump(12, 10 << 8 | 10, nfgenmsg)):
            length, = struct.unpack_from("=H", one, 20)  # NFTA_SET_TABLE, then NFTA_SET_NAME
            second = 20 + length + -length % 4
            length, = struct.unpack_from("=H", one, second)
            name = one[second + 4:second + length]
            all_of_it += dump(12, 10 << 8 | 13, nfgenmsg + attribute(1, b"mape_mape0\0") + attribute(2, name))
        if golden == "small":
            # Not every kernel has flowtables.
            hook = attribute(1, struct.pack(">I", 0)) + attribute(2, struct.pack(">I", 0)) + attribute(3, attribute(1, b"lo\0"))
            all_of_it += message(10 << 8 | 22, MULTI, nfgenmsg + attribute(1, b"mape_mape0\0") + attribute(2, b"fast\0")
                                 + attribute(3, hook) + attribute(4, struct.pack(">I", 1)) + attribute(5, bytes(8)))
        save("nft_dump", golden, all_of_it)


# Scripts for `reply`: see step names in reply.cpp. EXCHANGE and so on are its first byte.
EXCHANGE, DUMPING, BATCH, JUST_ACK = range(4)
NOOP, ERROR, DONE, OVERRUN, OBJECT = range(5)
LOST, ABANDON = b"\x07", b"\x03"


def part(kind, payload=b"", sequence=None, port=None, flags=None, lie=None):
    shape = kind
    rest = b""
    if sequence is not None:
        shape |= 8
        rest += bytes([sequence])
    if port is not None:
        shape |= 16
        rest += bytes([port])
    if flags is not None:
        shape |= 32
        rest += struct.pack("=H", flags)
    rest += bytes([len(payload)]) + payload
    if lie is not None:
        shape |= 64
        rest += struct.pack("=b", lie)
    return bytes([shape]) + rest


def datagram(*parts, short=None):
    operation = (len(parts) - 1) << 3 | (32 if short is not None else 0)
    return bytes([operation]) + b"".join(parts) + (bytes([short]) if short is not None else b"")


def refusal(code, text=None, offset=None, sequence=None):
    payload = struct.pack("=i", code) + message(16, 5, b"")
    flags = CAPPED
    if text:
        payload += attribute(1, text + b"\0")
        flags |= ACK_TLVS
    if offset is not None:
        payload += attribute(2, struct.pack("=I", offset))
        flags |= ACK_TLVS
    return part(ERROR, payload, flags=flags, sequence=sequence)


def reply_scripts():
    end = struct.pack("=i", 0)
    scripts = {
        "ack": bytes([EXCHANGE]) + datagram(refusal(0)),
        "refused": bytes([EXCHANGE]) + datagram(refusal(-19, b"Device does not exist")),
        "refused-attribute": bytes([EXCHANGE]) + datagram(refusal(-22, b"Invalid", 16)),
        "others": bytes([EXCHANGE]) + datagram(refusal(-17, sequence=3), part(ERROR, end, port=1), refusal(0)),
        "gives-up": bytes([EXCHANGE]) + datagram(part(NOOP)) + ABANDON + datagram(refusal(0)),
        "dump": bytes([DUMPING]) + datagram(part(OBJECT, b"12345678"), part(OBJECT, b"1234")) + datagram(part(DONE, end)),
        "dump-interrupted": bytes([DUMPING]) + datagram(part(OBJECT, b"1234", flags=MULTI | DUMP_INTR)),
        "dump-overrun": bytes([DUMPING]) + datagram(part(OBJECT, b"1234"), part(OVERRUN)),
        "dump-lost": bytes([DUMPING]) + datagram(part(OBJECT, b"1234")) + LOST + datagram(part(DONE, end)),
        "dump-lies": bytes([DUMPING]) + datagram(part(OBJECT, b"1234", lie=4)) + datagram(part(OBJECT, b"1234"), short=3),
        "batch": bytes([BATCH]) + datagram(refusal(0, sequence=3)),
        "batch-refused": bytes([BATCH]) + datagram(refusal(-2, b"No such thing", 20, sequence=2), refusal(0, sequence=3)),
        "batch-refused-twice": bytes([BATCH]) + datagram(refusal(-2, sequence=1)) + datagram(refusal(-17, sequence=2)),
        "batch-lost": bytes([BATCH]) + LOST + datagram(refusal(0, sequence=3)),
        "batch-denied": bytes([BATCH]) + datagram(refusal(-1, sequence=0)),
    }
    asked = message(16, 5, attribute(5, b"1234"))
    whole = struct.pack("=i", -22) + asked + attribute(1, b"Invalid\0") + attribute(2, struct.pack("=I", 16))
    scripts["whole-ack"] = bytes([JUST_ACK, len(asked)]) + asked + message(2, ACK_TLVS, whole)
    raw = message(2, CAPPED, struct.pack("=i", 0) + message(16, 5, b""), port=4242)
    scripts["raw"] = bytes([EXCHANGE, 4]) + struct.pack("=H", len(raw)) + raw
    for name, script in scripts.items():
        save("reply", name, script)


record_rtnetlink()
record_nftables()
reply_scripts()
