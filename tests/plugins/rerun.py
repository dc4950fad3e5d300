#!/usr/bin/env python3
"""weir compare --rerun: rerun.py WEIR FAST SLOW LIBWEIR

Two plugins with the same method, the second of which takes three times as long, and builds of libweir. What is called does not
rest on a time: one is the other with work added. A run on a busy machine may be unclear, and is then tried again.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import Skip, expect, run_all

WEIR, FAST, SLOW, LIBWEIR = (str(pathlib.Path(a).resolve()) for a in sys.argv[1:5])
QUICK = ["-q", "--size", "2MiB", "--rounds", "20", "--seed", "1", "--rank-by", "cpu"]


def weir(*arguments):
    return subprocess.run([WEIR, "compare", "--rerun", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=300, text=True, check=False)


def rows(done):
    return {row["cell"]: row for group in json.loads(done.stdout)["groups"] for row in group["cells"]}


def decided(*arguments):
    for _ in range(4):
        done = weir(*arguments)
        if ", 0 unclear" in done.stdout or '"unclear": 0' in done.stdout:
            break
    return done


def test_a_slower_plugin_is_a_regression_and_a_faster_one_an_improvement():
    for process in ("same", "fresh"):
        done = decided(FAST, SLOW, *QUICK, "--process", process, "--format", "json")
        expect(done.returncode, 1)
        expect({name: row["verdict"] for name, row in rows(done).items()}, {"pair/read": "slower"})
    done = decided(SLOW, FAST, *QUICK, "--format", "json")
    expect((done.returncode, [row["verdict"] for row in rows(done).values()]), (0, ["faster"]))


def test_the_same_plugin_twice_is_not_different():
    shutil.copy(FAST, "again.so")
    done = weir(FAST, "again.so", *QUICK, "-m", "pair/*[block=64KiB|256KiB]", "-m", "fd/pread", "--format", "json")
    found = rows(done)
    expect(sorted(found), ["pair/read[block=256KiB]", "pair/read[block=64KiB]"])
    assert {row["verdict"] for row in found.values()} <= {"same", "unclear"}, found
    expect(done.returncode, 0)


def test_the_table_and_the_run_file():
    done = decided(FAST, SLOW, *QUICK, "-o", "run.jsonl", "-o", "changes.md")
    expect(done.returncode, 1)
    assert re.search(r"^  pair/read +0\.\d+× +0\.\d+ … 0\.\d+ +0\.\d+×  slower +beyond ", done.stdout, re.M), done.stdout
    assert done.stdout.endswith("\n1 regression, 0 improvements, 0 same, 0 unclear\n"), done.stdout
    assert "| slower |" in pathlib.Path("changes.md").read_text()
    names = {json.loads(line).get("cell") for line in pathlib.Path("run.jsonl").read_text().splitlines()}
    assert {"pair/read.old", "pair/read.new"} <= names, names


def test_few_rounds_have_no_verdict():
    done = weir(FAST, SLOW, *QUICK, "--rounds", "2", "--format", "json")
    expect((done.returncode, [row["verdict"] for row in rows(done).values()]), (0, ["unclear"]))
    expect(weir(FAST, SLOW, *QUICK, "--rounds", "2", "--strict").returncode, 3)


def test_two_builds_of_libweir():
    os.mkdir("old")
    shutil.copy(LIBWEIR, "old/libweir.so")
    for process in ("same", "fresh"):
        done = weir("old/libweir.so", LIBWEIR, "-q", "--size", "1MiB", "--rounds", "7", "-m", "weir/stream", "-m", "weir/pread", "--process",
                    process, "--format", "json", "-o", "run.jsonl")
        found = rows(done)
        expect(sorted(name.split("[")[0] for name in found), ["weir/pread", "weir/stream"])
        for row in found.values():
            assert row["verdict"] in ("same", "unclear", "faster", "slower") and row["n_now"] == 7, row
        assert done.returncode in (0, 1), done.stderr
    done = weir("old/libweir.so", LIBWEIR, "-q", "--size", "64KiB", "--rounds", "1", "--task", "lines,whole", "--format", "json")
    names = {name.split("[")[0] for name in rows(done)}
    assert {"weir/lines-next", "weir/read-file"} <= names, names


def test_methods_bind_to_the_build_that_is_named():
    """A library with nothing but a version: if the methods ran all the same, they would be those of another build."""
    pathlib.Path("bare.c").write_text('const char *weir_version(void); const char *weir_version(void) { return "9"; }\n')
    if shutil.which("cc") is None or subprocess.run(["cc", "-shared", "-fPIC", "-o", "bare.so", "bare.c"]).returncode:
        raise Skip("no compiler")
    done = weir("bare.so", LIBWEIR, "-q", "--size", "64KiB", "--rounds", "1", "-m", "weir/stream", "--format", "json")
    row = next(iter(rows(done).values()))
    expect(row["verdict"], None)
    assert "undefined symbol: weir_" in row["reason"], row


def test_what_is_no_library_is_refused():
    pathlib.Path("text.so").write_text("no library" * 99)
    done = weir("text.so", SLOW, *QUICK)
    expect((done.returncode, done.stdout), (2, ""))
    assert done.stderr.startswith("weir: 'text.so': ") and "invalid ELF header" in done.stderr, done.stderr
    done = weir(FAST, "nowhere.so", *QUICK)
    expect(done.returncode, 2)
    done = weir(FAST, *QUICK)
    expect((done.returncode, done.stderr.splitlines()[0]), (2, "weir: two libraries are compared: OLD and NEW"))
    done = weir(FAST, SLOW, *QUICK, "--task", "lines")
    expect(done.returncode, 2)
    assert "no method of OLD and NEW does what is asked for" in done.stderr, done.stderr


def test_a_file_of_the_users_is_read():
    pathlib.Path("mine").write_bytes(os.urandom(300000))
    before = os.stat("mine")
    done = weir(FAST, SLOW, "mine", "-q", "--rounds", "7", "--rank-by", "cpu", "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    expect(json.loads(done.stdout)["groups"][0]["rounds_now"], 7)
    expect((os.stat("mine").st_size, os.stat("mine").st_mtime_ns), (before.st_size, before.st_mtime_ns))


sys.exit(run_all(globals()))
