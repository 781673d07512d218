#!/usr/bin/env python3
"""Faults in mape-gen's runs, one after another; to be run in the CE's namespace. Prints a line for each assertion.

  faults.py errors OPERATION   every system call refused once, and some from then on
  faults.py kills OPERATION    killed at every change, then cleaned up by apply and by revert in turn
  faults.py signals OPERATION  SIGINT and SIGTERM at every change
  faults.py journal            what a killed run left, the journal cut at many lengths, then reverted
  faults.py vanish OPERATION   a device is deleted after every change
  faults.py quiet              no other program is run; with nothing to do nothing is changed

OPERATION: apply (the first one), revert, change (another prefix), same (nothing to do).
The environment: MAPE the program, MAPE_LONG for every call and every error and every length.
"""
import argparse
import os
import re
import shutil
import sys

import namespace_state
import traced

STATE = "/run/mape-gen/mape0"
# What a call may fail with. The short form takes one each, by turn.
ERRORS = {
    "sendto": ["ENOBUFS", "EPERM", "ENOMEM", "EINVAL", "ENODEV", "EOPNOTSUPP"],
    "recvmsg": ["ENOBUFS", "ENOMEM", "EINVAL"],
    "openat": ["EIO", "EMFILE", "EACCES", "ENOMEM"],
    "openat for writing": ["ENOSPC", "EROFS", "EIO", "EACCES", "EMFILE"],
    "read": ["EIO", "ENOMEM"],
    "write": ["ENOSPC", "EIO"],
    "write to a value": ["EINVAL", "EPERM", "EIO", "ENOMEM"],
    "write to a pipe": ["EPIPE", "EIO", "ENOSPC"],
    "fsync": ["EIO", "ENOSPC", "EROFS"],
    "fdatasync": ["EIO", "ENOSPC", "EROFS"],
    "rename": ["ENOSPC", "EIO", "EROFS"],
    "unlink": ["EIO", "EROFS", "EPERM"],
    "mkdir": ["ENOSPC", "EROFS", "EACCES"],
    "chmod": ["EPERM", "EROFS"],
    "ftruncate": ["EIO", "ENOSPC"],
    "fallocate": ["ENOSPC", "EOPNOTSUPP"],
    "flock": ["ENOLCK", "EINTR"],
    "socket": ["EMFILE", "ENOBUFS", "EPROTONOSUPPORT"],
    "bind": ["ENOMEM", "EADDRINUSE"],
    "getdents64": ["EIO", "ENOMEM"],
    "newfstatat": ["EIO", "EACCES"],
    "ioctl": ["ENODEV", "ENOMEM"],
    "capget": ["EINVAL"],
    "mmap": ["ENOMEM"],
}
# From some moment on: a disk that is full, a kernel that refuses, answers that do not come.
LASTING = {"write": "ENOSPC", "sendto": "ENOMEM", "recvmsg": "ENOMEM"}
FILES = [f"{STATE}/{name}" for name in ("journal", "journal.new", "ruleset.new", "lock")]
FULL_EVERY = 10  # so often all values are compared in the short form

long_form = bool(os.environ.get("MAPE_LONG"))
passed = failed = 0


def ok(name):
    global passed
    passed += 1
    print(f"ok - {name}", flush=True)


def not_ok(name, *seen):
    global failed
    failed += 1
    print(f"not ok - {name}")
    for line in "\n".join(str(each) for each in seen).splitlines()[:24]:
        print(f"    {line[:700]}")
    sys.stdout.flush()


def kind_of(event):
    if event.call == "openat" and event.changes:
        return "openat for writing"
    if event.call == "write" and event.about.startswith("/proc/sys"):
        return "write to a value"
    if event.call == "write" and event.about.startswith("std"):
        return "write to a pipe"
    return event.call


