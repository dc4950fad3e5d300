#!/usr/bin/env python3
"""What weir and libweir give beside others: scripts/peers.py BUILD [--rounds N] [--list] [NAME...]

Rows of one `run` are one `weir bench` with the peers among the contenders (peers/*.c, or whole programs), so that the same
rounds, pairs and intervals serve. NAME selects rows by a part of their name. Prints a table and writes BUILD/peers.json:
[{task, ours, peer, quantity, at_least, speed_ratio: {median, low, high}, limit_percent, n, passes}].

A ratio above 1 is in our favour. A tie passes when the interval reaches 1.0 with a median of 0.97 or more, or its low end is
0.95 or more; other rows when the median reaches what is asked. Of several peers the one that is hardest to beat is shown, and
all have to be passed. `limit` is our speed as a share of what memory allows here, where the run knows it. What is not
installed or cannot run here is told and does not count as passed. Exit 1 when a row fails. Takes about twenty minutes and 6 GiB
of space in BUILD, and needs a machine that does nothing else; `pair` alone, the twelve uses that fio and weir have to agree on,
takes about five of them.
"""
import collections
import json
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile

TIE = "tie"
ROUNDS = 12
PLUGINS = {"fio": "fio", "weir/null": "fio", "hand": "hand", "glib": "glib", "ifstream": "ifstream", "library": "library",
           "copies": "copies"}

# ---- files that peers read, from a seed ----


def text_file(path, size, shortest, longest):
    """Lines of letters, LF at the end of each, `size` bytes in all; a piece of 4 MiB is repeated."""
    source = random.Random(66)
    letters = "".join(source.choices("abcdefghijklmnopqrstuvwxyz     ,.0123456789", k=1 << 16))
    lines, total = [], 0
    while total < 4 << 20:
        length = source.randint(shortest, longest)
        at = source.randrange(len(letters) - length)
        lines.append(letters[at:at + length])
        total += length + 1
    piece = ("\n".join(lines) + "\n").encode()
    with open(path, "wb") as out:
        while out.tell() + len(piece) <= size:
            out.write(piece)
        if out.tell() < size:
            out.write(piece[:size - out.tell() - 1] + b"\n")


def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def record_file(path, count):
    """A 32-bit count; then each record: a text with a varint length, bytes with a 32-bit length. About 3.2 KB each."""
    source = random.Random(1400)
    with open(path, "wb") as out:
        out.write(count.to_bytes(4, "little"))
        for _ in range(count):
            name = source.randbytes(source.randint(20, 300)).hex().encode()[:source.randint(20, 300)]
            body = source.randbytes(source.randint(1000, 4900))
            out.write(varint(len(name)) + name + len(body).to_bytes(4, "little") + body)


FILES = {
    "lines-66": lambda path: text_file(path, 64_000_000, 40, 90),
    "lines-7": lambda path: text_file(path, 24_000_000, 1, 13), # 7 bytes on average
    "records": lambda path: record_file(path, 1400),
    "text-500": lambda path: text_file(path, 500_000_000, 40, 90),
}

# ---- the rows ----

# options of the bench; the file that is read, or None for one that weir makes; programs: NAME=COMMAND; rounds
Run = collections.namedtuple("Run", "options file programs rounds", defaults=(None, (), ROUNDS))
# ours against each of `peers`; asked: [(quantity, what is asked)]
Row = collections.namedtuple("Row", "run ours peers asked")

