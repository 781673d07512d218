#!/usr/bin/env python3
"""Runs the cases of *.spec files: a command line in, exact output and exit code out.

usage: run_spec.py [--update] PROGRAM DATA_DIR FILE...

A case is a run of directives; an empty line before the next NAME is for the reader. Lines of a block start with "| " (or
are "|" alone). '#' starts a comment line.

  NAME: what is shown               starts a case
  FILE path / block                 a file in the case's own directory, which is also the working directory
  BYTES path / block                the same, with Python's escapes and no newline at the end (\\x00, \\r\\n, ...)
  ENV: KEY=VALUE
  STDIN / block
  RUN: mape-gen ...                 split like a shell does; nothing is expanded
  SHELL: ...                        run by sh; "$MAPE_GEN" is the program
  EXIT: n
  STDOUT / block                    exact; without one stdout must be empty, unless a directive below looks at it
  STDERR / block                    exact; without one stderr must be empty, unless STDERR-HAS looks at it
  STDOUT-HAS: text, STDERR-HAS: text, STDOUT-LACKS: text
  JSON: schema                      stdout is one document, valid by DATA_DIR/schema/SCHEMA.schema.json
  NDJSON: schema                    each line of stdout is
  VALUE: path = value               a field of the (last) document: "rule.ea_length = 22"; the value is JSON
The configuration directory is "etc" in the working directory. {data} in RUN, SHELL, STDOUT and STDERR is DATA_DIR.
--update writes the exit code and the exact blocks as they are now into the file: read the diff before you keep it.
"""
import json
import os
import shlex
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    sys.exit("run_spec.py: python3-jsonschema is missing: apt-get install python3-jsonschema")

BLOCKS = ("FILE", "BYTES", "STDIN", "STDOUT", "STDERR")
LINES = ("NAME", "ENV", "RUN", "SHELL", "EXIT", "STDOUT-HAS", "STDERR-HAS", "STDOUT-LACKS", "JSON", "NDJSON", "VALUE")


class Case:
    def __init__(self, name, line):
        self.name, self.line = name, line
        self.directives = []  # (word, argument, block lines), in the order of the file

    def all(self, word):
        return [(argument, block) for w, argument, block in self.directives if w == word]

    def one(self, word):
        found = self.all(word)
        return found[0] if found else None


def parse(path):
    cases, head = [], []
    for number, text in enumerate(open(path, encoding="utf-8").read().splitlines(), 1):
        if not text.strip() or text.startswith("#"):
            if not cases:
                head.append(text)
            elif text.startswith("#"):
                sys.exit(f"{path}:{number}: a comment stands before the first case")
            continue
        if text.startswith("|"):
            cases[-1].directives[-1][2].append(text[2:])
            continue
        word, _, argument = text.partition(" ")
        if word.endswith(":"):
            word = word[:-1]
        if word not in BLOCKS + LINES:
            sys.exit(f"{path}:{number}: {word} is not a directive")
        if word == "NAME":
            cases.append(Case(argument, number))
            continue
        cases[-1].directives.append((word, argument, []))
    return head, cases


