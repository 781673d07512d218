#!/usr/bin/env python3
"""The configurations of other programs that README.md shows: each is read by the program it is for.

usage: snippets.py MAPE-GEN

A program that is not here is said and counts as skipped (exit code 77 if nothing failed).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

NETWORKD = "/lib/systemd/systemd-networkd"
# Apart from this system: networkd reads the files and is ended.
NETWORKD_SCRIPT = """
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/network && cp "$1"/*.network /run/systemd/network/
[ ! -d /etc/systemd/network ] || mount -t tmpfs tmpfs /etc/systemd/network
SYSTEMD_LOG_TARGET=console timeout 6 "$2" 2>&1 || true
"""


def snippets(text):
    for language, block in re.findall(r"^```(conf|ini|nft)\n(.*?)^```$", text, re.M | re.S):
        path = re.match(r"# (/\S+?):?(?: |$)", block.splitlines()[0])
        if not path:
            sys.exit(f"README.md: a block of {language} does not start with its path: {block.splitlines()[0]}")
        yield path.group(1), block


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return done.returncode, done.stdout.decode("utf-8", "replace")


def dnsmasq(path, program):
    return run("dnsmasq", "--test", "--conf-file=" + path)


def unit(path, program):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("/usr/local/bin/mape-gen", program))
    code, said = run("systemd-analyze", "verify", "--man=no", path)
    # It also tells of units of this system.
    mine = [line for line in said.splitlines() if os.path.basename(path) in line or "mape-gen" in line]
    return (1 if mine else 0), "\n".join(mine)


def nft(path, program):
    # Twice: the second time the table is there already.
    return run("unshare", "--net", "sh", "-ec", 'nft -f "$1"; nft -f "$1"', "sh", path)


def networkd(directory, program):
    # Something wrong on purpose: that it is found proves that the files are read.
    with open(os.path.join(directory, "99-control.network"), "w", encoding="utf-8") as file:
        file.write("[Match]\nName=none\n[Network]\nControl=yes\n")
    code, said = run("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-ec",
                     NETWORKD_SCRIPT, "sh", directory, NETWORKD)
    wrong = [line for line in said.splitlines() if re.search(r"\.network:\d+:|Failed to (parse|load)", line)]
    if not any("99-control.network:4" in line for line in wrong):
        wrong.append("the files were not read: " + said[-2000:])
    wrong = [line for line in wrong if "99-control" not in line]
    return (1 if wrong or code else 0), "\n".join(wrong)


def main():
    program = os.path.abspath(sys.argv[1])
    with open("README.md", encoding="utf-8") as file:
        found = dict(snippets(file.read()))
    failed = skipped = 0
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        for path, block in found.items():
            with open(os.path.join(directory, os.path.basename(path)), "w", encoding="utf-8") as file:
                file.write(block)
        tests = (
            ("dnsmasq", "lan.conf", dnsmasq, shutil.which("dnsmasq"), "dnsmasq-base is not installed"),
            ("unit", "mape-gen@.service", unit, shutil.which("systemd-analyze"), "systemd-analyze is not here"),
            ("nft", "nftables.conf", nft, root and shutil.which("nft"), "needs root and nft"),
            ("networkd", "", networkd, root and os.path.exists(NETWORKD), "needs root and systemd-networkd"),
        )
        for name, file, test, possible, why in tests:
            if not possible:
                skipped += 1
                print(f"SKIPPED {name}: {why}")
                continue
            code, said = test(os.path.join(directory, file), program)
            failed += code != 0
            print(f"{name}: {'ok' if code == 0 else 'FAILED: ' + said}")
    return 1 if failed else 77 if skipped else 0


sys.exit(main())
