#!/usr/bin/env python3
"""Odd inputs are named, measured right or refused, and never hang: odd-inputs.py WEIR

Block sizes that are no powers of two, larger than the file or than memory; files from nothing to more than 16 TiB; and all that
is no plain file. Each test runs in an empty directory, in which nothing may be left. A hang is a failure after a minute.
"""
import json
import os
import pathlib
import socket
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import Skip, expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
TIB = 1 << 40


def weir(*arguments):
    return subprocess.run([WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          timeout=60, errors="replace")


def refused(words, *arguments):
    done = weir("bench", *arguments)
    expect((done.returncode, done.stdout), (2, ""))
    assert words in done.stderr, f"no '{words}' in: {done.stderr}"


def measured(*arguments):
    """The report of a run without a failed cell. Every byte is compared in its pilot."""
    done = weir("bench", "-q", "--rounds", "1", "--format", "json", *arguments)
    if done.returncode:
        raise AssertionError(f"{arguments}: exit {done.returncode}: {done.stderr}")
    report = json.loads(done.stdout)
    for group in report["groups"]:
        for cell in group["cells"]:
            assert cell["status"] != "failed", f"{arguments}: {cell['id']}: {cell['reason']}"
    return report


def cells_of(report):
    return [cell for group in report["groups"] for cell in group["cells"]]


def all_measured(*arguments):
    cells = cells_of(measured(*arguments))
    assert cells and all(cell["status"] == "ok" for cell in cells), [(cell["id"], cell["reason"]) for cell in cells]


def test_blocks_that_are_no_powers_of_two():
    pathlib.Path("file").write_bytes(os.urandom(300_001))
    all_measured("-m", "fd/pread[block=1|3|4097|7777|100003]", "-m", "stdio/fread[block=4097]", "-m", "map/view[block=4097]",
                 "file")
    for request in ("5000", "4095", "65537"):
        measured("--access", "random", "--request", request, "file")
        measured("--direction", "write", "--access", "sequential,random", "--request", request, "--size", "300001")
    os.remove("file")


def test_blocks_larger_than_the_file():
    pathlib.Path("file").write_bytes(b"x" * 5)
    all_measured("-m", "fd/pread[block=4KiB|1MiB|64MiB]", "-m", "map/view[block=1MiB]", "-m", "stdio/fread[block=1MiB]", "file")
    measured("--request", "1MiB", "--access", "sequential,random", "file")
    refused("a request of 1MiB is larger than the file of 4KiB", "--request", "1MiB", "--size", "4KiB")
    os.remove("file")


def test_blocks_larger_than_memory():
    pathlib.Path("file").write_bytes(b"x" * 5)
    refused("8GiB is out of range", "-m", "fd/pread[block=8GiB]", "file")
    refused("no method makes requests of 8GiB", "--request", "8GiB", "file")
    refused("no method makes requests of 8GiB", "--request", "8GiB", "--size", "16GiB")
    cells = cells_of(measured("-m", "ring/plain[block=1GiB,depth=1024]", "-m", "fd/pread", "file"))
    ring = next(cell for cell in cells if cell["method"] == "ring/plain")
    expect(ring["status"], "unavailable")
    if "io_uring" not in ring["reason"]:
        assert "its buffers need" in ring["reason"], ring
    os.remove("file")


def test_sizes_from_one_byte():
    for size in (1, 2, 4095, 4096, 4097):
        pathlib.Path("file").write_bytes(os.urandom(size))
        some = [] if size in (1, 4097) else ["-m", "fd/pread", "-m", "map/view", "-m", "stdio/fread"]
        measured("--task", "blocks,whole", "--access", "sequential", *some, "file")
        os.remove("file")
    pathlib.Path("file").write_bytes(b"")
    refused("is empty", "file")
    os.remove("file")


def sparse(path, size):
    try:
        with open(path, "wb") as file:
            file.truncate(size)
    except OSError:
        return False
    return True


def huge_file():
    """A file of 20 TiB without data; where this file system makes none so large, in memory, else as large as it goes."""
    for path, size in (("file", 20 * TIB), ("/dev/shm/weir-odd-inputs", 20 * TIB), ("file", 15 * TIB)):
        if os.path.isdir(os.path.dirname(path) or ".") and sparse(path, size):
            return path, size
        if os.path.exists(path):
            os.remove(path)
    raise Skip("no large sparse file can be made here")


def test_file_larger_than_16_tib():
    path, size = huge_file()
    try:
        report = measured("-m", "fd/pread", "--size", "16MiB", path)
        expect(report["environment"]["file.size_bytes"], size)
        warnings = {warning["id"]: warning["text"] for warning in report["warnings"]}
        assert "first 16 MiB" in warnings["W18"], warnings
        assert "never written" in warnings["W14"], warnings
        for cell in cells_of(report):
            assert "holes" in cell["label"].split("+"), cell
        plan = weir("plan", "-m", "fd/pread", path)
        expect(plan.returncode, 0)
        assert "1 GiB" in plan.stdout, plan.stdout
    finally:
        os.remove(path)


def test_scratch_larger_than_the_disk():
    refused("scratch files need", "--size", "20TiB")
    refused("scratch files need", "--size", "4096TiB")
    refused("--size", "--size", "16EiB")


def test_what_is_no_plain_file():
    os.mkfifo("fifo")
    server = socket.socket(socket.AF_UNIX)
    server.bind("socket")
    os.symlink("loop", "loop")
    for path, words in (("fifo", "is a FIFO"), ("socket", "is a socket"), (".", "is a directory"), ("loop", "symbolic links"),
                        ("/dev/zero", "is a character device"), ("/dev/null", "is a character device"),
                        ("/dev/urandom", "is a character device"), ("/proc/self/status", "copy it to a file"),
                        ("/proc/self/mem", "/proc/self/mem"), ("", "No such file")):
        refused(words, path)
    server.close()
    for name in ("fifo", "socket", "loop"):
        os.remove(name)


def test_files_of_sys():
    path = "/sys/kernel/mm/transparent_hugepage/enabled"
    if not os.access(path, os.R_OK):
        raise Skip(f"there is no {path}")
    refused("copy it to a file", path)


def test_block_device():
    """Found by its kind, so that any will do; it is not opened."""
    for name in sorted(os.listdir("/dev")):
        path = "/dev/" + name
        if pathlib.Path(path).is_block_device():
            refused("is a block device", path)
            refused("is a block device", "--dir", ".", path)
            return
    if os.geteuid():
        raise Skip("there is no block device in /dev")
    os.mknod("device", 0o600 | 0o060000, os.makedev(7, 200))
    refused("is a block device", "device")
    os.remove("device")


sys.exit(run_all(globals(), leaves_nothing=True))
