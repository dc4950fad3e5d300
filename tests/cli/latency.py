#!/usr/bin/env python3
"""Latency, rates and limits through the whole program: latency.py WEIR

Every method is to time every request; who is given a rate keeps it or is late; limits are measured and named, or a reason is.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import Skip, expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())


def weir(*arguments, code=0):
    done = subprocess.run([WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          text=True, timeout=280)
    if done.returncode != code:
        raise AssertionError(f"exit {done.returncode}, not {code}: {done.stderr}{done.stdout}")
    return done.stdout if code == 0 else done.stderr


def bench(*arguments):
    return json.loads(weir("bench", "-q", "--seed", "1", "--format", "json", *arguments))


def cells(document):
    return {cell["id"]: cell for group in document["groups"] for cell in group["cells"]}


def test_every_method_times_every_request():
    for words in (["--direction", "read"], ["--direction", "write", "--durability", "none"], ["--direction", "mixed"]):
        document = bench("--latency", "--request", "16KiB", "--size", "1MiB", "--rounds", "3", *words)
        group = document["groups"][0]
        timed = 0
        for cell in group["cells"]:
            if cell["status"] != "ok":
                continue
            latency = cell["latency_ns"]
            if latency is None:
                raise AssertionError(f"{cell['id']} was not timed")
            expect((cell["id"], latency["operations_per_sample"]), (cell["id"], 64 * group["passes"]))
            expect(sum(count for _, _, count in latency["histogram"]), cell["n"] * 64 * group["passes"])
            expect(sum(latency["operations_by_log2"].values()), cell["n"] * 64 * group["passes"])
            assert all(low < below for low, below, _ in latency["histogram"]), latency
            timed += 1
        assert timed > 3, timed


def test_percentiles_rise_and_too_few_operations_give_none():
    document = bench("--latency", "--request", "4KiB", "--size", "16MiB", "--rounds", "6", "-m", "fd/pread")
    latency = document["groups"][0]["cells"][0]["latency_ns"]
    operations = latency["operations_per_sample"]
    last = 0
    for name, least in (("p50", 20), ("p90", 100), ("p99", 1000), ("p99.9", 10000), ("p99.99", 100000)):
        found = latency["percentiles"][name]
        expect((name, found is not None), (name, operations >= least))
        if found:
            assert found["low"] <= found["median"] <= found["high"] and found["median"] >= last, latency
            last = found["median"]


def by_octaves(line):
    """A line as weir wrote it before there were finer slots."""
    sample = json.loads(line)
    if "latency_ns" in sample:
        octaves = {}
        for low, count in sample.pop("latency_ns").items():
            octave = str(max(int(low).bit_length() - 1, 0))
            octaves[octave] = octaves.get(octave, 0) + count
        sample["latency"] = octaves
    return json.dumps(sample)


def test_octaves_of_older_files_are_read():
    weir("bench", "-q", "--seed", "1", "--latency", "--size", "1MiB", "--rounds", "3", "-m", "fd/pread", "-o", "new.jsonl")
    lines = pathlib.Path("new.jsonl").read_text().splitlines()
    pathlib.Path("old.jsonl").write_text("".join(by_octaves(line) + "\n" for line in lines))
    new = json.loads(weir("report", "new.jsonl", "--format", "json"))["groups"][0]["cells"][0]["latency_ns"]
    old = json.loads(weir("report", "old.jsonl", "--format", "json"))["groups"][0]["cells"][0]["latency_ns"]
    expect(old["operations_by_log2"], new["operations_by_log2"])
    expect((old["percentiles"]["p50"], old["histogram"]), (None, []))
    assert "as older weirs did: no percentiles" in weir("report", "old.jsonl")
    expect(weir("report", "new.jsonl"), weir("report", "new.jsonl"))


def check_rate(cell):
    if cell["status"] == "unavailable" and "rate" in (cell["reason"] or ""):
        return "not paced"
    if cell["status"] != "ok":
        return cell["status"]
    # The last of 64 requests is due 63/8000 s after the first; no pass can be over before.
    if cell["elapsed_ns"]["median"] < 63 / 8000 * 1e9:
        raise AssertionError(f"{cell['id']} did not keep to the rate: {cell['elapsed_ns']}")
    assert 0 <= cell["latency_ns"]["late_share"] <= 1, cell["latency_ns"]
    return "ok"


def test_a_rate_is_kept_by_every_method_or_its_row_says_why_not():
    for words, paced in ((["--direction", "read"], 15), (["--direction", "write", "--durability", "none"], 8), (["--direction", "mixed"], 4)):
        document = bench("--rate", "8000/s", "--request", "4KiB", "--size", "256KiB", "--rounds", "2", "-m", "*", *words)
        group = document["groups"][0]
        expect(group["demand"]["rate_per_s"], 8000)
        assert "8000 requests/s" in group["title"], group["title"]
        outcomes = [check_rate(cell) for cell in group["cells"]]
        assert outcomes.count("failed") == 0 and outcomes.count("ok") >= paced, list(zip([cell["id"] for cell in group["cells"]], outcomes))
        if words[1] == "read":
            assert outcomes.count("not paced") > 0 # weir/stream reads ahead


def test_who_cannot_keep_up_is_late():
    document = bench("--rate", "100M", "--request", "4KiB", "--size", "1MiB", "--rounds", "3", "--threads", "1,2", "-m", "fd/pread")
    for cell in document["groups"][0]["cells"]:
        assert cell["latency_ns"]["late_share"] > 0.9, cell["latency_ns"]
        # In a queue that grows the last ones wait longest.
        percentiles = cell["latency_ns"]["percentiles"]
        assert percentiles["p90"]["median"] > percentiles["p50"]["median"], cell["latency_ns"]


def test_rates_that_are_none():
    for words in (["--rate", "0"], ["--rate", "x"], ["--rate", "10KiB"], ["--rate", "5", "--task", "whole"]):
        assert "--rate" in weir("bench", *words, code=2)


NAMES = {"memory copy", "scan", "device sequential", "device random", "device write", "sync"}


def devices_of(document):
    expect(len(document["floors"]["devices"]), 1)
    if document["environment"].get("place.0.ram_backed"):
        raise Skip("this place lies in memory")
    return document["floors"]["devices"][0]


def test_limits_of_readers():
    document = bench("--cache", "cold", "--access", "random", "--request", "4KiB", "--size", "8MiB", "--coverage", "10%",
                     "--rounds", "3", "-m", "direct/pread", "-m", "ring/direct[depth=32]", "-o", "run.jsonl")
    device = devices_of(document)
    if device["reason"]:
        raise Skip(device["reason"])
    assert device["random_reads_per_s"] > 0 and device["sequential_read_bytes_per_s"] > 0, device
    expect((device["sync_ns"], device["sequential_write_bytes_per_s"]), (None, None)) # nobody writes
    for cell in document["groups"][0]["cells"]:
        if cell["status"] == "ok":
            assert cell["limit"] in NAMES and cell["limit_percent"] > 0, cell
    text = weir("report", "run.jsonl")
    assert "device random" in text, text
    head, *rows = weir("report", "run.jsonl", "--format", "csv").splitlines()
    assert head.endswith(",limit,limit_percent") or ",limit,limit_percent," in head, head


def test_limits_of_writers():
    document = bench("--direction", "write", "--durability", "each", "--request", "4KiB", "--size", "128KiB", "--rounds", "3",
                     "-m", "fd/pwrite")
    device = devices_of(document)
    assert device["sync_ns"] > 0, device
    expect(device["random_reads_per_s"], None) # nobody reads
    for cell in document["groups"][0]["cells"]:
        assert cell["limit"] in ("sync", "device write") and cell["limit_percent"] > 0, cell


def test_what_needs_no_device_measures_none():
    document = bench("--size", "1MiB", "--rounds", "3", "-m", "fd/pread")
    expect(document["floors"]["devices"], [])


sys.exit(run_all(globals()))
