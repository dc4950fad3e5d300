#!/usr/bin/env python3
"""What weir costs and gives beside fio: scripts/peers.py BUILD [--rounds N] [NAME...]

Every row is one `weir bench` with fio among the contenders (peers/fio.c), so that the same rounds, pairs and intervals serve.
Prints a table and writes BUILD/peers.json: [{task, ours, peer, quantity, at_least, speed_ratio: {median, low, high}, n,
passes}]. A ratio above 1 is in our favour. Rows of time pass as the speed table says: a tie when the interval reaches 1.0 with
a median of 0.97 or more, or its low end is 0.95 or more; others when the median reaches what is asked. Exit 1 when a row fails.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

TIE = "tie"
# name: options, peer, ours, [(quantity, what is asked)]
ROWS = {
    "harness, null, batch-timed": (
        ["--size", "64MiB", "--request", "4KiB"], "fio/null", "weir/null", [("time", 2.5)]),
    "harness, null, with latency": (
        ["--size", "64MiB", "--request", "4KiB", "--latency"], "fio/null", "weir/null", [("time", 1.25)]),
    "cached 4 KiB random pread": (
        ["--size", "64MiB", "--request", "4KiB", "--access", "random"], "fio/psync", "fd/pread",
        [("time", TIE), ("cpu", TIE)]),
    "cached 4 KiB random mmap": (
        ["--size", "64MiB", "--request", "4KiB", "--access", "random"], "fio/mmap", "map/copy",
        [("time", TIE), ("cpu", TIE)]),
    "cached 4 KiB random io_uring, depth 1": (
        ["--size", "64MiB", "--request", "4KiB", "--access", "random"], "fio/io_uring[depth=1]", "ring/plain[depth=1]",
        [("time", TIE), ("cpu", TIE)]),
    "4 KiB random direct, depth 1": (
        ["--size", "256MiB", "--request", "4KiB", "--access", "random", "--coverage", "10%", "--cache", "cold"],
        "fio/io_uring[depth=1,direct=yes]", "ring/direct[depth=1]", [("time", TIE), ("cpu", TIE)]),
    "4 KiB random direct, depth 32": (
        ["--size", "256MiB", "--request", "4KiB", "--access", "random", "--coverage", "50%", "--cache", "cold"],
        "fio/io_uring[depth=32,direct=yes]", "ring/direct[depth=32]", [("time", TIE), ("cpu", 1 / 0.7)]),
    "4 KiB random direct, depth 32, fio tuned": (
        ["--size", "256MiB", "--request", "4KiB", "--access", "random", "--coverage", "50%", "--cache", "cold"],
        "fio/io_uring[depth=32,direct=yes,tuned=yes]", "ring/direct[depth=32]", [("time", TIE), ("cpu", TIE)]),
    "1 MiB sequential direct, depth 8": (
        ["--size", "256MiB", "--request", "1MiB", "--cache", "cold"],
        "fio/io_uring[depth=8,direct=yes]", "ring/direct[depth=8]", [("time", TIE)]),
}


def bench(build, options, peer, ours, rounds, folder):
    run = str(folder / "run.jsonl")
    subprocess.run([str(build / "weir"), "bench", "-q", "--plugin", str(build / "peers" / "fio.so"), "--consumer", "none",
                    "--rounds", str(rounds), "-m", peer, "-m", ours, "--baseline", peer, "--dir", str(folder), "-o", run,
                    *options], check=True, stdout=subprocess.DEVNULL)
    return run


def ratio(build, run, quantity):
    text = subprocess.run([str(build / "weir"), "report", run, "--rank-by", quantity, "--format", "json"], check=True,
                          stdout=subprocess.PIPE).stdout
    group = json.loads(text)["groups"][0]
    peer, ours = group["cells"][:2]
    for cell in (peer, ours):
        if cell["status"] != "ok":
            return cell["id"] + ": " + (cell["reason"] or "not measured"), 0
    return ours["speed_ratio"], ours["n"]


def passes(found, wanted):
    if wanted == TIE:
        return (found["high"] >= 1 and found["median"] >= 0.97) or found["low"] >= 0.95
    return found["median"] >= wanted


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    arguments = sys.argv[2:]
    rounds = 12
    if "--rounds" in arguments:
        at = arguments.index("--rounds")
        rounds = int(arguments[at + 1])
        del arguments[at:at + 2]
    rows, failed = [], 0
    print(f"{'task':44} {'by':5} {'ratio':>7}  {'95% interval':16} {'asked':>6}")
    with tempfile.TemporaryDirectory(prefix="peers-", dir=build) as folder:
        for task, (options, peer, ours, wishes) in ROWS.items():
            if arguments and task not in arguments:
                continue
            run = bench(build, options, peer, ours, rounds, pathlib.Path(folder))
            for quantity, wanted in wishes:
                found, n = ratio(build, run, quantity)
                good = not isinstance(found, str) and found["low"] is not None and passes(found, wanted)
                failed += not good
                asked = wanted if wanted == TIE else f"{wanted:.2f}"
                if isinstance(found, str):
                    print(f"{task:44} {quantity:5} {found}")
                    found = {"median": None, "low": None, "high": None}
                else:
                    interval = f"{found['low']:.2f} ... {found['high']:.2f}"
                    print(f"{task:44} {quantity:5} {found['median']:6.2f}x  {interval:16} {asked:>6} {'' if good else 'FAILS'}")
                rows.append({"task": task, "ours": ours, "peer": peer, "quantity": quantity, "at_least": asked,
                             "speed_ratio": found, "n": n, "passes": good})
    (build / "peers.json").write_text(json.dumps(rows, indent=2) + "\n")
    print(f"{len(rows) - failed} of {len(rows)} rows pass; {build.name}/peers.json has them")
    return 1 if failed else 0


sys.exit(main())