RANDOM_WARM = ["--size", "64MiB", "--request", "4KiB", "--access", "random"]
RANDOM_COLD = ["--size", "256MiB", "--request", "4KiB", "--access", "random", "--coverage", "50%", "--cache", "cold"]
WHOLE = ["--task", "whole"]
# Of one piece of work by fio and by weir. The pages of a file that is overwritten are clean when a sample begins, and fio counts
# in milliseconds: so one long pass. The device's writes go past the cache.
PAIR_WARM = ["--size", "64MiB", "--cache", "warm"]
PAIR_COLD = ["--size", "256MiB", "--cache", "cold"]
PAIR_WRITE = ["--direction", "write", "--target", "overwrite", "--durability", "none"]
SEQUENTIAL, RANDOM = ["--request", "128KiB"], ["--request", "4KiB", "--access", "random"]
FIO_32, FIO_32_TUNED = "fio/io_uring[depth=32,direct=yes]", "fio/io_uring[depth=32,direct=yes,tuned=yes]"
RUNS = {
    "null": Run(["--size", "64MiB", "--request", "4KiB"]),
    "null latency": Run(["--size", "64MiB", "--request", "4KiB", "--latency"]),
    "pread": Run(RANDOM_WARM),
    "mmap": Run(RANDOM_WARM),
    "ring": Run(RANDOM_WARM),
    "direct 1": Run(["--size", "256MiB", "--request", "4KiB", "--access", "random", "--coverage", "10%", "--cache", "cold"]),
    "direct 32": Run(RANDOM_COLD),
    "direct sequential": Run(["--size", "256MiB", "--request", "1MiB", "--cache", "cold"]),
    "whole 0.66": Run([*WHOLE, "--size", "660kB"]),
    "whole 10": Run([*WHOLE, "--size", "10MB"]),
    "whole 50": Run([*WHOLE, "--size", "50MB"]),
    "whole 1024": Run([*WHOLE, "--size", "1GiB"]),
    "view": Run([*WHOLE, "--size", "50MB", "--consumer", "touch"]),
    "blocks": Run(["--size", "256MiB", "--request", "256KiB"]),
    "lines 66": Run(WHOLE, "lines-66"),
    "lines 7": Run(WHOLE, "lines-7"),
    "records": Run(WHOLE, "records"),
    "count": Run(WHOLE, "text-500", ("wc=wc -l {}", "one=COUNT 1 {}", "two=COUNT 2 {}", "map=COUNT 1 {} mapped")),
    "cold": Run(["--size", "1GiB", "--request", "1MiB", "--cache", "cold"], None,
                ("dd=dd if={} of=/dev/null bs=1M status=none",
                 "dd-direct=dd if={} of=/dev/null bs=1M iflag=direct status=none"), 10),
    "pair read sequential": Run([*PAIR_WARM, *SEQUENTIAL]),
    "pair read random": Run([*PAIR_WARM, *RANDOM]),
    "pair write sequential": Run([*PAIR_WRITE, "--size", "256MiB", "--cache", "warm", *SEQUENTIAL]),
    "pair write random": Run([*PAIR_WRITE, "--size", "256MiB", "--cache", "warm", *RANDOM, "--coverage", "50%"]),
    "pair read sequential direct": Run([*PAIR_COLD, *SEQUENTIAL]),
    "pair read random direct": Run([*PAIR_COLD, *RANDOM, "--coverage", "25%"]),
    "pair write sequential direct": Run([*PAIR_WRITE, *PAIR_COLD, *SEQUENTIAL]),
    "pair write random direct": Run([*PAIR_WRITE, *PAIR_COLD, *RANDOM, "--coverage", "25%"]),
    "copy": Run([*WHOLE, "--size", "1GiB"], None, (), 8),
    # Four times 1 GiB would fill what the kernel lets be dirty here, and the device would be measured.
    "copy 4": Run([*WHOLE, "--size", "256MiB"], None, (), 10),
}
# fio's run time holds neither its opening nor its closing of the file; so ours is that of the transfers here.
LIKE = [("transfer", TIE)]
ROWS = {
    "harness, null, batch-timed": Row("null", "weir/null", ["fio/null"], [("time", 2.5)]),
    "harness, null, with latency": Row("null latency", "weir/null", ["fio/null"], [("time", 1.25)]),
    "cached 4 KiB random pread": Row("pread", "fd/pread", ["fio/psync"], [("time", TIE), ("cpu", TIE)]),
    "cached 4 KiB random mmap": Row("mmap", "map/copy", ["fio/mmap"], [("time", TIE), ("cpu", TIE)]),
    "cached 4 KiB random io_uring, depth 1": Row("ring", "ring/plain[depth=1]", ["fio/io_uring[depth=1]"],
                                                 [("time", TIE), ("cpu", TIE)]),
    "4 KiB random direct, depth 1": Row("direct 1", "ring/direct[depth=1]", ["fio/io_uring[depth=1,direct=yes]"],
                                        [("time", TIE), ("cpu", TIE)]),
    "4 KiB random direct, depth 32": Row("direct 32", "ring/direct[depth=32]", [FIO_32], [("time", TIE), ("cpu", 1 / 0.7)]),
    "4 KiB random direct, depth 32, fio tuned": Row("direct 32", "ring/direct[depth=32]", [FIO_32_TUNED],
                                                    [("time", TIE), ("cpu", TIE)]),
    "1 MiB sequential direct, depth 8": Row("direct sequential", "ring/direct[depth=8]",
                                            ["fio/io_uring[depth=8,direct=yes]"], [("time", TIE)]),
    "pair 1: psync, read, sequential, depth 1": Row("pair read sequential", "fd/pread", ["fio/psync"], LIKE),
    "pair 2: psync, write, random, depth 1": Row("pair write random", "fd/pwrite", ["fio/psync"], LIKE),
    "pair 3: mmap, read, random, depth 1": Row("pair read random", "map/copy", ["fio/mmap"], LIKE),
    "pair 4: mmap, write, sequential, depth 1": Row("pair write sequential", "map/write", ["fio/mmap"], LIKE),
    "pair 5: io_uring, read, random, depth 1": Row("pair read random", "ring/plain[depth=1]", ["fio/io_uring[depth=1]"],
                                                   LIKE),
    "pair 6: io_uring, write, sequential, depth 32": Row("pair write sequential", "ring/plain[depth=32]",
                                                         ["fio/io_uring[depth=32]"], LIKE),
    "pair 7: io_uring fixed, read, sequential, depth 32": Row("pair read sequential", "ring/fixed[depth=32]",
                                                              ["fio/io_uring[depth=32,tuned=registered]"], LIKE),
    "pair 8: io_uring fixed, write, random, depth 1": Row("pair write random", "ring/fixed[depth=1]",
                                                          ["fio/io_uring[depth=1,tuned=registered]"], LIKE),
    "pair 9: io_uring direct, read, random, depth 32": Row("pair read random direct", "ring/direct[depth=32]",
                                                           ["fio/io_uring[depth=32,direct=yes,tuned=registered]"],
                                                           LIKE),
    "pair 10: io_uring direct, write, sequential, depth 1": Row("pair write sequential direct", "ring/direct[depth=1]",
                                                                ["fio/io_uring[depth=1,direct=yes,tuned=registered]"],
                                                                LIKE),
    "pair 11: libaio, read, sequential, depth 1": Row("pair read sequential direct", "aio/libaio[depth=1]",
                                                      ["fio/libaio[depth=1,direct=yes]"], LIKE),
    "pair 12: libaio, write, random, depth 32": Row("pair write random direct", "aio/libaio[depth=32]",
                                                    ["fio/libaio[depth=32,direct=yes]"], LIKE),
    "library: whole file 0.66 MB, fresh memory": Row("whole 0.66", "weir/read-file[buffer=fresh]", ["hand/malloc-fread"],
                                                     [("time", TIE)]),
    "library: whole file 10 MB, fresh memory": Row("whole 10", "weir/read-file[buffer=fresh]", ["hand/malloc-fread"],
                                                   [("time", 3.0)]),
    "library: whole file 50 MB, fresh memory": Row("whole 50", "weir/read-file[buffer=fresh]", ["hand/malloc-fread"],
                                                   [("time", 3.0)]),
    "library: whole file 50 MB, GLib": Row("whole 50", "weir/read-file[buffer=fresh]", ["glib/get-contents"], [("time", 1.0)]),
    "library: whole file 1 GiB, fresh memory": Row("whole 1024", "weir/read-file[buffer=fresh]", ["hand/malloc-fread"],
                                                   [("time", 4.5)]),
    "library: whole file 10 MB, memory used again": Row("whole 10", "weir/read-file[buffer=reused]",
                                                        ["hand/malloc-fread[memory=heap]"], [("time", TIE)]),
    "library: view of 50 MB, looked at": Row("view", "weir/view", ["hand/mmap"], [("time", TIE)]),
    "library: block stream 256 KiB": Row("blocks", "weir/stream", ["hand/read-loop"], [("time", TIE)]),
    "library: block stream 256 KiB, C++": Row("blocks", "weir/stream", ["ifstream/read"], [("time", TIE)]),
    "library: lines of 66 bytes, batch": Row("lines 66", "library/lines-batch", ["hand/getline"], [("time", 3.2)]),
    "library: lines of 66 bytes, next": Row("lines 66", "library/lines-next", ["hand/getline"], [("time", 3.2)]),
    "library: lines of 66 bytes, C++": Row("lines 66", "library/lines-next", ["ifstream/getline"], [("time", 1.0)]),
    "library: lines of 66 bytes, batch, mapped": Row("lines 66", "library/lines-batch-mapped", ["hand/getline"],
                                                     [("time", 3.2)]),
    # Reading copies each byte once, which is a third of the time of short lines: without it batches reach 13.
    "library: lines of 7 bytes, batch": Row("lines 7", "library/lines-batch", ["hand/getline"], [("time", 11.0)]),
    "library: lines of 7 bytes, next": Row("lines 7", "library/lines-next", ["hand/getline"], [("time", 10.0)]),
    "library: lines of 7 bytes, batch, mapped": Row("lines 7", "library/lines-batch-mapped", ["hand/getline"],
                                                    [("time", 13.0)]),
    "library: lines of 7 bytes, next, mapped": Row("lines 7", "library/lines-next-mapped", ["hand/getline"],
                                                   [("time", 10.0)]),
    "library: lines of 7 bytes, C++": Row("lines 7", "library/lines-next", ["ifstream/getline"], [("time", 1.0)]),
    "library: packed records": Row("records", "library/records", ["hand/fread-fields"], [("time", 2.0)]),
    # wc copies as well, and one thread that reads cannot copy faster than it
    "library: count lines, 500 MB, one thread": Row("count", "exec/one", ["exec/wc"], [("time", 1.0)]),
    "library: count lines, 500 MB, one thread, mapped": Row("count", "exec/map", ["exec/wc"], [("time", 1.4)]),
    "library: count lines, 500 MB, two threads": Row("count", "exec/two", ["exec/wc"], [("time", 1.8)]),
    "library: 4 KiB random direct, depth 32": Row("direct 32", "weir/queue-direct[depth=32,queue=opened]", [FIO_32],
                                                  [("time", TIE), ("cpu", 1 / 0.7)]),
    "library: 4 KiB random direct, depth 32, fio tuned": Row("direct 32", "weir/queue-direct[depth=32,queue=opened]",
                                                             [FIO_32_TUNED], [("time", TIE), ("cpu", TIE)]),
    "library: sequential cold, 1 GiB": Row("cold", "weir/stream",
                                           ["exec/dd", "exec/dd-direct", "fio/psync", "fio/io_uring[depth=8,direct=yes]"],
                                           [("time", TIE)]),
    "library: copy 1 GiB": Row("copy", "copies/weir", ["copies/cp"], [("time", TIE)]),
    "library: copy 256 MiB to 4": Row("copy 4", "copies/weir[to=4]", ["copies/cp[to=4]"], [("time", 1.5)]),
}

