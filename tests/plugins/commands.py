#!/usr/bin/env python3
"""Whole programs as contenders: commands.py WEIR

Each test runs in an empty directory, in which nothing may be left, and no process that a command started may outlive weir.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
QUICK = ["-q", "--size", "1MiB", "--rounds", "1"]
EMPTY = "2d06800538d394c2"  # of no output at all


def weir(*arguments, **settings):
    return subprocess.run([WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          timeout=120, text=True, check=False, **settings)


def cells(*arguments, code=0, quick=True):
    done = weir("bench", *(QUICK if quick else ["-q", "--rounds", "1"]), "--task", "blocks", "--format", "json", *arguments)
    if done.returncode != code:
        raise AssertionError(f"exit {done.returncode}, {done.stderr}{done.stdout[:2000]}")
    return {cell["method"]: cell for cell in json.loads(done.stdout)["groups"][0]["cells"]}


def one(command, *more, code=0, quick=True):
    found = cells("-m", "fd/pread", "--exec", command, *more, code=code, quick=quick)
    expect(found["fd/pread"]["status"], "ok")
    return found[next(name for name in found if name.startswith("exec/"))]


def running(words):
    """Processes whose command line holds the words."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            text = pathlib.Path("/proc", entry, "cmdline").read_bytes() if entry.isdigit() else b""
        except OSError:
            continue
        if words.encode() in text and int(entry) != os.getpid():
            found.append(int(entry))
    return found


def test_is_measured_in_both_processes():
    for process in ("same", "fresh"):
        found = cells("-m", "fd/pread", "--exec", "wc -c {}", "--exec", "cat {}", "--process", process)
        expect(sorted(found), ["exec/cat", "exec/wc", "fd/pread"])
        expect({cell["status"] for cell in found.values()}, {"ok"})
        assert found["exec/cat"]["label"].endswith("+exec"), found["exec/cat"]["label"]


def test_joins_the_usual_uses_where_it_fits():
    text = weir("plan", "--exec", "cat {}").stdout
    groups = {part.split(":")[0].strip(): part for part in text.split("\n\n")}
    for name, part in groups.items():
        if ": " in part and name.startswith(("read", "write")):
            expect("exec/cat" in part, name.startswith(("read-sequential", "read-whole")))


def test_names():
    found = cells("--exec", "wc -c {}", "--exec", "wc -l {}", "--exec", "mine=/bin/cat {}", "-m", "fd/pread")
    expect(sorted(found), ["exec/mine", "exec/wc", "exec/wc-2", "fd/pread"])
    done = weir("bench", "--exec", "a=wc {}", "--exec", "a=cat {}")
    expect((done.returncode, done.stderr.splitlines()[0]), (2, "weir: --exec: 'a=cat {}': there is a method 'exec/a' already"))


def test_path_is_one_literal_argument():
    for name in ("plain", "a b", "-n", "it's \"$HOME\" `x` *", "new\nline"):
        pathlib.Path(name).write_bytes(os.urandom(5000))
        script = "import os,sys; a = sys.argv[1:]; sys.exit(0 if len(a) == 2 and os.path.getsize(a[0]) == 5000 and a[1] == 'x y' else 3)"
        for command in (f'python3 -c "{script}" {{}} "x y"', f"'python3' -c \"{script}\" \"{{}}\" x\\ y"):
            expect(one(command, "--", name, quick=False)["status"], "ok")
        os.unlink(name)


def test_output_is_checked_where_a_checksum_is_given():
    expect(one("true {} => " + EMPTY)["status"], "ok")
    wrong = one("sh -c 'echo hello' sh {} => " + EMPTY, code=1)
    expect(wrong["status"], "failed")
    actual = re.fullmatch(r"wrong data: its output has the checksum ([0-9a-f]{16}), " + EMPTY + " was expected", wrong["reason"])
    assert actual, wrong["reason"]
    expect(one(f"sh -c 'echo hello' sh {{}} => {actual.group(1)}")["status"], "ok")


