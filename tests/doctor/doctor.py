#!/usr/bin/env python3
"""weir doctor: doctor.py WEIR

Every finding is ok, warn or skip, and has a remedy unless it is ok; for root and for others, on a disk and in memory, with
io_uring forbidden, low limits, an empty PATH and a file system that hangs. Nothing is left in the directory.
"""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import Skip, become_nobody, expect, forbid_rings, need_another_user, need_forbidden_rings, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
NAMES = {"clock", "governor", "frequency", "steal", "virtualization", "huge pages", "memory reclaim", "memory limit",
         "locked memory", "open files", "file size", "address space", "io_uring", "strace", "fio", "file system", "free space",
         "disk", "scheduler", "read-ahead", "cold cache", "cache state", "O_DIRECT", "turbo", "heat", "shared cores", "isolation",
         "memory nodes", "other load", "container", "swap", "write-back", "address layout", "timer", "memory groups", "mount options",
         "other I/O", "discard", "sectors", "perf events", "write cache"}


def doctor(*arguments, **settings):
    return subprocess.run([WEIR, "doctor", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, **settings)


def findings(directory, **settings):
    """name -> finding; checks what holds for all of them."""
    before = sorted(os.listdir(directory))
    done = doctor("--format", "json", directory, **settings)
    if done.returncode:
        raise AssertionError(f"exit {done.returncode}: {done.stderr}")
    document = json.loads(done.stdout)
    expect(document["directory"], directory)
    found = {line["name"]: line for line in document["findings"]}
    expect(set(found), NAMES)
    expect(len(document["findings"]), len(NAMES))
    for line in found.values():
        assert line["state"] in ("ok", "warn", "skip"), line
        assert line["finding"], line
        assert bool(line["remedy"]) == (line["state"] != "ok"), line
    expect(sorted(os.listdir(directory)), before)
    return found


def test_here():
    found = findings(".")
    expect(found["file size"]["state"], "ok")
    text = doctor(".")
    expect(text.returncode, 0)
    lines = text.stdout.splitlines()
    expect(len(lines), len(NAMES))
    for line in lines:
        state = line[:4].strip()
        assert state in ("ok", "warn", "skip"), line
        assert (" → " in line) == (state != "ok"), line
        assert any(line[6:].startswith(name + " ") for name in NAMES), line
    expect(doctor().stdout.count("\n"), len(NAMES))
    expect(os.listdir("."), [])


def test_in_memory():
    if not os.access("/dev/shm", os.W_OK):
        raise Skip("/dev/shm cannot be written")
    with tempfile.TemporaryDirectory(dir="/dev/shm", prefix="weir-doctor-") as folder:
        found = findings(folder)
    expect(found["file system"]["state"], "warn")
    assert "memory" in found["file system"]["finding"], found["file system"]
    assert found["cold cache"]["state"] != "ok", found["cold cache"]
    assert found["O_DIRECT"]["state"] != "ok", found["O_DIRECT"]
    for name in ("disk", "write cache", "discard", "sectors", "other I/O"):
        expect((name, found[name]["state"]), (name, "skip"))


def test_as_another_user():
    need_another_user(WEIR)
    findings(".", preexec_fn=become_nobody)
    os.mkdir("closed", 0o755)
    done = doctor("closed", preexec_fn=become_nobody)
    expect(done.returncode, 2)
    expect(done.stderr, "weir: 'closed': Permission denied\n")


def test_rings_forbidden():
    need_forbidden_rings()
    found = findings(".", preexec_fn=forbid_rings)
    expect(found["io_uring"]["state"], "skip")


def test_low_limits():
    def lower():
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, 1 << 19))
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    if b"AddressSanitizer" in pathlib.Path(WEIR).read_bytes():
        raise Skip("a sanitizer needs more address space")
    found = findings(".", preexec_fn=lower)
    for name in ("locked memory", "open files", "file size", "address space", "cold cache"):
        expect((name, found[name]["state"]), (name, "warn"))


def test_nothing_on_the_path():
    for path in ("", "/nothing-here", ":::"):
        found = findings(".", env={"PATH": path})
        expect((found["strace"]["state"], found["fio"]["state"]), ("skip", "skip"))


def test_what_is_no_usable_directory():
    pathlib.Path("file").write_text("x")
    for name, words in (("file", "Not a directory"), ("none", "No such file or directory"), ("", "No such file or directory")):
        done = doctor(name)
        expect((done.returncode, done.stdout, done.stderr), (2, "", f"weir: '{name}': {words}\n"))
    expect(doctor("/proc").returncode, 2)
    expect(doctor(".", ".").returncode, 2)
    expect(doctor("--format", "xml").returncode, 2)
    expect(os.listdir("."), ["file"])


def test_odd_name():
    os.mkdir(b"a\xff\n\x1b[2J\xe2\x98\x85")
    done = subprocess.run([WEIR.encode(), b"doctor", b"--format=json", os.listdir(b".")[0]], stdout=subprocess.PIPE)
    expect(done.returncode, 0)
    json.loads(done.stdout)


def test_file_system_that_hangs():
    if os.geteuid() or not shutil.which("bindfs") or not os.path.exists("/dev/fuse"):
        raise Skip("needs root, bindfs and /dev/fuse")
    os.mkdir("below")
    os.mkdir("point")
    server = subprocess.Popen(["bindfs", "-f", "below", "point"], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            if os.path.ismount("point") or server.poll() is not None:
                break
            time.sleep(0.05)
        if not os.path.ismount("point"):
            raise Skip("bindfs cannot mount here")
        expect(findings("point")["file system"]["state"], "warn")
        server.send_signal(signal.SIGSTOP)
        done = doctor("point")
        expect(done.returncode, 0)
        assert done.stdout.count("no answer") >= 3, done.stdout
    finally:
        server.send_signal(signal.SIGCONT)
        subprocess.run(["umount", "-l", "point"], stderr=subprocess.DEVNULL)
        server.terminate()
        server.wait(timeout=10)


sys.exit(run_all(globals()))
