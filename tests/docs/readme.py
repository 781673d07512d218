#!/usr/bin/env python3
"""Runs the command lines of README.md's console blocks and compares what they print.

usage: readme.py [--lab] MAPE-GEN

A block starts with ```console. "$ mape-gen ..." is run, "lan$ ..." too (in the LAN of the lab); what follows up to the next
prompt is what it prints on both streams. A line "..." stands for any lines, "..." at the end of a line for any rest.
Blocks below <!-- lab --> are for the lab of tests/support/lab.sh, which must be up: --lab runs those, without it the others.
"""
import os
import re
import shlex
import subprocess
import sys

BLOCK = re.compile(r"^(<!-- lab -->\n)?```console\n(.*?)^```$", re.M | re.S)


def commands(text, lab):
    for marked, block in BLOCK.findall(text):
        if bool(marked) != lab:
            continue
        found = []
        for line in block.splitlines():
            if re.match(r"(lan)?\$ ", line):
                found.append((line, []))
            else:
                found[-1][1].append(line)
        yield from found


def matches(expected, printed):
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(matches(expected[1:], printed[i:]) for i in range(len(printed) + 1))
    if not printed:
        return False
    if expected[0].endswith("..."):
        same = printed[0].startswith(expected[0][:-3])
    else:
        same = printed[0].rstrip() == expected[0]
    return same and matches(expected[1:], printed[1:])


def run(line, program, lab):
    prompt, _, command = line.partition("$ ")
    words = shlex.split(command)
    if not prompt:
        assert words[0] == "mape-gen", line
        words[0] = program
    if lab:
        words = ["ip", "netns", "exec", os.environ.get("LAB_NS", "") + (prompt or "ce"), *words]
    environment = dict(os.environ, MAPE_GEN_DATA="profiles", MAPE_GEN_CONFIG_DIR="/nonexistent", LC_ALL="C.UTF-8")
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout.decode().splitlines()


def main():
    lab = "--lab" in sys.argv
    program = os.path.abspath(sys.argv[-1])
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    sys.setrecursionlimit(10000)
    with open("README.md", encoding="utf-8") as file:
        text = file.read()
    total = failed = 0
    for line, expected in commands(text, lab):
        total += 1
        code, printed = run(line, program, lab)
        if code or not matches(expected, printed):
            failed += 1
            print(f"README.md: {line}\n  exit code {code}; prints\n" + "".join(f"    {each}\n" for each in printed))
    print(f"{total - failed} of {total} commands print what README.md says")
    return 1 if failed or not total else 0


sys.exit(main())