def test_failure_is_a_row_with_its_last_words():
    failed = one("sh -c 'echo first >&2; echo no such luck >&2; exit 7' sh {}", code=1)
    expect((failed["status"], failed["reason"]), ("failed", "exit status 7: no such luck"))
    failed = one("sh -c 'kill -SEGV $$' sh {}", code=1)
    expect((failed["status"], failed["reason"]), ("failed", "it was ended by SIGSEGV"))


def test_missing_program_is_a_row_with_a_remedy():
    absent = one("no-such-program-at-all {}")
    expect(absent["status"], "unavailable")
    # a PATH with folders that the user may not read leaves open whether it is there
    why = absent["reason"].removeprefix("'no-such-program-at-all' cannot be run: ")
    assert why in ("no such program in PATH", "Permission denied"), absent["reason"]
    expect(absent["remedy"], "install it, or name its file")
    expect(one("/etc/passwd {}")["status"], "unavailable")


def test_parts_of_a_file_are_not_compared():
    pathlib.Path("big").write_bytes(os.urandom(100_000))
    expect(one("cat {}", "--size", "50000", "big", quick=False)["reason"],
           "a command reads the whole file; say --size=100000 to compare with that")
    expect(one("cat {}", "--threads", "2")["status"], "unavailable")
    os.unlink("big")


def test_what_it_takes_is_counted():
    script = "x = bytearray(100 << 20); print(sum(range(300000)))"
    for process in ("same", "fresh"):
        done = weir("bench", *QUICK, "--format", "jsonl", "--exec", f"python3 -c '{script}' {{}}", "-m", "fd/pread", "--process", process)
        samples = [s for s in map(json.loads, done.stdout.splitlines()) if "cpu_ns" in s and s["cell"].startswith("exec/")]
        assert samples and all(s["cpu_ns"] > 1_000_000 and s["peak_bytes"] > 100 << 20 for s in samples), samples[:1]


def test_wrong_commands_are_refused():
    for command, reason in (
            ("cat", "it says nowhere where the file goes: write {} in its place"),
            ("{}", "it says nowhere where the file goes: write {} in its place"),
            ("", "is empty"), (" ", "it names no command"),
            ("cat '{}", "a quote in it is not closed"),
            ("cat {} | wc", "no shell reads it, and '|' would be an argument"),
            ("cat {} => 12", "after '=>' has to stand one checksum"),
            ("cat {} =>", "after '=>' has to stand one checksum")):
        done = weir("bench", "--exec", command)
        expect((done.returncode, done.stdout), (2, ""))
        first = done.stderr.splitlines()[0]
        assert first.startswith("weir: --exec: ") and reason in first, first
    done = weir("bench", "--exec", "cat {}", "--access", "random")
    expect((done.returncode, done.stderr.splitlines()[0]), (2, "weir: --exec: 'exec/cat' does not do 'random' here"))


def wait_until(condition, what):
    for _ in range(200):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(what)


def start_sleepers(mark):
    """A command that starts another in the background and waits itself, both with `mark` on their command lines."""
    process = subprocess.Popen([WEIR, "bench", *QUICK, "--exec", f"sh -c 'sleep {mark} & sleep {mark}' sh {{}}"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    wait_until(lambda: len(running(f"sleep\0{mark}")) >= 2, "the command was not started")
    return process


def test_nothing_outlives_an_interrupt_or_a_kill():
    for number, end in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGKILL)):
        mark = f"86{number}{os.getpid()}"
        process = start_sleepers(mark)
        process.send_signal(end)
        process.communicate(timeout=60)
        expect(process.returncode, -9 if end == signal.SIGKILL else 130)
        wait_until(lambda: not running(f"sleep\0{mark}"), f"left: {running(mark)}")
        wait_until(lambda: not os.listdir("."), f"left: {os.listdir('.')}")


def test_nothing_outlives_a_good_run():
    mark = f"87{os.getpid()}"
    expect(one(f"sh -c 'sleep {mark} &' sh {{}}")["status"], "ok")
    expect(running(f"sleep\0{mark}"), [])


sys.exit(run_all(globals(), leaves_nothing=True))
