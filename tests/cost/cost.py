#!/usr/bin/env python3
"""What methods cost, measured for real: cost.py WEIR

System calls are compared with those that strace counts; the rest with what must be so. No time is judged.
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

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
BENCH = ["bench", "-q", "--seed", "1", "--format", "json"]


def weir(*arguments):
    # the leak checker of a sanitized build cannot work while it is followed itself
    return subprocess.run([WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, check=False, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})


def bench(*arguments):
    done = weir(*BENCH, *arguments)
    expect((done.returncode, done.stderr), (0, ""))
    return json.loads(done.stdout)


def cells(document):
    return {cell["id"]: cell for group in document["groups"] for cell in group["cells"]}


def must_count(document):
    """The document, if calls can be counted here."""
    told = document["environment"]["system_calls"]
    if told != "counted":
        assert re.match("not counted: .+", told), told
        assert all(c["cost"]["system_calls"] is None for c in cells(document).values() if c["cost"])
        raise Skip("system calls: " + told)
    return document


def strace_counts(spec):
    done = weir("list", "--show-calls", spec)
    expect((done.returncode, done.stderr), (0, ""))
    return sum(int(count) for count in re.findall(r"^ +(\d+)  [a-z0-9_]+$", done.stdout, re.MULTILINE))


def can_follow():
    return shutil.which("strace") and subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], stderr=subprocess.PIPE,
                                                     check=False).returncode == 0


READERS = ["fd/pread[block=64KiB]", "fd/read[block=4KiB]", "fd/readv[block=64KiB]", "map/copy[block=64KiB]", "stdio/fread[block=64KiB]",
           "ring/plain[block=64KiB,depth=8]", "ring/fixed[block=64KiB,depth=1]", "direct/pread[block=64KiB]"]


def test_calls_are_those_that_strace_sees():
    if not can_follow():
        raise Skip("strace is not installed, or may not follow")
    arguments = [word for spec in READERS for word in ("-m", spec)]
    document = must_count(bench("--task", "blocks", "--direction", "read", "--access", "sequential", "--size", "1MiB", "--rounds", "1",
                                *arguments))
    compared = 0
    for name, cell in cells(document).items():
        if cell["status"] != "ok":
            continue
        expect((name, int(cell["cost"]["system_calls"])), (name, strace_counts(name)))
        compared += 1
    assert compared >= 5, compared


def test_every_request_is_a_call():
    document = must_count(bench("--task", "blocks", "--size", "4MiB", "--request", "4KiB", "--rounds", "1", "-m", "fd/pread", "--direction", "read",
                                "--access", "sequential,random"))
    for cell in cells(document).values():
        expect(cell["cost"]["system_calls"], 1024 + 2)  # and opening and closing


def test_a_long_pass_is_counted_in_part():
    """32768 requests; only some thousands of them are watched."""
    document = must_count(bench("--task", "blocks", "--size", "8MiB", "--request", "256", "--rounds", "1", "-m", "fd/pread", "--direction", "read",
                                "--access", "sequential"))
    for cell in cells(document).values():
        expect(cell["cost"]["system_calls"], 32768 + 2)


def test_rings_take_fewer_calls():
    document = must_count(bench("--task", "blocks", "--size", "4MiB", "--request", "4KiB", "--rounds", "1", "-m", "fd/pread", "-m",
                                "ring/plain[depth=32]", "--direction", "read", "--access", "random"))
    found = cells(document)
    ring = next(cell for name, cell in found.items() if name.startswith("ring/"))
    if ring["status"] != "ok":
        raise Skip("io_uring: " + ring["reason"])
    assert 1024 / 32 <= ring["cost"]["system_calls"] <= 1024 / 4, ring["cost"]


def test_threads_of_the_harness_do_not_count():
    document = must_count(bench("--task", "blocks", "--size", "4MiB", "--request", "64KiB", "--rounds", "1", "-m", "fd/pread", "--threads", "1,4",
                                "--direction", "read", "--access", "sequential"))
    found = {cell["threads"]: cell["cost"]["system_calls"] for cell in cells(document).values()}
    expect(found[1], 64 + 2)
    expect(found[4], 64 + 8)


def test_writers_are_counted_too():
    document = must_count(bench("--task", "blocks", "--size", "1MiB", "--request", "64KiB", "--rounds", "1", "-m", "fd/pwrite", "--direction", "write",
                                "--access", "sequential", "--durability", "end", "--target", "overwrite,new"))
    for group in document["groups"]:
        more = 6 if group["demand"]["target"] == "new" else 3  # opening, syncing and closing it; of a new one the directory too
        expect((group["id"], group["cells"][0]["cost"]["system_calls"]), (group["id"], 16 + more))


def test_a_new_process_counts_the_same():
    options = ["--task", "blocks", "--size", "1MiB", "--request", "64KiB", "--rounds", "1", "-m", "fd/pread", "--direction", "read", "--access",
               "sequential"]
    for process in ("same", "fresh"):
        for cell in cells(must_count(bench("--process", process, *options))).values():
            expect((process, cell["cost"]["system_calls"]), (process, 16 + 2))


def test_cpu_time_is_told_for_each_byte():
    for cell in cells(bench("--task", "blocks", "--size", "1MiB", "--rounds", "1", "-m", "fd/pread", "--direction", "read")).values():
        cost, size = cell["cost"], 1 << 20
        assert abs(cost["cpu_ns_per_byte"] * size - cost["cpu_ns"]) <= 1e-6 * cost["cpu_ns"] + 1e-3, cost
        assert cost["voluntary_switches"] >= 0 and cost["involuntary_switches"] >= 0, cost


def test_cycles_are_counted_or_the_reason_is_told():
    document = bench("--task", "blocks", "--size", "1MiB", "--rounds", "1", "-m", "fd/pread", "--direction", "read")
    told = document["environment"]["cycles"]
    for cell in cells(document).values():
        if told == "counted":
            assert cell["cost"]["cycles"] > 0 and cell["cost"]["instructions"] > 0, cell["cost"]
        else:
            assert re.match("not counted: .+", told), told
            expect((cell["cost"]["cycles"], cell["cost"]["instructions"]), (None, None))


def test_what_a_cold_read_leaves_in_the_cache():
    size = 4 << 20
    document = bench("--task", "blocks", "--size", str(size), "--cache", "cold", "--rounds", "2", "-m", "fd/pread[block=1MiB]", "-m",
                     "direct/pread[block=1MiB]", "--direction", "read", "--access", "sequential")
    found = {cell["method"]: cell for cell in cells(document).values()}
    if found["fd/pread"]["label"].split("+")[0] not in ("cold", "guest-cold") or found["direct/pread"]["status"] != "ok":
        raise Skip("no cold or no direct reads here: " + found["fd/pread"]["label"])
    expect(found["fd/pread"]["cost"]["cache_growth_bytes"], size)
    expect(found["direct/pread"]["cost"]["cache_growth_bytes"], 0)


def test_ranks_are_by_what_was_asked():
    """A pass into memory of its own needs more of it than one through a small buffer, in every round."""
    group = bench("--task", "whole", "--size", "8MiB", "--rounds", "6", "--rank-by", "memory", "--direction", "read", "-m", "fd/read", "-m",
                  "map/view")["groups"][0]
    order = {cell["method"]: cell for cell in group["cells"]}
    peaks = {name: cell["cost"]["peak_bytes"] for name, cell in order.items()}
    least, most = sorted(peaks, key=peaks.get)
    base, other = (least, most) if group["baseline"].startswith(least) else (most, least)
    ratio = order[other]["speed_ratio"]["median"]
    assert (ratio < 1) == (peaks[other] > peaks[base]) and abs(ratio - peaks[base] / peaks[other]) < 0.2 * ratio, (peaks, ratio)
    group = bench("--task", "blocks", "--size", "8MiB", "--rounds", "6", "--rank-by", "cpu", "--direction", "read", "--access", "sequential", "-m",
                  "fd/pread[block=512]", "-m", "fd/pread[block=1MiB]")["groups"][0]
    many, few = group["cells"]
    assert many["cost"]["cpu_ns"] > few["cost"]["cpu_ns"], "16384 calls cost less than 8"
    expect((group["ranked_by"], group["best_set"]), ("cpu", [few["id"]]))
    expect(few["verdict"], "faster")


def test_the_table_shows_costs_when_asked():
    bench("--task", "blocks", "--size", "1MiB", "--rounds", "1", "-m", "fd/pread", "--direction", "read", "-o", "run.jsonl")
    costs, speed = (weir("report", "run.jsonl", *words).stdout for words in (["--columns", "cost"], []))
    assert "cpu/GiB" in costs and "verdict" not in costs, costs
    assert "verdict" in speed and "calls/GiB" not in speed, speed
    os.remove("run.jsonl")


def test_rounds_are_watched():
    document = bench("--task", "blocks", "--size", "1MiB", "--rounds", "3", "-m", "fd/pread", "--direction", "read", "--access", "sequential",
                     "-o", "run.jsonl", "--wait-quiet=100ms")
    rounds = document["time_line"]
    expect([r["round"] for r in rounds], [0, 1, 2, 3])
    assert all(r["control_ns"][0] > 0 and r["control_ns"][1] > 0 and r["elapsed_ns"] > 0 and r["waited_ns"] > 0 for r in rounds), rounds
    expect(document["machine"]["rounds"], 3)
    lines = [json.loads(line) for line in pathlib.Path("run.jsonl").read_text().splitlines()]
    expect([line["round"] for line in lines if line["type"] == "round"], [0, 1, 2, 3])
    again = json.loads(weir("report", "run.jsonl", "--format", "json").stdout)
    expect(again["time_line"], rounds)
    noisy = sum(bool(r["noisy"]) for r in rounds if r["round"])
    expect(any(w["id"] == "W20" for w in document["warnings"]), noisy > 0)
    os.remove("run.jsonl")


sys.exit(run_all(globals(), leaves_nothing=True))