class Box:
    """The CE: what it looks like with nothing applied (clean), with line a and with line b."""

    def __init__(self, program, lines):
        self.program = program
        self.apply = {name: [program, "apply", "--prefix", prefix] for name, prefix in lines.items()}
        self.revert = [program, "revert"]
        self.state = namespace_state.State()
        self.readings = 0
        self.looks = {"clean": self.state.read()}
        self.place = "clean"
        for name in ("a", "b"):
            self.must(self.apply[name])
            self.looks[name] = self.state.read()
        self.must(self.apply["a"])
        if not namespace_state.same(self.looks["a"], self.state.read()):
            not_ok("there and back again: line a looks as before", *namespace_state.differences(self.looks["a"], self.state.read()))
        self.place = "a"

    def must(self, command):
        outcome = traced.run(command)
        if outcome.code != 0:
            not_ok(f"{' '.join(command[1:])}: exit 0", outcome)
        return outcome

    def read(self):
        self.readings += 1
        return self.state.read(quick=not long_form and self.readings % FULL_EVERY != 0)

    def where(self, now):
        return next((name for name, look in self.looks.items() if namespace_state.same(look, now)), None)

    def go(self, place):
        if self.place == place:
            return
        self.must(self.revert if place == "clean" else self.apply[place])
        self.place = place

    def command(self, place):
        return self.revert if place == "clean" else self.apply[place]

    def clean_up(self, name, place="clean"):
        """The next run ends as asked."""
        outcome = traced.run(self.command(place))
        now = self.read()
        self.place = place
        if outcome.code == 0 and namespace_state.same(self.looks[place], now):
            return True
        word = "revert" if place == "clean" else "apply"
        not_ok(f"{name}: then {word} ends as asked", outcome, *namespace_state.differences(self.looks[place], now))
        self.scrub()
        return False

    def scrub(self):
        """By hand, so that one fault does not become the next one's."""
        shutil.rmtree(STATE, ignore_errors=True)
        traced.run(self.revert)
        traced.run(["ip", "link", "del", "mape0"])
        for name in ("ip", "ip6"):
            traced.run(["nft", "delete", "table", name, "mape_mape0"])
        wanted = self.looks["clean"]
        # This one first: it sets others.
        lines = [line for line in wanted["sysctl"] if line.startswith("ipv4/ip_forward:")]
        for line in lines + sorted(set(wanted["sysctl"]) - set(self.state.read()["sysctl"])):
            key, _, value = line.partition(":")
            if os.path.exists(f"{namespace_state.ROOT}/{key}"):
                with open(f"{namespace_state.ROOT}/{key}", "w") as file:
                    file.write(value)
        self.place = "clean"
        left = namespace_state.differences(wanted, self.state.read())
        if left:
            print("# not scrubbed:", *left, sep="\n#   ")


class Operation:
    """From one place to another. `change` goes to and fro."""

    def __init__(self, box, name):
        self.box, self.name = box, name
        self.ready()

    def ready(self):
        place = self.box.place
        if self.name == "apply":
            start, goal = "clean", "a"
        elif self.name == "revert":
            start, goal = "a" if place == "clean" else place, "clean"
        elif self.name == "change":
            start = "a" if place == "clean" else place
            goal = "b" if start == "a" else "a"
        else:
            start = goal = "a" if place == "clean" else place
        self.box.go(start)
        self.start, self.goal = start, goal
        return self.box.command(goal)

    def record(self):
        outcome, events = traced.record(self.ready(), "/tmp/record")
        now = self.box.state.read()
        if outcome.code != 0 or not namespace_state.same(self.box.looks[self.goal], now):
            not_ok(f"{self.name}: recorded", outcome, *namespace_state.differences(self.box.looks[self.goal], now))
        self.box.place = self.goal
        return events


def judge(box, operation, name, outcome, error="", message=True, early=False):
    """After a run that met a fault; `early`: while it read what it was told. Returns "undone", "done" or "left" if all is well, and brings the box to a known place."""
    now = box.read()
    place = box.where(now)
    wrong = None
    verdict = "?"
    if outcome.code < 0:
        wrong = f"died of signal {-outcome.code}"
    elif outcome.code and message and not outcome.err.strip():
        wrong = "silence: no message"
    elif outcome.code == 0:
        verdict = "done"
        if place != operation.goal:
            wrong = "exit 0, but not as asked"
    elif outcome.code == 1 or (outcome.code == 5 and error in ("EPERM", "EACCES")):
        verdict = "undone"
        if place != operation.start:
            wrong = f"exit {outcome.code}, but not as before"
    elif outcome.code == 2 and early:
        verdict = "undone"
        if place != operation.start:
            wrong = "exit 2, but not as before"
    elif outcome.code == 6:
        verdict = "left"
        if "could not " not in outcome.err and "cannot " not in outcome.err:
            wrong = "exit 6 does not say what remains"
    else:
        wrong = f"exit {outcome.code}"
    if wrong:
        look = box.looks[operation.goal if outcome.code == 0 else operation.start]
        not_ok(f"{name}: {wrong}", outcome, *namespace_state.differences(look, now))
    if place and outcome.code in (0, 1, 5):
        box.place = place
    elif not box.clean_up(name):
        return None
    return None if wrong else verdict


