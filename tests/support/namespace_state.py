"""What a network namespace looks like: links, addresses, routes, rules, nftables, the values of net.* that can be written.

The same as `snapshot` of tests/vm/lib.sh, but quick enough to be asked hundreds of times in an emulated machine: it is read
in this process, and what moves by itself is left out (operational states, counters, timers, indexes of devices).
"""
import ctypes
import os
import socket
import struct

NETLINK_ROUTE, NETLINK_NETFILTER = 0, 12
NLM_F_REQUEST, NLM_F_ACK, NLM_F_DUMP = 1, 4, 0x300
NLMSG_ERROR, NLMSG_DONE = 2, 3
RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE, RTM_GETRULE = 18, 22, 26, 34
NFT_MSG_GETGEN = 10 << 8 | 16
IFLA_IFNAME, IFLA_LINK, IFLA_AF_SPEC, IFLA_LINK_NETNSID, IFLA_LINKINFO = 3, 5, 26, 37, 18
# statistics, operational state, counts of carrier changes, a random permanent address, what depends on a listener
LINK_MOVES = {7, 16, 23, 30, 35, 47, 48, 54, IFLA_AF_SPEC}
IFA_CACHEINFO = 6
RTA_OIF, RTA_CACHEINFO = 4, 12
ROOT = "/proc/sys/net"
PER_DEVICE = ("ipv4/conf", "ipv4/neigh", "ipv6/conf", "ipv6/neigh")


class Netlink:
    def __init__(self, bus):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, bus)
        self.socket.bind((0, 0))
        self.sequence = 0

    def ask(self, kind, body, flags=NLM_F_DUMP):
        """Bodies of the messages that answer."""
        self.sequence += 1
        self.socket.send(struct.pack("=IHHII", 16 + len(body), kind, NLM_F_REQUEST | flags, self.sequence, 0) + body)
        found = []
        while True:
            data = self.socket.recv(1 << 20)
            while data:
                length, answer, _, sequence, _ = struct.unpack_from("=IHHII", data)
                if sequence == self.sequence:
                    if answer == NLMSG_ERROR:
                        code = struct.unpack_from("=i", data, 16)[0]
                        if code:
                            raise OSError(-code, os.strerror(-code))
                        return found
                    if answer == NLMSG_DONE:
                        return found
                    found.append(data[16:length])
                data = data[length + 3 & ~3 :]
            if not flags & NLM_F_DUMP and found and not flags & NLM_F_ACK:
                return found


def attributes(data):
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        yield kind & 0x3FFF, data[4:length]
        data = data[length + 3 & ~3 :]


def text(values):
    return " ".join(f"{kind}={value.hex()}" for kind, value in values)


def link_info(value, links):
    """IFLA_LINKINFO with the name of the device that a tunnel is bound to: its index changes when it is made anew."""
    found = dict(attributes(value))
    if found.get(1, b"").rstrip(b"\0") != b"ip6tnl" or 2 not in found:
        return value
    data = dict(attributes(found[2]))
    if 1 in data:
        index = struct.unpack("=I", data[1])[0]
        data[1] = (links.get(index, "gone") if index else "").encode()
    return text(data.items()).encode()


class Nft:
    """libnftables, as `nft -s list ruleset` uses it; asked only when the ruleset's generation has moved."""

    def __init__(self):
        self.library = ctypes.CDLL("libnftables.so.1")
        self.library.nft_ctx_new.restype = ctypes.c_void_p
        self.library.nft_ctx_get_output_buffer.restype = ctypes.c_char_p
        self.socket = Netlink(NETLINK_NETFILTER)
        self.seen = None

    def generation(self):
        return self.socket.ask(NFT_MSG_GETGEN, struct.pack("BBH", 0, 0, 0), 0)[0]

    def lines(self):
        # The rest of the answer is the name of who made the last change.
        generation = next(value for kind, value in attributes(self.generation()[4:]) if kind == 1)
        if self.seen is None or self.seen[0] != generation:
            context = ctypes.c_void_p(self.library.nft_ctx_new(0))
            self.library.nft_ctx_output_set_flags(context, 1 << 1)  # stateless
            self.library.nft_ctx_buffer_output(context)
            if self.library.nft_run_cmd_from_buffer(context, b"list ruleset") != 0:
                raise OSError("nft list ruleset failed")
            listing = self.library.nft_ctx_get_output_buffer(context).decode()
            self.library.nft_ctx_free(context)
            self.seen = generation, tuple(listing.splitlines())
        return self.seen[1]


def writable(directory):
    """Names of files below a directory of net.*, not those of single devices."""
    names = []
    for entry in os.scandir(directory):
        if entry.is_dir(follow_symlinks=False):
            if entry.path[len(ROOT) + 1 :] not in PER_DEVICE:
                names += writable(entry.path)
        elif entry.stat().st_mode & 0o200:
            names.append(entry.path[len(ROOT) + 1 :])
    return names


