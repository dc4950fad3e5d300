#!/usr/bin/env python3
"""What the whole program promises: behaviour.py WEIR

Interrupts, killed runs, closed pipes, full disks, links, user files, options against help and parser. Each test runs in an
empty directory, and nothing may be left in it that the test did not ask for.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
QUICK = ["bench", "-q", "-m", "fd/pread", "-m", "map/view", "--size", "1MiB", "--rounds", "3", "--seed", "1"]
LONG = ["bench", "-m", "fd/pread", "-m", "map/view", "--size", "4MiB", "--rounds", "100000", "--time", "1h", "--seed", "1"]


def weir(*arguments, **settings):
    return subprocess.run([WEIR, *arguments], stdout=settings.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=120, **settings)


def expect(actual, wanted):
    if actual != wanted:
        raise AssertionError(f"got {actual!r}, expected {wanted!r}")


def left():
    return sorted(os.listdir("."))


def start_long(*more):
    """A run that does not end by itself, among its samples."""
    process = subprocess.Popen([WEIR, *LONG, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("[burn-in"):
            time.sleep(1)
            return process
    raise AssertionError(f"no round was begun: {process.communicate()}")


def test_report_gives_the_same_bytes():
    done = weir(*QUICK, "-o", "a.jsonl", "-o", "a.json", "-o", "a.txt")
    expect(done.returncode, 0)
    expect(weir("report", "a.jsonl").stdout, done.stdout)
    expect(pathlib.Path("a.txt").read_bytes(), done.stdout)
    expect(weir("report", "a.jsonl", "--format", "json").stdout, pathlib.Path("a.json").read_bytes())
    expect(left(), ["a.json", "a.jsonl", "a.txt"])


def test_one_document_on_standard_output():
    expect(json.loads(weir(*QUICK, "--format", "json").stdout)["schema"], 1)
    expect(json.loads(weir(*QUICK, "-o", "-").stdout)["schema"], 1)
    lines = weir(*QUICK, "--format", "jsonl").stdout.splitlines()
    expect(json.loads(lines[0])["schema"], 1)
    pathlib.Path("live.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    expect(weir("report", "live.jsonl").returncode, 0)


def test_same_seed_same_orders():
    orders = []
    for _ in range(2):
        lines = map(json.loads, weir(*QUICK, "--format", "jsonl").stdout.splitlines())
        orders.append([(line["round"], line["cell"]) for line in lines if "round" in line and line["round"] >= 0])
    expect(orders[0], orders[1])
    assert len(orders[0]) >= 8


def test_interrupt_keeps_what_was_measured():
    process = start_long("-o", "a.jsonl", "-o", "a.json")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    expect(process.returncode, 130)
    expect(left(), ["a.json", "a.jsonl"])
    document = json.loads(pathlib.Path("a.json").read_text())
    expect(document["interrupted"], True)
    expect(weir("report", "a.jsonl").stdout.decode(), out)


def test_kill_leaves_nothing():
    process = start_long("-o", "a.jsonl")
    process.kill()
    process.communicate()
    for _ in range(100):
        if not left():
            return
        time.sleep(0.1)
    raise AssertionError(f"left: {left()}")


def test_closed_pipe():
    reader, writer = os.pipe()
    os.close(reader)
    done = weir(*QUICK, stdout=writer)
    os.close(writer)
    expect(done.returncode, 2)
    expect(done.stderr, b"weir: standard output: Broken pipe\n")


def test_full_disk():
    for arguments in (QUICK, ["--help"], ["list", "suites"]):
        with open("/dev/full", "w") as full:
            done = weir(*arguments, stdout=full)
        expect(done.returncode, 2)
        expect(done.stderr, b"weir: standard output: No space left on device\n")


def test_failed_file_leaves_the_old_one():
    pathlib.Path("a.json").write_text("old")
    done = subprocess.run(["sh", "-c", 'ulimit -f 1; exec "$0" "$@"', WEIR, "report", RUN, "-o", "a.json"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    expect(done.returncode, 2)
    assert b"a.json: File too large" in done.stderr, done.stderr
    expect(pathlib.Path("a.json").read_text(), "old")
    expect(left(), ["a.json"])


def test_link_is_written_through():
    os.mkdir("real")
    pathlib.Path("real/old.json").write_text("old")
    os.symlink("real/old.json", "link.json")
    expect(weir("report", RUN, "-o", "link.json").returncode, 0)
    assert os.path.islink("link.json")
    json.loads(pathlib.Path("real/old.json").read_text())
    expect(sorted(os.listdir("real")), ["old.json"])


def test_devices_are_written_straight():
    expect(weir("report", RUN, "-o", "/dev/null", "--format", "json").returncode, 0)
    assert not os.path.isfile("/dev/null")
    with open("out", "wb") as out:
        expect(weir("report", RUN, "-o", "/dev/stdout", stdout=out).returncode, 0)
    json.loads(pathlib.Path("out").read_text())
    assert os.path.islink("/dev/stdout")
    done = weir("report", RUN, "-o", "/dev/full", "--format", "json")
    expect(done.returncode, 2)
    assert b"/dev/full: No space left on device" in done.stderr


def test_closed_standard_output_spoils_no_file():
    done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', WEIR, "report", RUN, "-o", "a.json"], stderr=subprocess.PIPE)
    expect(done.returncode, 2)
    json.loads(pathlib.Path("a.json").read_text())


def test_user_file_stays_as_it_is():
    path = pathlib.Path("mine")
    path.write_bytes(os.urandom(300_001))
    os.chmod(path, 0o444)
    before, content = os.stat(path), path.read_bytes()
    expect(weir("bench", "-q", "-m", "*", "--rounds", "1", "--cache", "warm,cold", "mine").returncode, 0)
    after = os.stat(path)
    for name in ("st_size", "st_mtime_ns", "st_ctime_ns", "st_ino", "st_mode"):
        expect(getattr(after, name), getattr(before, name))
    expect(path.read_bytes(), content)
    expect(left(), ["mine"])


def test_strict_is_not_sure():
    expect(weir(*QUICK, "--strict").returncode, 3)


def test_options_are_those_of_help_and_parser():
    rows = [line.split("\t") for line in weir("__options").stdout.decode().splitlines()]
    assert len(rows) > 40
    for command, name, letter, argument in rows:
        text = weir("help", command).stdout.decode()
        shown = f"--{name}" + (f"={argument}" if argument else "")
        assert f" {shown} " in text.replace("\n", " \n"), f"{command}: {shown} is not in the help"
        assert letter == "-" or f"  -{letter}, --{name}" in text, f"{command}: -{letter} is not in the help"
        wrong = weir(command, f"--{name}", *(["x"] if argument else []), "--no-such-option")
        expect(wrong.returncode, 2)
        assert f"unknown option '--{name}'".encode() not in wrong.stderr, wrong.stderr
    for command in sorted({row[0] for row in rows}):
        text = weir("help", command).stdout.decode()
        names = {word[2:].split("=")[0] for word in text[text.index("Examples:"):].split() if word.startswith("--")}
        expect(names - {row[1] for row in rows if row[0] == command}, {"help"})


RUN = str(pathlib.Path(__file__).resolve().parent / "cases" / "run.jsonl")


def main():
    failed = 0
    for name, test in sorted(globals().items()):
        if not name.startswith("test_"):
            continue
        with tempfile.TemporaryDirectory(prefix="weir-behaviour-") as folder:
            os.chdir(folder)
            try:
                began = time.monotonic()
                test()
                print(f"ok   {name} ({time.monotonic() - began:.1f} s)")
            except (AssertionError, subprocess.TimeoutExpired, ValueError) as problem:
                failed += 1
                print("FAIL", name, problem)
            os.chdir("/")
    return 1 if failed else 0


sys.exit(main())