# ---- running and reading ----


class Missing(Exception):
    """A peer is not there."""


def plugin_of(contender):
    name = contender.split("[")[0]
    return PLUGINS.get(name) or PLUGINS.get(name.split("/")[0])


def contenders_of(rows):
    names = []
    for row in rows:
        names += [name for name in [*row.peers, row.ours] if name not in names]
    return names


def plugins_of(build, contenders):
    plugins = sorted({plugin_of(name) for name in contenders} - {None})
    for plugin in plugins:
        if not (build / "peers" / f"{plugin}.so").exists():
            raise Missing(f"peers/{plugin}.so was not built: what it needs is not installed")
    return [str(build / "peers" / f"{plugin}.so") for plugin in plugins]


def bench(build, key, rows, rounds, folder):
    """One run with all contenders of these rows; the path of its run file."""
    wanted, out = RUNS[key], str(folder / f"{key.replace(' ', '-')}.jsonl")
    contenders = contenders_of(rows)
    command = [str(build / "weir"), "bench", "-q", "--rounds", str(rounds or wanted.rounds), "--dir", str(folder), "-o", out]
    for plugin in plugins_of(build, contenders):
        command += ["--plugin", plugin]
    for program in wanted.programs:
        command += ["--exec", program.replace("COUNT", shlex.quote(str(build / "peers" / "count")))]
    for contender in contenders:
        command += ["-m", contender]
    command += ["--baseline", contenders[0], *wanted.options]
    if "--consumer" not in wanted.options:
        command += ["--consumer", "none"]
    if wanted.file:
        command = [word for at, word in enumerate(command) if word != "--dir" and command[at - 1] != "--dir"]
        path = folder / wanted.file
        if not path.exists():
            FILES[wanted.file](path)
        command.append(str(path))
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1): # 1: a contender failed; its row says why
        raise Missing(done.stderr.strip() or f"exit {done.returncode}")
    return out


