#!/usr/bin/env python3
"""Compares what the libraries show with what weir.h declares, exactly: symbols.py MANUAL HEADER MAP SHARED STATIC.

MANUAL is scripts/manual.py, which knows the header. The shared library must show each function once, with a version, and
the static one each function and nothing else: all else is hidden, so that no name of a program can clash with it.
"""
import re
import subprocess
import sys


def lines_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def defined(path, dynamic):
    """(name, version) of every symbol that others can see. Nodes of the version script are symbols too, absolute ones."""
    for line in lines_of("nm", "--extern-only", "--defined-only", "--with-symbol-versions", *(["-D"] if dynamic else []), path):
        fields = line.split()
        if len(fields) == 3 and fields[1] != "A":
            name, _, version = fields[2].partition("@")
            yield name, version.lstrip("@")


def complain(what, found, wanted):
    missing, extra = sorted(wanted - found), sorted(found - wanted)
    if missing or extra:
        print(f"{what}: missing {missing}, not in weir.h {extra}")
    return bool(missing or extra)


def main(manual, header, version_map, shared, static):
    wanted = lines_of(sys.executable, manual, "functions", header)
    with open(version_map, encoding="utf-8") as file:
        mapped = re.findall(r"^\s+(weir_\w+);", file.read(), flags=re.MULTILINE)
    in_shared, in_static = list(defined(shared, True)), list(defined(static, False))
    bad = complain("the header names twice", set(name for name in wanted if wanted.count(name) > 1), set())
    bad |= len(wanted) < 90
    bad |= complain("version script", set(mapped), set(wanted))
    bad |= complain("shared library", {name for name, _ in in_shared}, set(wanted))
    bad |= complain("static library", {name for name, _ in in_static}, set(wanted))
    bad |= complain("versions", {version for _, version in in_shared}, {"WEIR_0.1"})
    bad |= len(in_static) != len(set(in_static))
    print(f"{len(wanted)} functions in weir.h, {len(in_shared)} in the shared library, {len(in_static)} in the static one")
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
