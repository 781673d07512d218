#!/usr/bin/env python3
"""The man pages: they build and are clean, and they know every command, option and key of the program, and no others.

usage: manual.py MAPE-GEN
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PAGES = ("man/mape-gen.8.scd", "man/mape-gen.conf.5.scd")
problems = []


def expect(condition, sentence):
    if not condition:
        problems.append(sentence)


def same(what, page, manual, program):
    for name in sorted(set(program) - set(manual)):
        problems.append(f"{page}: {what} {name} is missing")
    for name in sorted(set(manual) - set(program)):
        problems.append(f"{page}: the program has no {what} {name}")


def output(*command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, **more).stdout.decode()


def plain(text):
    """scdoc without its font marks."""
    text = re.sub(r"\\(.)", "\0\\1", text)
    text = re.sub(r"(?<!\0)[*_]", "", text)
    return text.replace("\0", "")


def section(text, name):
    found = re.search(rf"^# {re.escape(name)}\n(.*?)(?=^# |\Z)", text, re.M | re.S)
    if not found:
        sys.exit(f"manual.py: no section {name}")
    return found.group(1)


def entries(text):
    """Head -> body of each entry: a line in bold, then indented lines."""
    return {plain(head): plain(re.sub(r"\s+", " ", body.replace("++\n", "\n"))).strip()
            for head, body in re.findall(r"^(\*.*)\n((?:\t.*\n|\n(?=\t))+)", text, re.M)}


def check_commands(program, page, text):
    usage = output(program, "help")
    listed = re.search(r"\n\n((?:  .*\n)+)", usage).group(1)
    heads = [line.strip() for line in listed.splitlines()]
    names = [line.split()[0] for line in listed.splitlines() if re.match(r"  \S", line)]
    written = entries(section(text, "COMMANDS"))
    same("command", page, [head.split()[0] for head in written], names)
    for head in written:
        expect(any(line == head or line.startswith(head + "  ") for line in heads),
               f"{page}: \"{head}\" is not how the usage says it")
    return names


def check_flags(program, page, text, names):
    """Each option: its letter, its argument, and for which commands."""
    taken = {}
    for name in names:
        own = re.search(r"\nOptions:\n((?:  .*\n)+)", output(program, "help", name)).group(1)
        for letter, option, argument in re.findall(r"^  (-\w, )?(--[\w-]+)(?: ([A-Z]+))?  ", own, re.M):
            taken.setdefault(f"{letter}{option}{' ' + argument if argument else ''}", []).append(name)
    options = entries(section(text, "OPTIONS"))
    same("option", page, options, taken)
    for head, body in options.items():
        users = taken.get(head, names)
        words = lambda listed: set(re.findall(r"\w+", listed)) & set(names)
        for_, not_for = re.search(r"(?<!Not )\bFor ([^.]*?)[.:]", body), re.search(r"Not for ([^.]*)\.", body)
        said = words(for_.group(1)) if for_ else set(names) - words(not_for.group(1)) if not_for else set(names)
        expect(said == set(users), f"{page}: {head} is for {', '.join(users)}; the page says {', '.join(sorted(said))}")


def check_exit_codes(program, page, text):
    usage = output(program, "help")
    codes = re.findall(r"(?:Exit codes: |; |;\n)(\d) ", usage[usage.index("Exit codes:"):])
    same("exit code", page, entries(section(text, "EXIT STATUS")), codes)


def check_keys(program, page, text):
    here = None
    keys = {}
    for line in output(program, "help", "keys").splitlines():
        if found := re.match(r"\[(\w+)\]$", line):
            here = found.group(1)
            keys[here] = {}
        elif found := re.match(r"  ([\w-]+) (.*)", line):
            key = found.group(1)
            keys[here][key] = found.group(2)
        elif found := re.match(r"      (.*); default: (.*)", line):
            keys[here][key] = (keys[here][key], found.group(2), "several times" in line)
    same("section", page, re.findall(r"^# \[(\w+)\]", text, re.M), keys)
    for name, rows in keys.items():
        written = {}
        for head, body in entries(section(text, f"[{name}]")).items():
            key, _, syntax = head.partition(" = ")
            written[key] = syntax, body
        same(f"key of [{name}]", page, written, rows)
        for key, (syntax, default, several) in rows.items():
            if key not in written:
                continue
            expect(written[key][0] == syntax, f"{page}: {key} = {written[key][0]}, but the program says {syntax}")
            body = written[key][1]
            expect(f"Default: {default}." in body, f"{page}: {key}: the default is {default}")
            expect(several == ("several times" in body), f"{page}: {key}: may it stand several times?")
            example = re.search(rf"(?:^| ){key} = (.+)$", body)
            expect(example, f"{page}: {key} has no example")
            if example:
                check_example(program, page, name, key, example.group(1))


# What must stand beside a key.
COMPANIONS = {
    "rule": {"table": "300"},
    "ce": {"ipv4": "203.0.113.115", "br": "2001:db8:ffff::1"},
    **dict.fromkeys(("rule-ipv6", "rule-ipv4", "ea-length"),
                    {"rule-ipv6": "2001:db8:1000::/44", "rule-ipv4": "203.0.113.0/24", "ea-length": "12"}),
}


def check_example(program, page, name, key, values):
    """The example is one the program takes."""
    lines = [f"[{name}]"] + [f"{key} = {value}" for value in values.split(f" {key} = ")]
    lines += [f"{other} = {value}" for other, value in COMPANIONS.get(key, {}).items() if other != key]
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        file.write("\n".join(lines) + "\n")
        file.flush()
        done = subprocess.run([program, "check", file.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = done.stdout.decode()
        place = f"{os.path.basename(file.name)}:"
        expect(done.returncode == 0 or place not in text, f"{page}: the example of {key} is refused: {text}")


def check_pages():
    if not shutil.which("scdoc"):
        print("SKIPPED: scdoc is not installed, so the pages were not built")
        return True
    with tempfile.TemporaryDirectory() as directory:
        for page in PAGES:
            built = os.path.join(directory, os.path.basename(page)[: -len(".scd")])
            with open(page, "rb") as source, open(built, "wb") as target:
                done = subprocess.run(["scdoc"], stdin=source, stdout=target, stderr=subprocess.PIPE)
            expect(done.returncode == 0, f"{page}: {done.stderr.decode()}")
            if shutil.which("man"):
                done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", built],
                                      env=dict(os.environ, MANROFFSEQ="", MANWIDTH="80"),
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                expect(not done.stderr, f"{page}: {done.stderr.decode()}")
            if shutil.which("mandoc"):
                lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", built], stdout=subprocess.PIPE).stdout.decode()
                # scdoc itself writes paragraphs that mandoc finds superfluous.
                lint = [line for line in lint.splitlines() if "skipping paragraph macro" not in line]
                expect(not lint, f"{page}: {lint}")
    return False


def main():
    program = os.path.abspath(sys.argv[1])
    os.environ.update(MAPE_GEN_DATA=os.path.abspath("profiles"), MAPE_GEN_CONFIG_DIR="/nonexistent", LC_ALL="C.UTF-8")
    skipped = check_pages()
    manual, keys = (open(page, encoding="utf-8").read() for page in PAGES)
    names = check_commands(program, PAGES[0], manual)
    check_flags(program, PAGES[0], manual, names)
    check_exit_codes(program, PAGES[0], manual)
    check_keys(program, PAGES[1], keys)
    for sentence in problems:
        print(sentence)
    print(f"{len(problems)} problems" if problems else "the man pages say what the program says")
    return 1 if problems else 77 if skipped else 0


sys.exit(main())
