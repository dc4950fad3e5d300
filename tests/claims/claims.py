#!/usr/bin/env python3
"""What `weir claims` promises beyond its verdicts: claims.py WEIR

The list, the choice of claims, the forms of the answer, exit codes, nothing left behind. Each test runs in an empty directory.
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
from trials import Skip, expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
VERDICTS = ["holds", "reversed", "tie", "unclear", "cannot-test"]


def weir(*arguments, **settings):
    return subprocess.run([WEIR, "claims", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, timeout=240, text=True, **settings)


def ids(text):
    return re.findall(r"^  (C\d\d[a-h]?)\b", text, re.MULTILINE)


def test_the_list_names_every_claim_once_and_measures_nothing():
    done = weir("--list")
    expect((done.returncode, done.stderr), (0, ""))
    found = ids(done.stdout)
    assert len(found) == 69 and len(set(found)) == len(found), found
    assert "published: " in done.stdout and "trap: " in done.stdout


def test_claims_are_chosen_by_id_or_study():
    expect(ids(weir("--list", "c33", "C51").stdout), ["C33", "C51"])
    study = ids(weir("--list", "study-e").stdout)
    assert "C31" in study and "C51" not in study, study


def test_unknown_claims_are_refused_before_anything_is_measured():
    done = weir("C333")
    expect((done.returncode, done.stdout), (2, ""))
    assert "unknown claim 'C333' (did you mean 'C33'?)" in done.stderr, done.stderr
    expect(weir("C33", "--dir", "nowhere").returncode, 2)


def test_other_forms_are_refused():
    for options in (["--format", "csv"], ["--format", "jsonl"], ["-o", "run.jsonl"], ["-o", "x.csv"]):
        done = weir("C33", "--rounds", "1", *options)
        expect((done.returncode, done.stdout), (2, ""))
        assert "verdicts are written as text, json or markdown" in done.stderr, done.stderr


def test_json_has_a_verdict_for_each_claim():
    done = weir("C33", "C38", "C47", "--rounds", "6", "--format", "json", "-q")
    expect(done.stderr, "")
    answer = json.loads(done.stdout)
    expect(done.returncode, 0)
    expect([claim["id"] for claim in answer["claims"]], ["C33", "C38", "C47"])
    by_id = {claim["id"]: claim for claim in answer["claims"]}
    for claim in answer["claims"]:
        assert claim["verdict"] in VERDICTS and claim["says"] and claim["findings"], claim
    expect(sum(answer["verdicts"].values()), 3)
    # a system call for each 64 bytes is slower than a buffer, on any machine
    small = by_id["C33"]
    expect(small["verdict"], "holds")
    assert small["strength"] in ("weaker", "as", "stronger"), small
    assert abs(small["published_ratio"] - 0.215) < 1e-9, small
    assert small["speed_ratio"]["low"] <= small["speed_ratio"]["median"] <= small["speed_ratio"]["high"] < 1, small
    expect({finding["rounds"] for finding in small["findings"]}, {6})
    expect((by_id["C47"]["verdict"], by_id["C47"]["strength"]), ("cannot-test", None))
    assert "array of disks" in by_id["C47"]["reason"] and "beside it, one: " in by_id["C47"]["reason"], by_id["C47"]
    # evidence is no ratio
    expect(by_id["C38"]["speed_ratio"], None)
    assert by_id["C38"]["verdict"] == "cannot-test" or by_id["C38"]["value"]["median"] >= 0, by_id["C38"]
    expect(os.listdir("."), [])


def test_too_few_rounds_are_unclear_and_strict_says_so():
    done = weir("C33", "--rounds", "3", "--strict", "-o", "verdicts.md", "-o", "verdicts.json", "--format", "text")
    expect(done.returncode, 3)
    assert re.search(r"^C33 +unclear", done.stdout, re.MULTILINE), done.stdout
    assert "it takes about 6" in done.stdout, done.stdout
    expect(json.loads(pathlib.Path("verdicts.json").read_text())["claims"][0]["verdict"], "unclear")
    assert "| C33 | " in pathlib.Path("verdicts.md").read_text()
    expect(sorted(os.listdir(".")), ["verdicts.json", "verdicts.md"])


def test_an_interrupt_keeps_what_was_measured():
    process = subprocess.Popen([WEIR, "claims", "C31", "--rounds", "1000", "--format", "json"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    while "burn-in" not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    expect(process.returncode, 130)
    answer = json.loads(output)
    expect(answer["interrupted"], True)
    expect([claim["id"] for claim in answer["claims"]], ["C31"])
    expect(os.listdir("."), [])


def test_members_of_an_array_are_measured_together():
    os.mkdir("a")
    os.mkdir("b")
    done = weir("C47", "--rounds", "6", "--format", "json", "-q", "--member", "a", "--member", "b")
    claim = json.loads(done.stdout)["claims"][0]
    array = [finding for finding in claim["findings"] if finding["role"] == "decides"]
    expect([finding["rounds"] for finding in array], [6])
    assert "striped over 2" in array[0]["title"], array
    expect(os.listdir("a") + os.listdir("b"), [])


def test_files_in_memory_are_neither_cold_nor_durable():
    if not os.access("/dev/shm", os.W_OK):
        raise Skip("no directory in memory")
    done = weir("C44", "--rounds", "6", "--format", "json", "-q", "--dir", "/dev/shm")
    claim = json.loads(done.stdout)["claims"][0]
    expect(claim["verdict"], "cannot-test")
    assert "memory" in claim["reason"] or "O_DIRECT" in claim["reason"], claim["reason"]


sys.exit(run_all(globals()))