def execute(case, program, data):
    with tempfile.TemporaryDirectory(prefix="mape-spec-") as directory:
        for argument, block in case.all("FILE"):
            write(directory, argument, "".join(line + "\n" for line in block).encode())
        for argument, block in case.all("BYTES"):
            write(directory, argument, "".join(block).encode().decode("unicode_escape").encode("latin-1"))
        env = {"PATH": os.environ["PATH"], "MAPE_GEN_CONFIG_DIR": "etc", "MAPE_GEN_DATA": data, "MAPE_GEN": program,
               "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", ""), "LC_ALL": "C.UTF-8"}
        for argument, _ in case.all("ENV"):
            key, _, value = argument.partition("=")
            env[key] = value.replace("{data}", data)
        stdin = case.one("STDIN")
        given = "".join(line + "\n" for line in stdin[1]) if stdin else ""
        if case.one("SHELL"):
            command = ["sh", "-c", case.one("SHELL")[0].replace("{data}", data)]
        else:
            command = shlex.split(case.one("RUN")[0].replace("{data}", data))
            assert command[0] == "mape-gen", f"{case.name}: RUN starts with mape-gen"
            command[0] = program
        done = subprocess.run(command, cwd=directory, env=env, input=given.encode(), capture_output=True, timeout=60)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def write(directory, path, content):
    path = os.path.join(directory, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def field(document, path):
    for name in path.split("."):
        document = document[int(name)] if isinstance(document, list) else document[name]
    return document


def validator(data, name):
    with open(os.path.join(data, "schema", name + ".schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def problems(case, data, code, out, err):
    wanted = int(case.one("EXIT")[0]) if case.one("EXIT") else 0
    if code != wanted:
        yield f"exit code {code}, not {wanted}"
    looked_at = any(case.one(word) for word in ("STDOUT-HAS", "JSON", "NDJSON"))
    for word, text, free in (("STDOUT", out, looked_at), ("STDERR", err, bool(case.one("STDERR-HAS")))):
        exact = case.one(word)
        expected = "".join(line + "\n" for line in exact[1]).replace("{data}", data) if exact else ""
        if text != expected and (exact or not free):
            yield f"{word.lower()} is\n{indent(text)}not\n{indent(expected)}"
        for argument, _ in case.all(word + "-HAS"):
            if argument not in text:
                yield f"{word.lower()} lacks \"{argument}\":\n{indent(text)}"
    for argument, _ in case.all("STDOUT-LACKS"):
        if argument in out:
            yield f"stdout has \"{argument}\""
    documents = []
    try:
        if case.one("JSON"):
            documents = [json.loads(out)]
        elif case.one("NDJSON"):
            documents = [json.loads(line) for line in out.splitlines()]
    except ValueError as error:
        yield f"no JSON: {error}:\n{indent(out)}"
    schema = case.one("JSON") or case.one("NDJSON")
    for document in documents:
        for error in validator(data, schema[0]).iter_errors(document):
            yield f"schema: {'.'.join(map(str, error.absolute_path))}: {error.message}"
    for argument, _ in case.all("VALUE"):
        path, _, value = argument.partition(" = ")
        if not documents or field(documents[-1], path) != json.loads(value):
            yield f"{path} is {json.dumps(field(documents[-1], path)) if documents else 'nowhere'}, not {value}"


def indent(text):
    return "".join(f"    {line}\n" for line in text.splitlines()) or "    (nothing)\n"


def updated(case, data, code, out, err):
    kept = [d for d in case.directives if d[0] not in ("EXIT", "STDOUT", "STDERR")]
    position = 1 + max(i for i, d in enumerate(kept) if d[0] in ("RUN", "SHELL"))
    results = [("EXIT", str(code), [])]
    for word, text, free in (("STDOUT", out, any(case.one(w) for w in ("STDOUT-HAS", "JSON", "NDJSON"))),
                             ("STDERR", err, bool(case.one("STDERR-HAS")))):
        if text and not free:
            results.append((word, "", text.replace(data, "{data}").splitlines()))
    lines = [f"NAME: {case.name}"]
    for word, argument, block in kept[:position] + results + kept[position:]:
        lines.append(f"{word} {argument}".rstrip() if word in BLOCKS else f"{word}: {argument}")
        lines += [("| " + line).rstrip() for line in block]
    return "\n".join(lines) + "\n"


def main():
    arguments = sys.argv[1:]
    update = arguments[:1] == ["--update"]
    program, data, *files = arguments[1:] if update else arguments
    program, data = os.path.abspath(program), os.path.abspath(data)
    failed = total = 0
    for path in files:
        head, cases = parse(path)
        texts = []
        for case in cases:
            total += 1
            code, out, err = execute(case, program, data)
            if update:
                texts.append(updated(case, data, code, out, err))
                continue
            found = list(problems(case, data, code, out, err))
            if found:
                failed += 1
                print(f"{path}:{case.line}: {case.name}")
                for problem in found:
                    print(f"  {problem}")
        if update:
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(head).rstrip() + "\n\n" + "\n".join(texts))
    print(f"{total - failed} of {total} cases passed")
    return 1 if failed else 0


sys.exit(main())