def group_of(build, run, quantity):
    text = subprocess.run([str(build / "weir"), "report", run, "--rank-by", quantity, "--format", "json"],
                          stdout=subprocess.PIPE).stdout
    return json.loads(text)["groups"][0]


def find(group, name):
    """Where this contender stands among the cells."""
    for at, cell in enumerate(group["cells"]):
        if cell["id"] == name:
            if cell["status"] != "ok":
                raise Missing(f"{name}: {cell['reason'] or 'not measured'}")
            return at
    raise Missing(f"{name}: not among {', '.join(cell['id'] for cell in group['cells'])}")


def passes(found, wanted):
    if found is None or found["low"] is None:
        return False
    if wanted == TIE:
        return (found["high"] >= 1 and found["median"] >= 0.97) or found["low"] >= 0.95
    return found["median"] >= wanted


def compare(build, row, run, quantity, wanted):
    """The peer that is hardest to beat, and whether all were."""
    group = group_of(build, run, quantity)
    ours = find(group, row.ours)
    pairs = {peer: group["pairs"][find(group, peer)][ours] for peer in row.peers}
    peer = min(pairs, key=lambda name: pairs[name]["median"] if pairs[name] else 0)
    cell = group["cells"][ours]
    return {"peer": peer, "speed_ratio": pairs[peer] or {"median": None, "low": None, "high": None}, "n": cell["n"],
            "limit_percent": cell["limit_percent"], "passes": all(passes(found, wanted) for found in pairs.values())}


