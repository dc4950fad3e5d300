#!/usr/bin/env python3
"""What the whole program promises: behaviour.py WEIR

Interrupts, killed runs, closed pipes, full disks, links, user files, options against help and parser. Each test runs in an
empty directory, and nothing may be left in it that the test did not ask for.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import trials
from trials import expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
os.environ["LC_ALL"] = "C.UTF-8"
os.environ.pop("COLUMNS", None)
QUICK = ["bench", "-q", "-m", "fd/pread", "-m", "map/view", "--size", "1MiB", "--rounds", "3", "--seed", "1"]
LONG = ["bench", "-m", "fd/pread", "-m", "map/view", "--size", "4MiB", "--rounds", "100000", "--time", "1h", "--seed", "1"]


def weir(*arguments, **settings):
    return subprocess.run([WEIR, *arguments], stdout=settings.pop("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=120, **settings)


def left():
    return sorted(os.listdir("."))


def start_long(*more, arguments=LONG):
    """A run that does not end by itself, among its samples."""
    process = subprocess.Popen([WEIR, *arguments, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
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
        # what was taken again, because the system took pages away meanwhile, has the same place
        orders.append([(line["round"], line["cell"]) for line in lines
                       if line["type"] == "sample" and line["round"] >= 0 and "retaken" not in line["flags"]])
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
    assert f"interrupted after {document['rounds']} of {document['rounds_planned']} rounds" in out, out
    assert 0 < document["rounds"] < document["rounds_planned"], document["rounds"]
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


def on_terminal(columns, term, *arguments):
    """What the program writes to a terminal of so many columns."""
    text, code = trials.on_terminal(columns, [WEIR, *arguments], {**os.environ, "TERM": term})
    expect(code, 0)
    return text


def test_progress_keeps_round_and_time_on_narrow_terminals():
    title = "read blocks of 4 KiB, random, 1 MiB, 50 % of the blocks, warm"
    parts = title.split(", ")
    whole = {""} | {" " + ", ".join(parts[:n]) for n in range(1, len(parts) + 1)}
    asked = ["bench", "--access", "random", "--coverage", "50%", "--size", "1MiB", "--rounds", "8", "-m", "fd/pread"]
    for columns in (40, 60, 80):
        text = on_terminal(columns, "xterm", *asked)
        lines = [piece.split("\x1b[K")[0] for piece in text.split("\r") if piece.startswith("[")]
        assert any(line.startswith(("[round ", "[burn-in round")) for line in lines), text
        for line in lines:
            phase, _, rest = line.partition("]")
            assert len(line) < columns and rest in whole, f"{columns} columns: {line!r}"
            assert phase in ("[measuring the machine", "[writing the file for warm reads") or rest or columns < 60, line


def test_dumb_terminal_gets_plain_lines():
    text = on_terminal(80, "dumb", *[argument for argument in QUICK if argument != "-q"])
    assert "[round 1/3" in text, text
    assert "\x1b" not in text and "\r[" not in text, repr(text)


def test_hint_to_keep_samples():
    hint = b"samples were not kept; with -o run.jsonl, 'weir report run.jsonl' shows them again\n"
    quick = [argument for argument in QUICK if argument != "-q"]
    assert weir(*quick).stderr.endswith(hint)
    for more in (["-q"], ["-o", "a.jsonl"], ["--format", "jsonl"]):
        assert hint not in weir(*quick, *more).stderr, more
    # what only looks like a run file
    assert weir(*quick, "-o", "b.json", "-d", ".").stderr.endswith(hint)


def scratch_files(*more):
    """The files of a run that is among its samples, by role."""
    arguments = ["bench", "--task", "whole", "--direction", "read,write", "-m", "fd/pread", "-m", "map/copy", "-m", "fd/pwrite",
                 "--size", "1MiB", "--rounds", "100000", "--time", "1h", "--seed", "1"]
    process = start_long(*more, arguments=arguments)
    folder, = pathlib.Path(".").glob(".weir-*")
    names = sorted(path.name.split("-")[0] for path in folder.iterdir() if path.name != "lock")
    process.send_signal(signal.SIGINT)
    process.communicate()
    expect(left(), [])
    return names


def test_private_copies_are_one_for_each_cell():
    # of two readers and a writer; the baseline stands there twice
    expect(scratch_files(), ["warm", "write"])
    expect(scratch_files("--private-copies"), ["warm"] * 3 + ["write"] * 2)


def test_private_copies_are_told():
    done = weir(*QUICK, "--private-copies", "-o", "a.jsonl")
    assert b"private copies" in done.stdout
    expect(weir("report", "a.jsonl").stdout, done.stdout)
    expect(json.loads(weir("report", "a.jsonl", "--format", "json").stdout)["private_copies"], True)
    expect(json.loads(weir(*QUICK, "--format", "json").stdout)["private_copies"], False)


def test_longer_than_asked():
    done = weir("bench", "-m", "fd/pread", "-m", "map/view", "--size", "1MiB", "--time", "1us", "-o", "a.json")
    assert b"longer than the " in done.stderr, done.stderr
    warnings = json.loads(pathlib.Path("a.json").read_text())["warnings"]
    assert "W16" in [warning["id"] for warning in warnings], warnings


def test_interrupt_before_the_first_round():
    process = subprocess.Popen([WEIR, *LONG, "-o", "a.json", "-o", "a.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("[writing"):
            process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=60)[0]
    expect(process.returncode, 130)
    assert "interrupted: nothing was measured\n" in out and "floors" not in out, out
    expect(weir("report", "a.jsonl").stdout.decode(), out)


def test_every_warning_is_explained():
    source = pathlib.Path(__file__).resolve().parents[2]
    raised = set()
    for path in [*source.glob("bench/**/*.c"), *source.glob("cli/*.c")]:
        raised |= set(re.findall(r'run_warn\([^"]*"(W\d\d)"', path.read_text()))
    assert len(raised) > 9, raised
    explained = [line.split()[0] for line in weir("help", "warnings").stdout.decode().splitlines() if re.match(r"W\d\d ", line)]
    expect(sorted(raised), explained)


def test_what_does_not_work_here_is_listed():
    if not shutil.which("strace"):
        print("SKIP no strace to forbid io_uring with")
        return
    done = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=io_uring_setup:error=EPERM", WEIR, "list"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))  # its search for leaks cannot be traced
    expect(done.returncode, 0)
    lines = done.stdout.splitlines()
    at = [number for number, line in enumerate(lines) if line.startswith("  ring/plain")][0]
    assert " not here " in lines[at] and lines[at + 1].strip().startswith("not here: "), lines[at:at + 3]
    assert any(line.split()[:2] == ["fd/pread", "ok"] for line in lines), done.stdout
    assert max(map(len, lines)) <= 100, max(lines, key=len)


def test_strict_is_not_sure():
    expect(weir(*QUICK, "--strict").returncode, 3)


def test_options_are_those_of_help_and_parser():
    rows = [line.split("\t") for line in weir("__options").stdout.decode().splitlines()]
    assert len(rows) > 40
    for command, name, letter, argument, _ in rows:
        text = weir("help", command).stdout.decode()
        shown = f"--{name}" + (f"[={argument[1:-1]}]" if argument.startswith("[") else f"={argument}" if argument else "")
        assert f" {shown} " in text.replace("\n", " \n"), f"{command}: {shown} is not in the help"
        assert letter == "-" or f"  -{letter}, --{name}" in text, f"{command}: -{letter} is not in the help"
        wrong = weir(command, f"--{name}", *(["x"] if argument else []), "--no-such-option")
        expect(wrong.returncode, 2)
        assert f"unknown option '--{name}'".encode() not in wrong.stderr, wrong.stderr
    for command in sorted({row[0] for row in rows}):
        text = weir("help", command).stdout.decode()
        names = {word[2:].split("=")[0].rstrip("[") for word in text[text.index("Examples:"):].split() if word.startswith("--")}
        expect(names - {row[1] for row in rows if row[0] == command}, {"help"})


RUN = str(pathlib.Path(__file__).resolve().parent / "cases" / "run.jsonl")


sys.exit(run_all(globals()))