def told(events):
    """So many events at the beginning read what the run is told."""
    return next(at for at, event in enumerate(events) if event.call == "mkdir")


def selected(events, operation):
    """Every change; of what only reads, in the short form, one of each kind."""
    if long_form:
        return events
    chosen = [event for event in events if event.changes]
    if operation.name == "change":
        return chosen  # it reads what `apply` and `same` read
    alike = {}
    if operation.name != "apply":
        events = events[told(events) :]
    for event in events:
        if not event.changes:
            alike.setdefault((event.call, re.sub(r"/conf/[^/]*/|statistics/.*", "", event.about)), []).append(event)
    # By turn the first and the last: most kinds are read before the first change and after it.
    return chosen + [same[-(index % 2)] for index, same in enumerate(alike.values())]


def errors(box, operation):
    events = operation.record()
    early = events[: told(events)]
    turn = {}
    verdicts = {}
    runs = 0
    for event in selected(events, operation):
        kind = kind_of(event)
        if kind not in ERRORS:
            continue
        errors = ERRORS[kind]
        if not long_form:
            turn[kind] = turn.get(kind, -1) + 1
            errors = [errors[turn[kind] % len(errors)]]
        cases = [(error, "") for error in errors]
        if kind in LASTING and event.changes and (long_form or kind != "recvmsg") and not event.about.startswith("std"):
            cases.append((LASTING[kind], "+"))
        of_files = [each for each in events if each.call == event.call and each.about in FILES] if event.about in FILES else []
        for error, lasting in cases:
            command = operation.ready()
            what = f"{operation.name}: {event} fails with {error}{' from then on' if lasting else ''}"
            number, paths = event.n, ()
            if lasting and of_files:
                number, paths = of_files.index(event) + 1, FILES
            outcome = traced.inject(command, event.call, f"error={error}:when={number}{lasting}", paths, seconds=2)
            runs += 1
            mute = event.call == "write" and event.about == "stderr"
            verdict = judge(box, operation, what, outcome, error, message=not mute, early=event in early)
            row = verdicts.setdefault((kind, lasting), {})
            row[verdict] = row.get(verdict, 0) + 1
    for (kind, lasting), row in verdicts.items():
        count = ", ".join(f"{number} {verdict or 'NOT OK'}" for verdict, number in sorted(row.items(), key=str))
        if None not in row:
            ok(f"{operation.name}: {kind} fails{' from then on' if lasting else ''}: {count}")
    print(f"# {operation.name}: {runs} runs that met an error")
    box.clean_up(f"{operation.name}: in the end")


def kills(box, operation):
    events = [event for event in operation.record() if event.moves or (long_form and event.changes)]
    number = bad = 0
    for index, event in enumerate(events):
        for place in ("clean", "goal") if long_form else (("clean", "goal")[index % 2],):
            command = operation.ready()
            if place == "goal":
                place = operation.goal if operation.goal != "clean" else operation.start
            outcome = traced.inject(command, event.call, f"signal=SIGKILL:when={event.n}")
            what = f"{operation.name}: killed at {event}"
            number += 1
            if outcome.code != -9:
                bad += 1
                not_ok(f"{what}: it is", outcome)
            bad += not box.clean_up(what, place)
            # What the next revert leaves shows whether the clean-up knew what had been.
            if place != "clean":
                bad += not box.clean_up(f"{what}, applied")
    if not bad:
        ok(f"{operation.name}: killed at {len(events)} places, {number} times: the next apply ends as asked, the next revert as before")