def print_row(task, quantity, wanted, found):
    ratio = found["speed_ratio"]
    if ratio["median"] is None:
        print(f"{task:50} {quantity:8} no pairs", flush=True)
        return
    interval = f"{ratio['low']:.2f} ... {ratio['high']:.2f}" if ratio["low"] is not None else "too few rounds"
    asked = wanted if wanted == TIE else f"{wanted:.2f}"
    limit = f"{found['limit_percent']:.0f} %" if found["limit_percent"] else ""
    against = f" {found['peer']}"
    print(f"{task:50} {quantity:8} {ratio['median']:6.2f}x  {interval:16} {asked:>6} {limit:>6}"
          f" {'' if found['passes'] else 'FAILS'}{against}", flush=True)


def measure(build, key, tasks, rounds, folder):
    """The rows of one run, printed as they come."""
    rows, problem, run = [], None, None
    try:
        run = bench(build, key, [ROWS[task] for task in tasks], rounds, folder)
    except Missing as missing:
        problem = str(missing)
    for task in tasks:
        row = ROWS[task]
        for quantity, wanted in row.asked:
            entry = {"task": task, "ours": row.ours, "quantity": quantity,
                     "at_least": wanted if wanted == TIE else f"{wanted:.2f}"}
            try:
                if problem:
                    raise Missing(problem)
                found = compare(build, row, run, quantity, wanted)
                print_row(task, quantity, wanted, found)
            except Missing as missing:
                print(f"{task:50} {quantity:8} not measured: {missing}", flush=True)
                found = {"peer": ", ".join(row.peers), "speed_ratio": None, "n": 0, "limit_percent": None, "passes": False,
                         "reason": str(missing)}
            rows.append({**entry, **found})
    return rows


def choose(names):
    """Runs and their rows, in order. Without GLib or C++ the other rows of a run are still wanted."""
    tasks = [task for task in ROWS if not names or any(name.lower() in task.lower() for name in names)]
    for name in names:
        if not any(name.lower() in task.lower() for task in ROWS):
            sys.exit(f"peers: no row has '{name}' in its name; --list shows them")
    runs = {}
    for task in tasks:
        runs.setdefault(ROWS[task].run, []).append(task)
    return runs


def without_missing(build, tasks):
    """Rows whose plugin was not built must not take the others of their run with them."""
    there, gone = [], []
    for task in tasks:
        try:
            plugins_of(build, contenders_of([ROWS[task]]))
            there.append(task)
        except Missing:
            gone.append(task)
    return [part for part in (there, gone) if part]


def main():
    arguments = sys.argv[1:]
    if "--list" in arguments:
        print("\n".join(ROWS))
        return 0
    rounds = None
    if "--rounds" in arguments:
        at = arguments.index("--rounds")
        rounds = int(arguments[at + 1])
        del arguments[at:at + 2]
    if not arguments:
        sys.exit(__doc__)
    build, names = pathlib.Path(arguments[0]).resolve(), arguments[1:]
    rows = []
    print(f"{'task':50} {'by':8} {'ratio':>7}  {'95% interval':16} {'asked':>6} {'limit':>6}  against")
    with tempfile.TemporaryDirectory(prefix="peers-", dir=build) as folder:
        for key, tasks in choose(names).items():
            for part in without_missing(build, tasks):
                rows += measure(build, key, part, rounds, pathlib.Path(folder))
    (build / "peers.json").write_text(json.dumps(rows, indent=2) + "\n")
    passed = sum(row["passes"] for row in rows)
    absent = sum("reason" in row for row in rows)
    told = f", {absent} could not be measured" if absent else ""
    print(f"{passed} of {len(rows)} rows pass{told}; {build.name}/peers.json has them")
    return 0 if passed + absent == len(rows) and passed else 1


if __name__ == "__main__":
    sys.exit(main())
