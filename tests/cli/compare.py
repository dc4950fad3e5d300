#!/usr/bin/env python3
"""weir compare with run files: compare.py WEIR RUN

Runs are made from RUN by changing what it says, so that the truth is known. Nothing is measured.
"""
import json
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import expect, run_all

WEIR, RUN = (str(pathlib.Path(a).resolve()) for a in sys.argv[1:3])
LINES = [json.loads(line) for line in pathlib.Path(RUN).read_text().splitlines()]
ROUNDS = 20


def weir(*arguments, **settings):
    return subprocess.run([WEIR, "compare", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, text=True,
                          check=False, **settings)


def write(name, seed=1, machine=1.0, slower=None, facts=None, rounds=ROUNDS, fail=None, rank="time"):
    """A run of as many rounds; each cell has a time of its own, and some take longer by a factor."""
    source = random.Random(seed)
    header, trailer = dict(LINES[0]), LINES[-1]
    header["environment"] = {**header["environment"], **(facts or {})}
    header["plan"] = {**header["plan"], "rounds": rounds, "rank_by": rank}
    shapes = [line for line in LINES if line["type"] == "sample" and line["round"] == 1]
    out = [header] + [line for line in LINES if line["type"] in ("floors", "found")]
    for number in range(1, rounds + 1):
        for i, shape in enumerate(shapes):
            own = shape["cell"].removesuffix("#twin")
            time = 1e6 * (1 + cells().index(own) / 10) * machine * (slower or {}).get(own, 1) * source.lognormvariate(0, 0.004)
            sample = {**shape, "round": number, "position": i, "passes": 1, "operations": 8, "bytes": 1048576}
            sample["phases"] = {"open_ns": 100, "run_ns": int(time), "sync_ns": 0, "close_ns": 100}
            if fail == shape["cell"] and number == 3:
                sample.update(status="failed", reason="wrong data: made up")
            out.append(sample)
    pathlib.Path(name).write_text("".join(json.dumps(line) + "\n" for line in out + [trailer]))
    return name


def cells():
    return [line["cell"] for line in LINES if line["type"] == "sample" and line["round"] == 1 and "#twin" not in line["cell"]]


def verdicts(done):
    return {row["cell"]: row["verdict"] for group in json.loads(done.stdout)["groups"] for row in group["cells"]}


def test_nothing_changed_but_the_machine():
    write("a.jsonl", 1)
    write("b.jsonl", 2, machine=1.4)
    done = weir("a.jsonl", "b.jsonl")
    expect((done.returncode, done.stderr), (0, ""))
    assert "the machine as a whole: 4" in done.stdout and "% slower now; taken out of the rows below" in done.stdout, done.stdout
    assert done.stdout.endswith("\n0 regressions, 0 improvements, 3 same, 0 unclear\n"), done.stdout
    done = weir("a.jsonl", "b.jsonl", "--absolute")
    expect(done.returncode, 1)
    assert "3 regressions" in done.stdout and "(--absolute)" in done.stdout, done.stdout


def test_a_regression_is_exit_1_and_an_improvement_is_not():
    worse = cells()[1]
    write("a.jsonl", 1)
    write("b.jsonl", 2, machine=0.8, slower={worse: 1.2})
    done = weir("a.jsonl", "b.jsonl", "--format", "json")
    expect((done.returncode, verdicts(done)[worse], sorted(verdicts(done).values())), (1, "slower", ["same", "same", "slower"]))
    done = weir("b.jsonl", "a.jsonl", "--format", "json")
    expect((done.returncode, verdicts(done)[worse]), (0, "faster"))
    expect(weir("a.jsonl", "b.jsonl", "--margin", "30%").returncode, 0)


def test_both_are_compared_by_what_the_run_now_was_ranked_by():
    write("a.jsonl", 1, rank="memory")
    write("b.jsonl", 2, rank="time")
    document = json.loads(weir("a.jsonl", "b.jsonl", "--format", "json").stdout)
    expect((document["ranked_by"], document["verdicts"]["same"]), ("time", 3))
    expect(json.loads(weir("a.jsonl", "b.jsonl", "--rank-by", "cpu", "--format", "json").stdout)["ranked_by"], "cpu")


def test_too_few_rounds_say_so():
    write("a.jsonl", 1, rounds=3)
    write("b.jsonl", 2, rounds=3, slower={cells()[1]: 2})
    done = weir("a.jsonl", "b.jsonl")
    expect(done.returncode, 0)
    assert "3 and 3 rounds: verdicts on 3 methods need 5 in each run" in done.stdout, done.stdout
    expect(weir("a.jsonl", "b.jsonl", "--strict").returncode, 3)


def test_what_broke_is_a_regression():
    write("a.jsonl", 1)
    write("b.jsonl", 2, fail=cells()[2])
    done = weir("a.jsonl", "b.jsonl")
    expect(done.returncode, 1)
    assert "1 method broke" in done.stdout and "wrong now: wrong data: made up" in done.stdout, done.stdout
    expect(weir("b.jsonl", "a.jsonl").returncode, 0)


def test_other_machines_are_refused_unless_told():
    write("a.jsonl", 1)
    for fact, value in (("kernel", "9.9"), ("place.0.file_system", "xfs"), ("processor", "another"), ("cpus", 64)):
        write("b.jsonl", 2, facts={fact: value})
        done = weir("a.jsonl", "b.jsonl")
        expect((done.returncode, done.stderr), (2, ""))
        assert "(!)" in done.stdout and "to compare them all the same: --any-machine" in done.stdout, done.stdout
        expect(json.loads(weir("a.jsonl", "b.jsonl", "--format", "json").stdout)["refused"], True)
        done = weir("a.jsonl", "b.jsonl", "--any-machine")
        expect(done.returncode, 0)
        assert "(!)" in done.stdout and "3 same" in done.stdout, done.stdout
    write("b.jsonl", 2, facts={"governor": "powersave", "weir.version": "9.9"})
    done = weir("a.jsonl", "b.jsonl")
    expect(done.returncode, 0)
    assert "weir 0.1.0 → 9.9" in done.stdout, done.stdout


def test_formats():
    write("a.jsonl", 1)
    write("b.jsonl", 2)
    done = weir("a.jsonl", "b.jsonl", "-o", "c.json", "-o", "c.csv", "-o", "c.md", "-o", "c.txt")
    expect(done.returncode, 0)
    expect(pathlib.Path("c.txt").read_text(), done.stdout)
    document = json.loads(pathlib.Path("c.json").read_text())
    expect((document["schema"], document["verdicts"]["same"], document["before"]["name"]), (1, 3, "a.jsonl"))
    rows = pathlib.Path("c.csv").read_text().splitlines()
    expect((len(rows), {len(row.split('"')[0].split(",")) > 1 for row in rows}), (4, {True}))
    assert pathlib.Path("c.md").read_text().startswith("# weir compare\n"), "markdown"
    expect(weir("a.jsonl", "b.jsonl", "--color", "always", "--margin", "0").returncode in (0, 1), True)


def test_what_cannot_be_done_is_told():
    write("a.jsonl", 1)
    write("b.jsonl", 2)
    for arguments, first in (
            ((), "weir: two run files are compared: OLD and NEW"),
            (("a.jsonl",), "weir: two run files are compared: OLD and NEW"),
            (("a.jsonl", "b.jsonl", "c.jsonl"), "weir: two run files are compared; 'c.jsonl' is one too many"),
            (("a.jsonl", "nowhere"), "weir: 'nowhere': No such file or directory"),
            (("a.jsonl", "b.jsonl", "-o", "c.jsonl"), "weir: --output: c.jsonl: a comparison is written as table, json, csv or markdown"),
            (("a.jsonl", "b.jsonl", "--format", "tabel"), "weir: --format: unknown value 'tabel' (did you mean 'table'?)"),
            (("a.jsonl", "b.jsonl", "--format", "csv", "-o", "a.jsonl"), "weir: --output: 'a.jsonl' is the file that is read; it would be lost"),
            (("a.jsonl", "b.jsonl", "--format", "csv", "-o", "b.jsonl"), "weir: --output: 'b.jsonl' is the file that is read; it would be lost")):
        done = weir(*arguments)
        expect((done.returncode, done.stdout, done.stderr.splitlines()[0]), (2, "", first))
    pathlib.Path("broken").write_text("{}\n")
    expect(weir("a.jsonl", "broken").returncode, 2)
    with open("b.jsonl", encoding="utf-8") as standard:
        expect(weir("a.jsonl", "-", stdin=standard).returncode, 0)


def test_the_same_bytes_every_time():
    write("a.jsonl", 1)
    write("b.jsonl", 2, machine=1.1)
    for form in ("table", "json", "csv", "markdown"):
        expect(weir("a.jsonl", "b.jsonl", "--format", form).stdout, weir("a.jsonl", "b.jsonl", "--format", form).stdout)


sys.exit(run_all(globals()))
