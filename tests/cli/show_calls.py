#!/usr/bin/env python3
"""The calls of one pass: show_calls.py WEIR

What is said where strace is missing is tested everywhere.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import Skip, expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())


def weir(*arguments, **environment):
    # the leak checker of a sanitized build cannot work while it is followed itself
    return subprocess.run([WEIR, "list", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0", **environment})


def can_follow():
    if not shutil.which("strace"):
        return "strace is not installed"
    done = subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], stderr=subprocess.PIPE, text=True, check=False)
    return f"strace may not follow: {done.stderr.strip()}" if done.returncode else None


def counts(spec):
    done = weir("--show-calls", spec)
    expect((done.returncode, done.stderr), (0, ""))
    return {name: int(count) for count, name in re.findall(r"^ +(\d+)  ([a-z0-9_]+)$", done.stdout, re.MULTILINE)}, done.stdout


def test_missing_strace_is_said():
    done = weir("--show-calls", "fd/pread", PATH="/nowhere")
    expect((done.returncode, done.stdout), (2, ""))
    expect(done.stderr, "weir: --show-calls needs the program strace, which is not installed; install the package strace\n")


def test_strace_that_may_not_is_said():
    os.mkdir("bin")
    fake = pathlib.Path("bin/strace")
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    done = weir("--show-calls", "fd/pread", PATH=f"{os.getcwd()}/bin:{os.environ['PATH']}")
    shutil.rmtree("bin")
    expect((done.returncode, done.stdout), (2, ""))
    assert "could not be followed" in done.stderr and "ptrace" in done.stderr, done.stderr


def test_wrong_specs_are_refused():
    for spec, reason in (("fd/prad", "unknown method 'fd/prad' (did you mean 'fd/pread'?)"), ("fd/pread[blok=1]", "no parameter 'blok'")):
        done = weir("--show-calls", spec)
        expect(done.returncode, 2)
        assert done.stderr.startswith("weir: --show-calls: ") and reason in done.stderr, done.stderr
    expect(weir("methods", "--show-calls", "fd/pread").returncode, 2)


def test_calls_of_a_pass_and_no_others():
    missing = can_follow()
    if missing:
        raise Skip(missing)
    found, text = counts("fd/pread[block=128KiB]")
    expect(found, {"openat": 1, "pread64": 8, "close": 1})
    assert text.startswith("fd/pread[block=128KiB], one pass: read blocks, sequential, 1 MiB, warm\n"), text
    assert re.search(r"^  pread64\(\d+, .*131072, 917504\) += 131072$", text, re.MULTILINE), text
    found, text = counts("fd/pread[block=4KiB]")
    expect(found["pread64"], 256)
    assert "They begin with:" in text and text.count("  pread64(") < 20, text
    expect(counts("fd/pwrite[block=1MiB]")[0], {"openat": 1, "pwrite64": 1, "fdatasync": 1, "close": 1})
    found, text = counts("null")
    expect(found, {"none": 0} if found else {})
    assert "none: nothing of this pass" in text, text


def test_streams_are_followed_too():
    missing = can_follow()
    if missing:
        raise Skip(missing)
    for spec in ("overlap/none[block=256KiB]", "overlap/thread[block=256KiB,sync=event]"):
        found, text = counts(spec)
        expect(found["pread64"], 4)
        assert ", one pass: read " in text.split("\n")[0] and " 1 MiB" in text, text
        expect("write" in found, "event" in spec)  # each request and each answer
    found, text = counts("text/write[block=256KiB]")
    expect(found["write"], 4)


sys.exit(run_all(globals(), leaves_nothing=True))
