#!/usr/bin/env python3
"""Runs every command of docs/guide.md, in its order and in one directory, with small files and few rounds: guide.py WEIR GUIDE

Each has to end as it should, and the lines of output that the page shows for it must have their like in what it prints: the
words of a line, numbers aside. So a method, column or option that is called otherwise now is found here.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
GUIDE = pathlib.Path(sys.argv[2]).resolve()


def commands(text):
    """(command, shown lines) of each '$ weir ...' in a block."""
    for block in re.findall(r"^```\n(\$ .*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *shown = part.rstrip("\n").split("\n")
            yield line, shown


def small(words):
    """The same command, soon done."""
    out = [re.sub(r"^\d+[KMG]i?B$", "1MiB", word) if before == "--size" else word for before, word in zip([""] + words, words)]
    return [("3" if before == "--rounds" else word) for before, word in zip([""] + out, out)]


def settled(line):
    """What of a line does not change from run to run: names of methods, columns and commands."""
    return {word for word in re.findall(r"[a-z]+(?:/[a-z-]+)(?:\[[\w=,]+\])?|\b(?:method|GiB/s|MiB/s|cpu/GiB|verdict|regressions|flushes)\b", line)
            if word not in ("GiB/s", "MiB/s")}


def run(line, shown):
    done = subprocess.run([WEIR, *small(shlex.split(line))[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, timeout=240, check=False, env=dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="140"))
    compares = line.startswith("weir compare")
    if done.returncode not in ((0, 1) if compares else (0,)):
        return f"exit code {done.returncode}\n{done.stderr}"
    printed = settled(done.stdout)
    return "".join(f"'{word}' is not in its output\n" for text in shown for word in sorted(settled(text) - printed)
                   if not word.startswith(("use/", "none/")))


def main():
    if not os.access("/dev/shm", os.W_OK):
        print("SKIPPED: /dev/shm, the page's second disk, cannot be written")
        return 77
    found = list(commands(GUIDE.read_text(encoding="utf-8")))
    failed = 0
    with tempfile.TemporaryDirectory(prefix="weir-test-") as folder:
        os.chdir(folder)
        for line, shown in found:
            problem = run(line, shown)
            print("FAIL" if problem else "ok  ", line, problem, sep="\n     " if problem else " ")
            failed += bool(problem)
        kept = sorted(os.listdir("."))
        os.chdir("/")
    expected = ["after.jsonl", "before.jsonl", "big.log", "ring.csv", "ring.jsonl", "ring.md"]
    if kept != expected:
        print(f"FAIL kept: {kept}")
        failed += 1
    return 1 if failed or len(found) < 12 else 0


sys.exit(main())
