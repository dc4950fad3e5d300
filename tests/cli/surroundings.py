#!/usr/bin/env python3
"""The program in all surroundings: surroundings.py WEIR

Colours, dumb terminals, locales, narrow terminals, pipes, full disks, closed pipes, interrupts, quiet and verbose. All of it on
a stored run file or on runs of a few milliseconds.
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
from trials import Skip, expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
RUN = str(pathlib.Path(__file__).resolve().parents[1] / "report/golden.jsonl")
QUICK = ["bench", "-m", "fd/pread", "-m", "map/view", "--size", "1MiB", "--rounds", "8", "--seed", "1"]
NONE = ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LC_ALL", "LC_CTYPE", "LANG", "TERM")


def surroundings(**more):
    """Nothing but UTF-8 and a good terminal, and what is said."""
    known = {name: value for name, value in os.environ.items() if name not in NONE}
    return {**known, "LC_ALL": "C.UTF-8", "TERM": "xterm", **more}


def weir(*arguments, before=(), **more):
    done = subprocess.run([*before, WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          timeout=120, check=False, env=surroundings(**more))
    expect((done.returncode, done.stderr.decode()), (0, "") if "bench" not in arguments else (0, done.stderr.decode()))
    return done.stdout.decode()


def on_terminal(columns, *arguments, **more):
    """What the program writes to a terminal of so many columns, and its exit code."""
    text, code = trials.on_terminal(columns, [WEIR, *arguments], surroundings(**more))
    return text.replace("\r\n", "\n"), code


def table_on_terminal(columns, *options, **more):
    text, code = on_terminal(columns, "report", RUN, *options, **more)
    expect(code, 1)  # a method of this run delivered wrong data
    return text


def report(*options, code=1, **more):
    done = subprocess.run([WEIR, "report", RUN, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False,
                          env=surroundings(**more))
    expect((done.returncode, done.stderr), (code, b""))
    return done.stdout.decode()


# ---- colours ----

def test_colours():
    assert "\x1b[1m" in table_on_terminal(100)
    for more in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}, {"CLICOLOR": "0"}, {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}):
        assert "\x1b" not in table_on_terminal(100, **more), more
    assert "\x1b[1m" in table_on_terminal(100, NO_COLOR="")  # empty is not set
    assert "\x1b" not in report()
    assert "\x1b[1m" in report(CLICOLOR_FORCE="1") and "\x1b" not in report(CLICOLOR_FORCE="0")
    assert "\x1b[1m" in report("--color", "always", NO_COLOR="1") and "\x1b" not in table_on_terminal(100, "--color", "never")
    for more in ({"NO_COLOR": "1"}, {"CLICOLOR_FORCE": "1"}):  # never in what machines read
        json.loads(report("--format", "json", **more))


# ---- locales ----

def test_ascii():
    told = report()
    assert re.search("★.*×", told) and "█" in told and not told.isascii()
    for options, more in ((["--ascii"], {}), ([], {"LC_ALL": "C"}), ([], {"LC_ALL": "", "LANG": "POSIX"}), ([], {"LC_ALL": "de_DE.ISO-8859-1"}),
                          ([], {"LC_ALL": "", "LC_CTYPE": "C", "LANG": "C.UTF-8"})):
        text = report(*options, **more)
        assert text.isascii(), (options, more, [line for line in text.splitlines() if not line.isascii()])
        expect(len(text.splitlines()), len(told.splitlines()))
        for line, wide in zip(text.splitlines(), told.splitlines()):
            if wide.startswith("★ ") or re.match(r"  \d", wide):
                expect(len(line), len(wide))  # what stands in columns still does
    text = table_on_terminal(100, "--color", "never", LC_ALL="C")
    assert text.isascii() and re.search(r"^\* \d.*#", text, re.MULTILINE), text
    # what machines read does not follow the locale, and neither do files
    for name in ("json", "csv", "markdown"):
        expect(report("--format", name, LC_ALL="C"), report("--format", name))
    report("-o", "a.txt", LC_ALL="C")
    report("-o", "b.txt")
    report("-o", "c.txt", "--ascii")
    expect(pathlib.Path("a.txt").read_bytes(), pathlib.Path("b.txt").read_bytes())
    assert pathlib.Path("c.txt").read_text().isascii()


def test_ascii_of_other_commands():
    for arguments in (["help", "ranks"], ["list"], ["help", "bench"], ["help"]):
        assert weir(*arguments, LC_ALL="C").isascii(), arguments
    assert "★" in weir("help", "ranks")


def test_german_locale():
    if not shutil.which("localedef"):
        raise Skip("no localedef to make de_DE.UTF-8 with")
    if subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", "./de_DE.UTF-8"], stderr=subprocess.DEVNULL, check=False).returncode > 1:
        raise Skip("de_DE.UTF-8 cannot be made")
    # newlocale of the C library itself leaks where LOCPATH is set
    german = {"LC_ALL": "de_DE.UTF-8", "LOCPATH": os.getcwd(), "ASAN_OPTIONS": "detect_leaks=0"}
    point = subprocess.run(["locale", "decimal_point"], stdout=subprocess.PIPE, text=True, check=True, env=surroundings(**german)).stdout
    if point != ",\n":
        raise Skip("de_DE.UTF-8 has no decimal comma here")
    for options in ([], ["--format", "json"], ["--format", "csv"], ["--format", "markdown"], ["--margin", "2.5%"]):
        expect(report(*options, **german), report(*options))
    plan = weir("plan", "--task", "whole", "--size", "1.5MiB", "-m", "fd/read", **german)
    assert "1.50 MiB" in plan, plan
    # of a locale that is not installed the name tells
    expect(report(LC_ALL="de_DE.UTF-8"), report())
    expect(report(LC_ALL="xx_XX.utf8"), report())


# ---- widths ----

def columns_of(text):
    return max(len(line) for line in re.sub("\x1b\\[\\d*m", "", text).splitlines())


def test_widths():
    for columns in (60, 80, 100, 140):
        text = table_on_terminal(columns)
        assert columns_of(text) <= columns, (columns, max(re.sub("\x1b\\[\\d*m", "", text).splitlines(), key=len))
        assert re.search(r"verdict", text), text
        expect(table_on_terminal(200, COLUMNS=str(columns)), text)  # COLUMNS goes before the terminal
        expect(report(COLUMNS=str(columns)), re.sub("\x1b\\[\\d*m", "", text))
    assert "█" in table_on_terminal(100) and "█" in table_on_terminal(140) and "█" not in table_on_terminal(60)
    for nonsense in ("", "0", "7", "many", "-5", "99999999999999999999"):
        expect(report(COLUMNS=nonsense), report())


def test_a_pipe_gets_every_column():
    text = report()
    titles = [line for line in text.splitlines() if line.startswith("  rank ")]
    assert titles, text
    for title in ("method", "GiB/s", "time", "speed", "95% interval", "verdict", "cpu/GiB", "faults/GiB", "peak", "limit"):
        assert title in titles[0], (title, titles[0])
    report("-o", "a.txt")
    expect(pathlib.Path("a.txt").read_text(encoding="utf-8"), text)


def test_bars_are_as_long_as_their_numbers():
    rows = []
    for line in report().split("\nread random")[0].splitlines():
        match = re.search(r" (\d+\.?\d*)×.* ([█▏▎▍▌▋▊▉▓░]+) ", line)
        if match:
            rows.append((float(match.group(1)), match.group(2)))
    assert len(rows) > 6, rows
    longest = max(rows)
    for ratio, bar in rows:
        wanted = ratio / longest[0] * len(longest[1])
        assert abs(len(bar) - wanted) <= 1.5, (ratio, bar, wanted, longest)


# ---- progress, quiet, verbose ----

def test_progress_is_drawn_on_terminals_only():
    text, code = on_terminal(100, *QUICK[:-4], "--rounds", "60")
    expect(code, 0)
    assert "\r[round " in text and "\x1b[K" in text, text
    for more in ({"TERM": "dumb"},):
        text, code = on_terminal(100, *QUICK, **more)
        assert code == 0 and "\x1b" not in text and "\r" not in text and "[round " in text, text
    done = subprocess.run([WEIR, *QUICK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=True, env=surroundings())
    assert b"\r" not in done.stderr and b"\x1b" not in done.stderr and b"[round " in done.stderr, done.stderr
    assert b"[" not in done.stdout.split(b"\n")[0]


def test_progress_tells_the_precision_reached():
    arguments = ["bench", "-m", "fd/pread", "-m", "map/view", "--size", "4MiB", "--rounds", "120", "--seed", "1"]
    done = subprocess.run([WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240, check=True, env=surroundings(), text=True)
    assert re.search(r"^\[round \d+/120, ±\d+\.\d %, .* left\] read blocks", done.stderr, re.MULTILINE), done.stderr
    done = subprocess.run([WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=240, check=True,
                          env=surroundings(LC_ALL="C"), text=True)
    assert re.search(r"^\[round \d+/120, \+-\d+\.\d %, ", done.stderr, re.MULTILINE) and done.stderr.isascii(), done.stderr


def test_quiet_and_verbose():
    def standard_error(*more):
        done = subprocess.run([WEIR, *QUICK, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, text=True, check=False,
                              env=surroundings())
        return done.returncode, done.stderr
    expect(standard_error("-q"), (0, ""))
    code, text = standard_error("-v")
    expect(code, 0)
    for number in range(1, 9):
        for cell in ("fd/pread", "map/view"):
            assert re.search(rf"^round {number}/8: read-sequential-warm {cell}\S*: [\d.]+ [mun]?s, \d+ pass", text, re.MULTILINE), text
    assert re.search(r"^trying methods: ", text, re.MULTILINE) and "[round" not in text, text
    expect(standard_error("-v", "-q"), (2, "weir: --verbose: goes not with --quiet\nweir: see 'weir help bench'\n"))
    # on a terminal too: lines, nothing is drawn over
    text, code = on_terminal(100, *QUICK, "-v")
    assert code == 0 and "\r[round" not in text and "\nround 8/8: " in text, text


# ---- interrupts ----

def start(*more):
    arguments = ["bench", "-m", "fd/pread", "-m", "map/view", "--size", "4MiB", "--rounds", "100000", "--time", "1h", "--seed", "1", *more]
    process = subprocess.Popen([WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings())
    for line in process.stderr:
        if line.startswith("[burn-in"):
            time.sleep(0.5)
            return process
    raise AssertionError(f"no round was begun: {process.communicate()}")


def test_first_interrupt_writes_everything():
    process = start("-o", "a.jsonl", "-o", "a.json", "-o", "a.csv", "-o", "a.md", "-o", "a.txt")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    expect(process.returncode, 130)
    expect(sorted(os.listdir(".")), ["a.csv", "a.json", "a.jsonl", "a.md", "a.txt"])
    expect(json.loads(pathlib.Path("a.json").read_text())["interrupted"], True)
    expect(pathlib.Path("a.txt").read_text(encoding="utf-8"), out)
    lines = [json.loads(line) for line in pathlib.Path("a.jsonl").read_text().splitlines()]
    expect((lines[0]["type"], lines[-1]["type"], lines[-1]["interrupted"]), ("header", "trailer", True))
    assert all("partial" not in line["flags"] for line in lines if line["type"] == "sample"), "the sample was not finished"


def test_second_interrupt_aborts():
    """While a sample takes seconds: the second one does not wait for it."""
    pathlib.Path("slow").write_text("#!/bin/sh\nsleep 20\ncat \"$1\" >/dev/null\n")
    os.chmod("slow", 0o755)
    process = subprocess.Popen([WEIR, "bench", "--exec", "./slow {}", "-m", "fd/pread", "--size", "1MiB", "--rounds", "5", "-o", "a.jsonl"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings())
    for line in process.stderr:
        if line.startswith("[trying methods"):
            break
    time.sleep(1)
    began = time.monotonic()
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    process.communicate(timeout=60)
    expect(process.returncode, 130)
    assert time.monotonic() - began < 15, "it waited for the sample"
    for _ in range(50):
        if not any(name.startswith(".weir-") for name in os.listdir(".")):
            break
        time.sleep(0.1)
    expect(sorted(name for name in os.listdir(".") if name != "a.jsonl"), ["slow"])


# ---- where nothing can be written ----

def test_closed_pipe():
    for arguments in (["report", RUN], ["report", RUN, "--format", "jsonl"], ["list", "suites"], ["help", "bench"], ["plan"], ["__man", "weir"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([WEIR, *arguments], stdout=writer, stderr=subprocess.PIPE, timeout=120, check=False, env=surroundings())
        os.close(writer)
        expect((arguments, done.returncode, done.stderr), (arguments, 2, b"weir: standard output: Broken pipe\n"))
    # `weir report run.jsonl | head -1` in a shell
    done = subprocess.run(["sh", "-c", f"'{WEIR}' report '{RUN}' | head -n 1"], stdout=subprocess.PIPE, timeout=120, check=True, env=surroundings())
    assert done.stdout.startswith(b"weir "), done.stdout


def test_full_device():
    for arguments in (["report", RUN], ["report", RUN, "--format", "json"], ["list", "suites"], ["--help"], ["__completion", "bash"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([WEIR, *arguments], stdout=full, stderr=subprocess.PIPE, timeout=120, check=False, env=surroundings())
        expect((arguments, done.returncode, done.stderr), (arguments, 2, b"weir: standard output: No space left on device\n"))


def test_full_disk():
    os.mkdir("small")
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "small", "small"], stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skip("no small file system can be mounted here")
    try:
        pathlib.Path("small/a.json").write_text("old")
        pathlib.Path("small/fill").write_bytes(bytes(40_000))
        done = subprocess.run([WEIR, "report", RUN, "-o", "small/a.json", "-o", "b.json"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=120, check=False, env=surroundings())
        expect((done.returncode, done.stderr), (2, b"weir: small/a.json: No space left on device\n"))
        expect(pathlib.Path("small/a.json").read_text(), "old")
        expect(sorted(os.listdir("small")), ["a.json", "fill"])
        json.loads(pathlib.Path("b.json").read_text())  # the other one is written
        done = subprocess.run([WEIR, *QUICK, "--dir", "small"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False, text=True,
                              env=surroundings())
        expect((done.returncode, done.stdout), (2, ""))
        assert "small" in done.stderr and "free" in done.stderr, done.stderr
        expect(sorted(os.listdir("small")), ["a.json", "fill"])
    finally:
        subprocess.run(["umount", "small"], check=False)


# ---- typing mistakes ----

def test_typing_mistakes_get_the_right_hint():
    for arguments, hint in ((["bnech"], "bench"), (["reprot"], "report"), (["help", "raks"], "ranks"), (["bench", "--cahce", "warm"], "--cache"),
                            (["bench", "--access", "randm"], "random"), (["bench", "-m", "fd/praed"], "fd/pread"), (["bench", "-m", "pread"], "fd/pread"),
                            (["bench", "-m", "fd/pread[blokc=4k]"], "block"), (["bench", "-m", "fd/pread[block=64kib]"], "64KiB"),
                            (["bench", "--suite", "blokcs"], "blocks"), (["bench", "--size", "64mib"], "64MiB"), (["bench", "--size", "4gb"], "4GiB"),
                            (["bench", "--request", "4 KiB"], "4KiB"), (["bench", "--memory", "1GIB"], "1GiB"), (["bench", "--size", "10MBytes"], "10MiB"),
                            (["report", RUN, "--format", "jsno"], "json"), (["bench", "--overlay", "studye"], "study-e"), (["list", "suits"], "suites"),
                            (["claims", "C1x"], None), (["bench", "--size", "big"], None), (["bench", "--size", "64Q"], None), (["frobnicate"], None)):
        done = subprocess.run([WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120, check=False, env=surroundings())
        expect((arguments, done.returncode, done.stdout), (arguments, 2, ""))
        first = done.stderr.split("\n")[0]
        found = re.findall(r"\(did you mean '(.*)'\?\)$", first)
        assert found == ([hint] if hint else []) or (hint is None and arguments[0] == "claims"), (arguments, first)


sys.exit(run_all(globals()))