def signals(box, operation):
    events = [event for event in operation.record() if event.moves or (long_form and event.changes)]
    counts = {"undone": 0, "done": 0, "dead before any change": 0}
    bad = 0
    for index, event in enumerate(events):
        for signal in ("SIGINT", "SIGTERM") if long_form else (("SIGINT", "SIGTERM")[index % 2],):
            command = operation.ready()
            outcome = traced.inject(command, event.call, f"signal={signal}:when={event.n}")
            what = f"{operation.name}: {signal} at {event}"
            if outcome.code in (-2, -15):
                # Before it listens, the default: nothing is done yet.
                now = box.read()
                if not namespace_state.same(now, box.looks[operation.start]) or os.path.exists(f"{STATE}/journal.new"):
                    bad += 1
                    not_ok(f"{what}: died, but not as before", outcome, *namespace_state.differences(box.looks[operation.start], now))
                    box.clean_up(what)
                counts["dead before any change"] += 1
                continue
            verdict = judge(box, operation, what, outcome)
            if verdict == "undone" and "interrupted" not in outcome.err:
                not_ok(f"{what}: it says so", outcome)
                verdict = None
            if verdict == "undone" and operation.name == "revert":
                not_ok(f"{what}: revert goes to its end", outcome)
                verdict = None
            if verdict not in counts:
                bad += 1
            else:
                counts[verdict] += 1
    if not bad:
        ok(f"{operation.name}: SIGINT and SIGTERM at {len(events)} places: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    box.clean_up(f"{operation.name}: in the end")


def lengths(text):
    if long_form:
        return list(range(len(text) + 1))
    wanted = set()
    at = 0
    for line in text.splitlines(keepends=True):
        wanted |= {at - 1, at, at + 1, at + len(line) // 2}
        at += len(line)
    return sorted(length for length in wanted | {at - 1, at} if 0 <= length <= len(text))


def journal(box, operation):
    """Without its records nobody knows what a value was, so IPv4 forwarding is on before."""
    box.go("clean")
    with open("/proc/sys/net/ipv4/ip_forward", "w") as file:
        file.write("1\n")
    box.looks["clean"] = box.state.read()
    box.go("a")
    box.looks["a"] = box.state.read()
    last = [event for event in operation.record() if event.call == "sendto" and event.changes][-1]
    texts = None
    bad = 0
    cuts = [None]
    while cuts:
        length = cuts.pop()
        command = operation.ready()
        traced.inject(command, "sendto", f"signal=SIGKILL:when={last.n}")
        path = f"{STATE}/journal"
        if texts is None:
            with open(path, "rb") as file:
                texts = file.read()
            cuts = lengths(texts)
        if length is not None:
            os.truncate(path, length)
            bad += not box.clean_up(f"the journal of {len(texts)} bytes cut at {length}")
        else:
            box.clean_up("the journal as it was")
    box.go("clean")
    with open("/proc/sys/net/ipv4/ip_forward", "w") as file:
        file.write("0\n")
    if not bad:
        ok(f"the journal of {len(texts)} bytes, {texts.count(10)} lines, cut at {len(lengths(texts))} places: revert cleans up everything")


class Devices:
    """WAN and LAN of the box with hardware addresses of their own, so that they look the same when they are made again."""

    def __init__(self, wan_address, names):
        self.batches = {
            "wan0": f"""link add wan0 address 02:00:00:00:01:01 type veth peer name ce0 address 02:00:00:00:01:02 netns {names}br
                link set wan0 up
                addr add {wan_address} dev wan0 nodad
                route add ::/0 via fe80::1 dev wan0 proto ra metric 1024""",
            "lan0": f"""link add lan0 address 02:00:00:00:02:01 type veth peer name eth0 address 02:00:00:00:02:02 netns {names}lan
                addr add 192.168.1.1/24 dev lan0
                link set lan0 up""",
        }
        self.peers = {"wan0": (names + "br", "ce0"), "lan0": (names + "lan", "eth0")}
        for name in self.batches:
            self.delete(name)
            self.make(name)

    @staticmethod
    def delete(name):
        return traced.run(["ip", "link", "del", name]).code == 0

    def make(self, name):
        if name not in self.batches:
            return
        with open("/tmp/batch", "w") as file:
            file.write(self.batches[name] + "\n")
        namespace, peer = self.peers[name]
        for command in ["ip", "-batch", "/tmp/batch"], ["ip", "-n", namespace, "link", "set", peer, "up"]:
            outcome = traced.run(command)
            if outcome.code:
                not_ok(f"the device {name} is made again", outcome)


def vanish(box, operation, devices):
    # Whenever something was sent or a value written, and when all is done. Nobody can tell what goes after the last of them.
    recorded = operation.record()
    events = [event for event in recorded if event.moves and (event.call == "sendto" or event.about.startswith("/proc/sys"))]
    events.append([event for event in recorded if event.about == "stdout"][-1])
    whole = dict(box.looks)
    for device in ("wan0", "lan0", "mape0"):
        without = {}
        for place in whole:
            box.go(place)
            devices.delete(device)
            without[place] = box.state.read()
            devices.make(device)
            if device != "lan0":
                box.clean_up(f"{device} was deleted")
        counts = {}
        for event in events:
            command = operation.ready()
            run = traced.Stopped(command, event.call, event.n, "/tmp/trace")
            devices.delete(device)
            outcome = run.go_on()
            now = box.read()
            what = f"{operation.name}: {device} is deleted after {event}"
            looks = [without, whole] if device == "mape0" else [without]
            verdict = {0: "done", 1: "undone", 6: "left"}.get(outcome.code)
            wanted = {0: operation.goal, 1: operation.start}.get(outcome.code)
            if run.pid is None:
                not_ok(f"{what}: it is stopped there", outcome)
            elif verdict is None or (outcome.code and not outcome.err.strip()):
                not_ok(f"{what}: exit 0, 1 or 6, and a message", outcome)
            elif (outcome.code == 0 and device != "lan0" and operation.goal != "clean" and event not in events[-2:]
                  and not namespace_state.same(whole[wanted], now)):
                not_ok(f"{what}: exit 0 although {device} is not there", outcome, *namespace_state.differences(whole[wanted], now))
            elif wanted and not any(namespace_state.same(look[wanted], now) for look in looks):
                not_ok(f"{what}: exit {outcome.code}, but not as {'asked' if outcome.code == 0 else 'before'}", outcome,
                       *namespace_state.differences(looks[0][wanted], now))
            else:
                counts[verdict] = counts.get(verdict, 0) + 1
            box.looks = whole if device == "mape0" else without
            box.clean_up(what)
            devices.make(device)
            box.looks = whole
            if not namespace_state.same(whole["clean"], box.read()):
                not_ok(f"{what}: all as before when it is there again", *namespace_state.differences(whole["clean"], box.state.read()))
        if sum(counts.values()) == len(events):
            ok(f"{operation.name}: {device} deleted after {len(events)} calls: " + ", ".join(f"{n} {what}" for what, n in counts.items()))


def processes(command):
    outcome = traced.run(["strace", "-f", "-o", "/tmp/record", "-e", "trace=execve,execveat,fork,vfork,clone,clone3", *command])
    with open("/tmp/record", errors="replace") as lines:
        calls = [line.split(None, 1)[1].strip() for line in lines if re.match(r"\d+ +\w+\(", line)]
    return outcome, calls


def quiet(box, _):
    box.go("clean")
    line = box.apply["a"][2:]
    for name, command, place in (
        ("status, nothing applied", [box.program, "status", *line], "clean"),
        ("a dry run", [*box.apply["a"], "--dry-run"], "clean"),
        ("the first apply", box.apply["a"], "a"),
        ("apply with nothing to do", box.apply["a"], "a"),
        ("status", [box.program, "status", *line], "a"),
        ("another prefix", box.apply["b"], "b"),
        ("revert", box.revert, "clean"),
    ):
        outcome, calls = processes(command)
        box.place = place
        if outcome.code in (0, 3) and len(calls) == 1 and calls[0].startswith("execve("):
            ok(f"{name}: one execve, no fork or clone")
        else:
            not_ok(f"{name}: one execve, no fork or clone", outcome, *calls)
    box.go("a")
    outcome, events = traced.record(box.apply["a"], "/tmp/record")
    lock = f"{STATE}/lock"
    changes = [event for event in events if event.changes and event.call != "exit_group" and event.about not in ("stdout", "stderr", lock)]
    # A directory that is there already is not made.
    changes = [event for event in changes if event.call != "mkdir"]
    sends = [event for event in events if event.call in ("sendto", "sendmsg")]
    if changes or not sends:
        not_ok("apply with nothing to do: changes nothing", *changes)
    else:
        ok(f"apply with nothing to do: of {len(sends)} messages all ask, the lock is the only file that is written")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("errors", "kills", "signals", "journal", "vanish", "quiet"))
    parser.add_argument("operation", nargs="?", default="apply", choices=("apply", "revert", "change", "same"))
    parser.add_argument("--line-a", required=True, metavar="PREFIX")
    parser.add_argument("--line-b", required=True, metavar="PREFIX")
    parser.add_argument("--wan-address", metavar="PREFIX")
    parser.add_argument("--names", default="", metavar="LAB_NS")
    arguments = parser.parse_args()
    more = (Devices(arguments.wan_address, arguments.names),) if arguments.what == "vanish" else ()
    box = Box(os.environ["MAPE"], {"a": arguments.line_a, "b": arguments.line_b})
    operation = Operation(box, arguments.operation)
    run = {"errors": errors, "kills": kills, "signals": signals, "journal": journal, "vanish": vanish, "quiet": quiet}
    run[arguments.what](box, operation, *more)
    box.go("clean")
    print(f"# {passed} {failed}")


if __name__ == "__main__":
    main()
