#!/usr/bin/env python3
"""weir selftest: selftest.py WEIR HEADER

Every call that the header HEADER declares has a check, every method a line; for root and for others, on a disk and in memory,
with io_uring forbidden, with flushes that fail; what is wrong is exit 1. Nothing is left in the directory, whatever ends it.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import Skip, become_nobody, expect, forbid_rings, need_another_user, need_forbidden_rings, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
HEADER = pathlib.Path(sys.argv[2]).read_text()
ANSWERS = ("yes", "no", "unseen", None)


def selftest(*arguments, before=(), **settings):
    return subprocess.run([*before, WEIR, "selftest", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120, stdin=subprocess.DEVNULL, **settings)


def report(directory, code=0, **settings):
    """The JSON document; checks what holds for all of them."""
    before = sorted(os.listdir(directory))
    done = selftest("--format", "json", directory, **settings)
    if done.returncode != code:
        raise AssertionError(f"exit {done.returncode}: {done.stderr}{wrong_lines(done.stdout)}")
    document = json.loads(done.stdout)
    expect(document["directory"], directory)
    for line in document["calls"] + document["methods"]:
        for column in ("here", "correct", "direct", "durable"):
            assert line[column] in ANSWERS, line
        assert not line["tried"] or line["here"] in ("yes", "no"), line
        assert line["here"] != "no" or line["note"], line
    expect(sorted(os.listdir(directory)), before)
    return document


def wrong_lines(text):
    try:
        document = json.loads(text)
    except ValueError:
        return text
    return [line for line in document["calls"] + document["methods"] if "no" in (line["correct"], line["durable"])]


def declared():
    """Names of the functions of the header, inline ones too."""
    text = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.S)
    text = re.sub(r"^\s*#.*?(?<!\\)$", "", text, flags=re.M | re.S)
    text = re.sub(r"\{[^{}]*\}", ";", re.sub(r"\{[^{}]*\}", ";", text))
    return set(re.findall(r"^(?:static inline )?[a-z][\w \*]*?\b\*?(weir_(?!abi_)\w+)\(", text, flags=re.M))


def test_every_call_has_a_check():
    checked = {name for line in report(".")["calls"] for name in line["calls"]}
    names = {name for name in declared() if not name.endswith(("_callback", "_worker"))}
    assert len(names) > 90, sorted(names)
    expect(sorted(names - checked), [])
    expect(sorted(checked - names), [])


def test_every_method_has_a_line():
    document = report(".")
    listed = {line.split()[0] for line in subprocess.run([WEIR, "list", "methods"], stdout=subprocess.PIPE, text=True,
                                                         check=True).stdout.splitlines() if re.match(r"  \w+/", line)}
    expect(sorted({line["name"] for line in document["methods"]}), sorted(listed))
    assert all(line["tried"] for line in document["calls"]), document
    assert [line for line in document["methods"] if line["name"] == "fd/pread"][0]["correct"] == "yes"


def test_table():
    done = selftest(".")
    expect(done.returncode, 0)
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["library", "here", "correct", "direct", "durable"], lines[0]
    assert re.search(r"\d+ of \d+ are here and right.*, 0 wrong; ", lines[-1]), lines[-1]
    assert not any("WRONG" in line for line in lines), done.stdout
    expect(os.listdir("."), [])


def test_in_memory():
    if not os.access("/dev/shm", os.W_OK):
        raise Skip("/dev/shm cannot be written")
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="weir-selftest-") as folder:
        document = report(folder)
    expect(document["wrong"], 0)


def test_as_another_user():
    need_another_user(WEIR)
    report(".", preexec_fn=become_nobody)
    os.mkdir("closed", 0o755)
    done = selftest("closed", preexec_fn=become_nobody)
    expect((done.returncode, done.stderr), (2, "weir: 'closed': Permission denied\n"))


def test_rings_forbidden():
    need_forbidden_rings()
    document = report(".", preexec_fn=forbid_rings)
    here = {line["name"]: line["here"] for line in document["calls"] + document["methods"]}
    expect((here["queue by io_uring"], here["ring/plain"], here["queue of requests"]), ("no", "no", "yes"))


def test_what_is_wrong_is_told():
    if not shutil.which("strace"):
        raise Skip("no strace to make flushes fail with")
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e",
              "inject=fsync,fdatasync:error=EIO:when=3+"]
    if subprocess.run([*strace, "true"], stderr=subprocess.DEVNULL).returncode:
        raise Skip("strace cannot trace here")
    settings = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")
    done = selftest("--format", "json", ".", before=strace, env=settings)
    expect(done.returncode, 1)
    document = json.loads(done.stdout)
    assert document["wrong"] > 0 and len(wrong_lines(done.stdout)) == document["wrong"], done.stdout
    expect(os.listdir("."), [])


def wait_until_empty():
    for _ in range(100):
        if not os.listdir("."):
            return
        time.sleep(0.1)
    raise AssertionError(f"left: {os.listdir('.')}")


def start():
    """A session among its checks."""
    process = subprocess.Popen([WEIR, "selftest"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.stdout.readline()
    return process


def test_interrupt():
    process = start()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    expect(process.returncode, 130)
    expect(os.listdir("."), [])


def test_kill_leaves_nothing():
    process = start()
    process.kill()
    process.communicate(timeout=60)
    wait_until_empty()


def test_what_is_no_usable_directory():
    pathlib.Path("file").write_text("x")
    for name, words in (("file", "Not a directory"), ("none", "No such file or directory"), ("", "No such file or directory")):
        done = selftest(name)
        expect((done.returncode, done.stdout, done.stderr), (2, "", f"weir: '{name}': {words}\n"))
    expect(selftest("/proc").returncode, 2)
    expect(selftest(".", ".").returncode, 2)
    expect(selftest("--format", "xml").returncode, 2)
    expect(os.listdir("."), ["file"])


def test_closed_output():
    with open("/dev/full", "w") as full:
        done = subprocess.run([WEIR, "selftest"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    expect((done.returncode, done.stderr), (2, "weir: standard output: No space left on device\n"))
    expect(os.listdir("."), [])


sys.exit(run_all(globals()))