class State:
    def __init__(self):
        self.route = Netlink(NETLINK_ROUTE)
        self.nft = Nft()
        self.names = sorted(writable(ROOT))
        self.leaves = {
            parent: sorted(os.path.basename(name) for name in writable(f"{ROOT}/{parent}/lo")) for parent in PER_DEVICE
        }

    def read(self, quick=False):
        """Lines by kind. Two readings are equal when the namespaces look the same; `quick` ones have fewer values."""
        links = {}
        lines = []
        dump = []
        for body in self.route.ask(RTM_GETLINK, struct.pack("=BxHiII", 0, 0, 0, 0, 0)):
            found = dict(attributes(body[16:]))
            links[struct.unpack_from("=i", body, 4)[0]] = found[IFLA_IFNAME].rstrip(b"\0").decode()
            dump.append((body, found))
        for body, found in dump:
            _, kind, index, flags, _ = struct.unpack_from("=BxHiII", body)
            if IFLA_LINK_NETNSID in found:
                found[IFLA_LINK] = b"elsewhere"
            elif IFLA_LINK in found:
                found[IFLA_LINK] = links.get(struct.unpack("=i", found[IFLA_LINK])[0], "gone").encode()
            if IFLA_LINKINFO in found:
                found[IFLA_LINKINFO] = link_info(found[IFLA_LINKINFO], links)
            lines.append(f"{links[index]}: {kind} {flags:x} {text(pair for pair in found.items() if pair[0] not in LINK_MOVES)}")
        state = {"link": sorted(lines)}

        lines = []
        for body in self.route.ask(RTM_GETADDR, struct.pack("=BBBBi", 0, 0, 0, 0, 0)):
            family, length, flags, scope, index = struct.unpack_from("=BBBBi", body)
            # of the times, those that count: how long it is preferred and valid
            found = [(kind, value[:8] if kind == IFA_CACHEINFO else value) for kind, value in attributes(body[8:])]
            lines.append(f"{links.get(index)}: {family} {length} {flags:x} {scope} {text(found)}")
        state["addr"] = sorted(lines)

        lines = []
        for family in (socket.AF_INET, socket.AF_INET6):
            for body in self.route.ask(RTM_GETROUTE, struct.pack("=BBBBBBBBI", family, *[0] * 8)):
                found = []
                for kind, value in attributes(body[12:]):
                    if kind == RTA_OIF:
                        value = links.get(struct.unpack("=I", value)[0], "?").encode()
                    if kind != RTA_CACHEINFO:
                        found.append((kind, value))
                lines.append(f"{body[:12].hex()} {text(found)}")
        state["route"] = sorted(lines)
        state["rule"] = [
            body.hex()
            for family in (socket.AF_INET, socket.AF_INET6)
            for body in self.route.ask(RTM_GETRULE, struct.pack("=BBBBBBBBI", family, *[0] * 8))
        ]
        state["nft"] = list(self.nft.lines())
        state["sysctl"] = self.values(quick)
        return state

    def values(self, quick):
        names = [] if quick else self.names[:]
        if quick:
            names.append("ipv4/ip_forward")
        for parent, leaves in self.leaves.items():
            if quick and parent != "ipv4/conf":
                continue
            for device in sorted(os.listdir(f"{ROOT}/{parent}")):
                names += [f"{parent}/{device}/{leaf}" for leaf in leaves]
        lines = []
        root = os.open(ROOT, os.O_RDONLY | os.O_DIRECTORY)
        for name in names:
            try:
                file = os.open(name, os.O_RDONLY, dir_fd=root)
            except OSError:
                continue
            try:
                lines.append(f"{name}:{os.read(file, 4096).decode().strip()}")
            except OSError:
                pass  # net.ipv6.conf.*.stable_secret until it is set
            os.close(file)
        os.close(root)
        return lines


def same(before, after):
    """Of two readings, the kinds of values that both have are equal."""
    if any(before[kind] != after[kind] for kind in before if kind != "sysctl"):
        return False
    few, many = sorted((before["sysctl"], after["sysctl"]), key=len)
    if len(few) == len(many):
        return few == many
    return few == [line for line in many if line.startswith(("ipv4/ip_forward:", "ipv4/conf/"))]


def differences(before, after):
    """A line for each that is in one of the two only."""
    found = []
    for kind in before:
        old, new = before[kind], after[kind]
        if kind == "sysctl":
            # values that only one of the readings has looked for, and those of devices that are gone or new
            both = {line.partition(":")[0] for line in old} & {line.partition(":")[0] for line in new}
            old = [line for line in old if line.partition(":")[0] in both]
            new = [line for line in new if line.partition(":")[0] in both]
        olds, news = set(old), set(new)
        changed = [f"{kind}: gone: {line}" for line in old if line not in news]
        changed += [f"{kind}: new: {line}" for line in new if line not in olds]
        if not changed and old != new:
            changed.append(f"{kind}: in another order, or another number of times")
        found += changed[:6]
    return found


if __name__ == "__main__":
    for each, lines in State().read().items():
        for line in lines:
            print(f"{each}: {line}")
