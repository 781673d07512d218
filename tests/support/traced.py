"""mape-gen under strace: what it asks of the kernel, and what it does when a call goes wrong or it is stopped there."""
import os
import re
import signal
import subprocess

# Everything that reads or changes something outside the process, and memory.
CALLS = (
    "sendto,sendmsg,recvmsg,recvfrom,openat,read,write,fsync,fdatasync,rename,unlink,mkdir,chmod,ftruncate,fallocate,flock,"
    "socket,bind,getsockname,setsockopt,getdents64,newfstatat,ioctl,capget,mmap,close,rt_sigaction,exit_group"
)
PLAIN = "recvmsg,recvfrom,read,write,fsync,fdatasync,ftruncate,flock,bind,getsockname,setsockopt,getdents64,newfstatat," \
    "ioctl,capget,mmap,close,exit_group"
ROUTE = {0x10: "NEWLINK", 0x11: "DELLINK", 0x14: "NEWADDR", 0x15: "DELADDR", 0x18: "NEWROUTE", 0x19: "DELROUTE",
         0x20: "NEWRULE", 0x21: "DELRULE"}
# It asks and changes nothing; what else an attribute of an open file says, a closing.
UNIMPORTANT = {"close", "getsockname", "setsockopt", "rt_sigaction"}


class Event:
    """The n-th call of its name. `changes`: something outside the process, if only a file's place on the disk.
    `about`: what, the same for calls that are alike."""

    def __init__(self, call, n, about, changes, moves):
        self.call, self.n, self.about, self.changes = call, n, about, changes
        self.moves = moves  # what another process finds afterwards is another: a place to be killed at

    def __str__(self):
        return f"{self.call} {self.n} ({self.about})"


class Outcome:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __str__(self):
        return f"exit {self.code}\n{self.err}{self.out}".rstrip()


def run(command, seconds=30):
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # strace and what it traces
            out, err = process.communicate()
            err += f"no end after {seconds} s\n".encode()
            return Outcome(124, out.decode(errors="replace"), err.decode(errors="replace"))
        return Outcome(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


def record(command, file):
    """Runs it and returns its outcome and its events, from main() on."""
    outcome = run(["strace", "-f", "--seccomp-bpf", "-o", file, "-s", "16", "-e", "trace=" + CALLS, "-e", "raw=" + PLAIN, *command])
    with open(file, errors="replace") as lines:
        return outcome, events(lines)


def events(lines):
    found = []
    counts = {}
    files = {0: "stdin", 1: "stdout", 2: "stderr"}
    asked = ""
    begin = None
    for line in lines:
        matched = re.match(r"\d+ +(\w+)\((.*)", line)
        if not matched:
            continue
        call, rest = matched.groups()
        counts[call] = n = counts.get(call, 0) + 1
        first = re.match(r"(?:0x)?[0-9a-f]+", rest)
        about = files.get(int(first.group(), 16), "") if first else ""
        result = rest.rpartition(" = ")[2].split()[0]
        path = re.search(r'"([^"]*)"', rest)
        name = re.sub(r"\d{3,}", "N", path.group(1)) if path else ""
        changes = call in {"rename", "unlink", "mkdir", "chmod", "ftruncate", "fallocate", "fsync", "fdatasync", "flock"}
        moves = call in {"rename", "unlink", "mkdir", "exit_group"} and " = -1" not in rest
        if call == "openat":
            about = name
            changes = re.search(r"O_(WRONLY|RDWR|CREAT)", rest) is not None
            moves = "O_CREAT" in rest
            if result.isdigit():
                files[int(result)] = name
        elif call == "socket":
            about = next((bus for bus in ("NETLINK_ROUTE", "NETLINK_NETFILTER", "AF_UNIX") if bus in rest), "?")
            if result.isdigit():
                files[int(result)] = about
        elif call == "write":
            changes, moves = True, about not in ("stdout", "stderr")
        elif call in ("sendto", "sendmsg"):
            kind = re.search(r"nlmsg_type=(\w+)", rest)
            kind = int(kind.group(1), 16) if kind and kind.group(1).startswith("0x") else 0
            if about == "NETLINK_NETFILTER":
                changes = kind >> 8 == 0
                asked = "batch" if changes else f"nft GET {kind & 255:x}"
            else:
                changes = kind & 3 != 2
                asked = ROUTE.get(kind, f"GET {kind:x}")
            about, moves = asked, changes
        elif call in ("recvmsg", "recvfrom"):
            # An answer that is lost after a change is as important as the change.
            changes = asked in ROUTE.values() or asked == "batch"
            about = f"answer to {asked}"
        elif path:
            about = name
        elif call == "exit_group":
            changes = True
        elif call == "mmap":
            about = "memory"
        if call == "rt_sigaction" and begin is None:
            begin = len(found)  # the dynamic linker is done
        found.append(Event(call, n, about, changes, moves))
    return [event for event in found[begin:] if event.call not in UNIMPORTANT]


def inject(command, call, what, paths=(), seconds=30):
    """Runs it with `what` ("error=EIO:when=3", "signal=SIGKILL:when=3+") done to `call`; with `paths`, of calls about those.

    SIGKILL comes before the call is done, any other signal after it.
    """
    filters = [word for path in paths for word in ("-P", path)]
    # A signal cannot be given to a process that stands at a filter's stop.
    quick = [] if what.startswith("signal=") else ["--seccomp-bpf"]
    return run(["strace", "-f", *quick, "-o", "/dev/null", *filters, "-e", f"trace={call}", "-e", f"raw={call}",
                "-e", f"inject={call}:{what}", *command], seconds)


class Stopped:
    """Runs it and stops it when it has made the n-th call."""

    def __init__(self, command, call, n, fifo):
        if not os.path.exists(fifo):
            os.mkfifo(fifo)
        self.process = subprocess.Popen(
            ["strace", "-f", "-o", fifo, "-e", f"trace={call}", "-e", f"raw={call}",
             "-e", f"inject={call}:signal=SIGSTOP:when={n}", *command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.trace = open(fifo, errors="replace")
        self.pid = None
        for line in self.trace:
            if "stopped by SIGSTOP" in line:
                self.pid = int(line.split()[0])
                break

    def go_on(self):
        if self.pid:
            os.kill(self.pid, signal.SIGCONT)
        for _ in self.trace:
            pass
        self.trace.close()
        out, err = self.process.communicate()
        return Outcome(self.process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))
