#!/usr/bin/env python3
"""`cmake --install` puts each file where the Filesystem Hierarchy Standard wants it, and no other files anywhere.

usage: install.py CMAKE BUILD-DIRECTORY
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile


def main():
    cmake, build = sys.argv[1:]
    expected = {"usr/bin/mape-gen": 0o755}
    for pattern, target in (("profiles/isp/*", "usr/share/mape-gen/isp"), ("profiles/schema/*", "usr/share/mape-gen/schema"),
                            ("examples/*.conf", "usr/share/doc/mape-gen/examples"),
                            ("README.md", "usr/share/doc/mape-gen"), ("LICENSE", "usr/share/doc/mape-gen")):
        files = glob.glob(pattern)
        assert files, pattern
        expected.update({f"{target}/{os.path.basename(file)}": 0o644 for file in files})
    if shutil.which("scdoc"):
        expected["usr/share/man/man8/mape-gen.8"] = expected["usr/share/man/man5/mape-gen.conf.5"] = 0o644
    with tempfile.TemporaryDirectory() as root:
        subprocess.run([cmake, "--install", build, "--prefix", "/usr"], check=True, env=dict(os.environ, DESTDIR=root),
                       stdout=subprocess.DEVNULL)
        found = {}
        for directory, _, files in os.walk(root):
            for file in files:
                path = os.path.join(directory, file)
                found[os.path.relpath(path, root)] = os.stat(path).st_mode & 0o777
    for path in sorted(expected.keys() | found.keys()):
        if path not in found:
            print(f"{path} is missing")
        elif path not in expected:
            print(f"{path} is not expected")
        elif found[path] != expected[path]:
            print(f"{path} has mode {found[path]:o}, not {expected[path]:o}")
    print(f"{len(found)} files installed")
    return 0 if found == expected else 1


sys.exit(main())
