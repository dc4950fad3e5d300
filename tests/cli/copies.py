#!/usr/bin/env python3
"""What `weir copy` promises beyond the library: copies.py WEIR

Exit codes, each failed copy named, nothing overwritten, nothing half left after an interrupt, a kill or a full disk, the
progress line on a terminal. Each test runs in an empty directory.
"""
import json
import os
import pathlib
import pty
import resource
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())


def weir(*arguments, **settings):
    return subprocess.run([WEIR, "copy", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=120, text=True, errors="replace", **settings)


def make(name, size, seed=0):
    data = bytes((i * 7 + seed) % 251 for i in range(min(size, 65536)))
    data = (data * (size // max(len(data), 1) + 1))[:size]
    pathlib.Path(name).write_bytes(data)
    return data


def directories(*names):
    for name in names:
        os.mkdir(name)


def left(folder="."):
    return sorted(os.listdir(folder))


def test_several_files_to_several_directories():
    directories("a", "b", "c")
    first, second = make("x", 3_000_000), make("y", 10, 5)
    done = weir("x", "--to", "a", "y", "--to=b", "-t", "c", "--verify")
    expect((done.returncode, done.stderr), (0, ""))
    assert done.stdout.startswith("6 copies made; 8.58 MiB in "), done.stdout
    assert done.stdout.endswith("; verified\n"), done.stdout
    for folder in "abc":
        expect(left(folder), ["x", "y"])
        expect(pathlib.Path(folder, "x").read_bytes(), first)
        expect(pathlib.Path(folder, "y").read_bytes(), second)


def test_never_overwrites_unless_told():
    directories("a", "b")
    make("x", 1000)
    make("a/x", 2000, 9)
    done = weir("x", "--to", "a", "--to", "b")
    expect(done.returncode, 1)
    expect(done.stderr, "weir: 'x' to 'a': create a/x: exists already\n")
    assert done.stdout.startswith("1 copy made, 1 failed; "), done.stdout
    expect(pathlib.Path("a/x").stat().st_size, 2000)
    expect(pathlib.Path("b/x").stat().st_size, 1000)
    expect(weir("x", "--to", "a", "--replace", "-q").returncode, 0)
    expect(pathlib.Path("a/x").read_bytes(), pathlib.Path("x").read_bytes())
    done = weir("x", "--to", ".", "--replace")
    expect(done.returncode, 1)
    assert "same file" in done.stderr, done.stderr
    expect(pathlib.Path("x").stat().st_size, 1000)


def test_each_failure_is_named():
    directories("a", "dir")
    make("x", 10)
    done = weir("x", "missing", "dir", "--to", "a", "--to", "nowhere", "--to", "x")
    expect(done.returncode, 1)
    lines = done.stderr.splitlines()
    expect(len(lines), 8)
    for text in ("'x' to 'nowhere': open nowhere: no such file", "'x' to 'x': open x: not a directory",
                 "'missing' to 'a': open missing: no such file", "'dir' to 'a': open dir: is a directory"):
        assert any(text in line for line in lines), (text, lines)
    expect(left("a"), ["x"])


def test_json():
    directories("a")
    make("x", 10)
    make("bad\nname", 20)
    done = weir("x", "bad\nname", "missing", "--to", "a", "--format", "json")
    expect(done.returncode, 1)
    document = json.loads(done.stdout)
    expect((document["schema"], document["whole"], document["failed"], document["size_bytes"]), (1, 2, 1, 30))
    expect([c["status"] for c in document["copies"]], ["ok", "ok", "WEIR_ENOENT"])
    expect([c["source"] for c in document["copies"]], ["x", "bad\nname", "missing"])
    expect([c["bytes"] for c in document["copies"]], [10, 20, 0])
    expect(document["copies"][0]["reason"], "")
    assert document["copies"][2]["reason"].startswith("open missing: "), document


def test_control_characters_do_not_reach_the_terminal():
    done = weir("a\x1b[2Jb", "--to", ".")
    expect(done.returncode, 1)
    assert "\x1b" not in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_mode_and_times():
    directories("a", "b")
    make("x", 10)
    os.chmod("x", 0o751)
    os.utime("x", (1e9, 1.1e9))
    expect(weir("x", "--to", "a", "-p").returncode, 0)
    status = os.stat("a/x")
    expect((status.st_mode & 0o7777, status.st_mtime), (0o751, 1.1e9))
    expect(weir("x", "--to", "b", preexec_fn=lambda: os.umask(0o077)).returncode, 0)
    expect(os.stat("b/x").st_mode & 0o7777, 0o700)


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


def test_a_file_that_does_not_fit_leaves_nothing():
    directories("a", "b")
    make("big", 3 << 20)
    small = make("small", 1000)
    done = weir("big", "small", "--to", "a", "--to", "b", preexec_fn=limit_files)
    expect(done.returncode, 1)
    expect(done.stderr.count("file too large"), 2)
    for folder in "ab":
        expect(left(folder), ["small"])
        expect(pathlib.Path(folder, "small").read_bytes(), small)


def long_copy(*more):
    """One that takes for ever: a huge hole, written out in tiny blocks."""
    with open("huge", "wb") as file:
        file.truncate(1 << 40)
    process = subprocess.Popen([WEIR, "copy", "huge", "--to", "a", "--dense", "--block=64", *more],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for _ in range(1000):
        if left("a"):
            return process
        time.sleep(0.01)
    process.kill()
    raise AssertionError("nothing was begun")


def test_interrupt_leaves_nothing():
    directories("a")
    process = long_copy()
    expect(left("a"), [".huge.weir-000000"])  # never half under its name
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    expect(process.returncode, 130)
    assert "cancelled" in errors, errors
    expect(left("a"), [])


def test_what_a_kill_leaves_the_next_copy_removes():
    directories("a")
    process = long_copy()
    process.kill()
    process.communicate()
    expect(left("a"), [".huge.weir-000000"])
    data = make("huge", 1000)
    expect(weir("huge", "--to", "a").returncode, 0)
    expect(left("a"), ["huge"])
    expect(pathlib.Path("a/huge").read_bytes(), data)


def test_progress_on_a_terminal():
    directories("a")
    with open("huge", "wb") as file:
        file.truncate(1 << 40)
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm"
        os.execv(WEIR, [WEIR, "copy", "huge", "--to", "a", "--dense", "--block=4KiB"])
    seen = b""
    try:
        while b"copies, 0%, " not in seen:
            seen += os.read(terminal, 4096)
    finally:
        os.kill(child, signal.SIGINT)
    try:
        while True:
            more = os.read(terminal, 4096)
            if not more:
                break
            seen += more
    except OSError:
        pass  # the other side is closed
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    expect(os.waitstatus_to_exitcode(status), 130)
    assert b"\r[0/1 copies, 0%, " in seen, seen
    expect(left("a"), [])


def test_two_of_one_name_are_refused_before_anything_is_copied():
    make("one", 10)
    directories("d", "inner")
    make("inner/one", 20)
    for sources in (["one", "one"], ["one", "inner/one"]):
        result = weir(*sources, "--to", "d")
        assert result.returncode == 2 and "same name" in result.stderr, result
        assert left("d") == [], left("d")


def test_usage():
    for arguments, text in (((), "no file to copy"), (("x",), "say --to DIR"), (("x", "--to", ""), "is empty"),
                            (("x", "--to", "a", "--threads", "0"), "out of range"),
                            (("x", "--to", "a", "--block", "0"), "out of range"),
                            (("x", "--to", "a", "--block", "1,2"), "one size"),
                            (("x", "--to", "a", "--replase"), "did you mean '--replace'")):
        done = weir(*arguments)
        expect(done.returncode, 2)
        assert text in done.stderr, done.stderr


sys.exit(run_all(globals()))
