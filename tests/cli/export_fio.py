#!/usr/bin/env python3
"""weir export-fio: export_fio.py WEIR

What it prints is run by a shell, and fio's own account is compared with the demand: bytes, requests, size of a request. Every
built-in method either has a command or a reason. Nothing is left behind, and the user's file is not changed.
"""
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import Skip, expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
KIB = 1024


def export(*arguments):
    done = subprocess.run([WEIR, "export-fio", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          stdin=subprocess.DEVNULL, timeout=60)
    for line in done.stdout.splitlines():
        assert line == "" or line.startswith(("# ", "fio --name=weir", "  --", "  '--filename=")), line
    return done


def command(*arguments):
    done = export(*arguments)
    expect((done.returncode, done.stderr), (0, ""))
    return done.stdout


def options(text):
    """The words of the command, without the comments."""
    return shlex.split(text, comments=True)


def run(*arguments):
    """fio's account of the command that is printed, one job."""
    if not shutil.which("fio"):
        raise Skip("fio is not installed")
    text = command(*arguments)
    done = subprocess.run(["sh", "-c", text.rstrip("\n") + " --output-format=json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120)
    expect((done.returncode, done.stderr), (0, ""))
    jobs = json.loads(done.stdout[done.stdout.index("{"):])["jobs"]
    expect(len(jobs), 1)
    expect(jobs[0]["error"], 0)
    return jobs[0], options(text)


def block_of(words):
    return int(next(word for word in words if word.startswith("--bs="))[5:])


def check(side, size, block, *arguments):
    job, words = run("--size", str(size), *arguments)
    expect(block_of(words), block)
    expect((job[side]["io_bytes"], job[side]["total_ios"]), (size, size // block))
    other = "write" if side == "read" else "read"
    expect(job[other]["io_bytes"], 0)
    return job, words


def test_reads():
    for cell in ("fd/pread[block=16KiB]", "fd/read[block=16KiB]", "fd/preadv2[block=16KiB]", "sys/pread[block=16KiB]",
                 "map/copy[block=16KiB]", "aio/posix[block=16KiB]", "fd/pread[block=16KiB,hint=random]"):
        check("read", 1024 * KIB, 16 * KIB, cell)
    for cache in ("warm", "cold"):
        check("read", 512 * KIB, 4 * KIB, "fd/pread", "--access", "random", "--cache", cache)
    expect(os.listdir("."), [])


def test_writes():
    for durability in ("none", "end", "each"):
        check("write", 256 * KIB, 16 * KIB, "fd/pwrite", "--direction", "write", "--request", "16k", "--durability", durability)
    job, _ = check("write", 64 * KIB, 16 * KIB, "fd/pwrite[flush=fdatasync]", "--direction", "write", "--request", "16k",
                   "--durability", "each")
    assert job["sync"]["lat_ns"]["N"] >= 3, job["sync"]
    for target in ("overwrite", "truncate", "new", "preallocated"):
        check("write", 256 * KIB, 16 * KIB, "fd/pwrite", "--direction", "write", "--request", "16k", "--target", target)
    check("write", 256 * KIB, 4 * KIB, "map/write", "--direction", "write", "--request", "4k", "--access", "random")
    expect(os.listdir("."), [])


def direct_works():
    """Where files of this directory refuse O_DIRECT, fio's do too."""
    try:
        os.close(os.open(".probe", os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o600))
    except OSError as problem:
        raise Skip(f"no direct files here: {problem}") from None
    finally:
        if os.path.exists(".probe"):
            os.unlink(".probe")


def test_direct():
    direct_works()
    for cell in ("direct/pread[block=16KiB]", "aio/libaio[block=16KiB,depth=4]"):
        _, words = check("read", 1024 * KIB, 16 * KIB, cell)
        assert "--direct=1" in words, words
    check("write", 256 * KIB, 16 * KIB, "direct/pwrite", "--direction", "write", "--request", "16k", "--durability", "none")


def test_rings():
    direct_works()
    listing = subprocess.run([WEIR, "list", "methods"], stdout=subprocess.PIPE, text=True).stdout
    if not re.search(r"ring/plain +ok", listing):
        raise Skip("no io_uring here")
    for cell in ("ring/plain[block=16KiB,depth=4]", "ring/fixed[block=16KiB,depth=4]", "ring/direct[block=16KiB,depth=32]"):
        _, words = check("read", 1024 * KIB, 16 * KIB, cell)
        assert f"--iodepth={cell[:-1].rsplit('=', 1)[1]}" in words, words
        expect("--fixedbufs=1" in words, cell.startswith(("ring/fixed", "ring/direct")))


def test_mixed_and_null():
    job, _ = run("fd/mixed", "--direction", "mixed", "--write-share", "30%", "--request", "4k", "--size", "4MiB", "--access",
                 "random")
    expect(job["read"]["io_bytes"] + job["write"]["io_bytes"], 4 << 20)
    assert 0.15 < job["write"]["io_bytes"] / (4 << 20) < 0.45, job["write"]["io_bytes"]
    check("read", 1024 * KIB, 16 * KIB, "null", "--request", "16k")


def test_threads_and_coverage():
    job, words = run("fd/pread[threads=2]", "--request", "4k", "--size", "1MiB")
    expect((job["read"]["io_bytes"], job["read"]["total_ios"]), (1 << 20, 256))
    assert "--numjobs=2" in words and "--offset_increment=524288" in words, words
    expect(os.listdir("."), ["weir-fio.data"])
    os.unlink("weir-fio.data")
    job, _ = run("fd/pread", "--request", "4k", "--size", "1MiB", "--access", "random", "--coverage", "25%")
    expect(job["read"]["total_ios"], 64)
    expect(os.listdir("."), [])


def test_rate():
    job, words = run("fd/pread", "--request", "4k", "--size", "64KiB", "--rate", "200")
    assert "--rate_iops=200,200" in words, words
    expect(job["read"]["total_ios"], 16)
    words = options(command("fd/mixed[threads=2]", "--direction", "mixed", "--request", "4k", "--rate", "200"))
    assert "--rate_iops=70,30" in words, words
    expect(export("fd/pread", "--rate", "0.3").returncode, 2)


def test_sizes_that_are_no_whole_blocks():
    done = command("fd/pread", "--request", "4k", "--size", "10000")
    assert "--size=8192" in options(done), done
    assert "last 1808 bytes are left out" in done, done
    refused = export("fd/pread", "--request", "4k", "--size", "1000")
    expect(refused.returncode, 2)
    refused = export("direct/pread", "--request", "1000", "--size", "1MiB")
    expect(refused.returncode, 2)
    assert "whole sectors" in refused.stderr, refused.stderr


def test_users_file():
    name = "it's: a\\file"
    pathlib.Path(name).write_bytes(os.urandom(256 * KIB))
    before = hashlib.sha256(pathlib.Path(name).read_bytes()).digest(), os.stat(name).st_mtime_ns
    job, words = run("fd/pread[block=16KiB]", name)
    expect(job["read"]["io_bytes"], 256 * KIB)
    assert "--readonly" in words and "--unlink=1" not in words, words
    expect((hashlib.sha256(pathlib.Path(name).read_bytes()).digest(), os.stat(name).st_mtime_ns), before)
    expect(os.listdir("."), [name])


def test_names_of_cells_as_tables_show_them():
    os.mkdir("place")
    words = options(command("fd/pread[block=16KiB]@place#2"))
    assert "--filename=place/weir-fio.data" in words, words
    assert "--filename=./weir-fio.data" in options(command("fd/pread#2")), "place"


def test_what_cannot_be_said():
    for cell, more, words in (("stdio/fread", [], "streams of the C library"), ("map/view", [], "copy every block"),
                              ("ring/linked", [], "does not link"), ("weir/pread", [], "libweir"),
                              ("fd/readv", [], "one piece"), ("fd/pread", ["--task", "whole"], "whole file"),
                              ("lines/getline", ["--task", "lines"], "nothing of 'lines'"),
                              ("map/copy[advice=huge]", [], "advice 'huge'"),
                              ("fd/write[extend=append]", ["--direction", "write", "--target", "new"], "extend=append")):
        done = export(cell, *more)
        expect((done.returncode, done.stdout), (2, ""))
        assert f"weir: '{cell.split('[')[0]}" in done.stderr and "cannot be said in fio: " in done.stderr, done.stderr
        assert words in done.stderr, (words, done.stderr)


def test_wrong_words():
    expect(export("fd/pred").returncode, 2)
    assert "CELL: unknown method 'fd/pred' (did you mean 'fd/pread'?)" in export("fd/pred").stderr
    for arguments in ([], ["fd/pread", "a", "b"], ["fd/pread", "none-such"], ["fd/pread", "--memory", "1GiB"],
                      ["fd/pread", "--direction", "write"]):
        done = export(*arguments)
        expect((done.returncode, done.stdout), (2, ""))
        assert done.stderr.startswith("weir: "), done.stderr


def test_every_method_has_a_command_or_a_reason():
    names = re.findall(r"^  ([a-z+]+(?:/[a-z0-9-]+)?)  +(?:ok|unavailable)", subprocess.run(
        [WEIR, "list", "methods"], stdout=subprocess.PIPE, text=True).stdout, re.MULTILINE)
    assert len(names) > 100, names
    demands = [["--direction", direction] for direction in ("read", "write", "mixed")]
    demands += [["--task", task] for task in ("whole", "lines", "text", "records", "typed", "many", "copy")]
    demands += [["--task", task, "--direction", "write"] for task in ("whole", "lines", "text", "records", "typed")]
    told = {"command": 0, "reason": 0}
    for name in names:
        for demand in demands:
            done = export(name, "--request", "4k", *demand) if "--task" not in demand else export(name, *demand)
            if done.returncode == 2 and "cannot be said in fio: " not in done.stderr:
                continue # does not fit this demand
            expect(done.returncode == 0, done.stderr == "")
            told["command" if done.returncode == 0 else "reason"] += 1
            break
        else:
            raise AssertionError(f"{name}: neither a command nor a reason")
    assert told["command"] >= 25 and told["reason"] >= 50, told


sys.exit(run_all(globals()))
