#!/usr/bin/env python3
"""Runs the block study on a small file, one round: blocks.py WEIR. No time is judged."""
import collections
import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile

STUDY = ["Style", "Access", "Inp/Out", "MBytes", "BlockSiz", "Seconds", "MBytes/sec"]
STYLES = ["FILE", "Hnd", "MMap", "Stream", "Win"]
WEIR = str(pathlib.Path(sys.argv[1]).resolve())


def weir(folder, *arguments, code=0):
    done = subprocess.run([WEIR, *arguments], cwd=folder, capture_output=True, text=True, timeout=500)
    assert done.returncode == code, f"weir {' '.join(arguments)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done


def rows_of(text):
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    rows = list(reader)
    assert reader.fieldnames[:7] == STUDY, reader.fieldnames
    assert all(None not in row and None not in row.values() for row in rows), "a row has more or fewer fields than names"
    return rows


def check_study(rows):
    cells = collections.Counter(row["Style"] for row in rows)
    assert cells == {**dict.fromkeys(STYLES, 28), "Ring": 28, "": 4}, cells
    keys = {(row["Style"], row["Access"], row["Inp/Out"], row["BlockSiz"]) for row in rows if row["Style"] in STYLES}
    assert len(keys) == 140, len(keys)
    for row in rows:
        ok = row["status"] == "ok"
        assert ok or (row["status"] == "unavailable" and row["reason"]), row
        assert ok == bool(row["Seconds"]) == (row["n"] == "1"), row
        if ok:
            check_numbers(row)


def check_numbers(row):
    mbytes, seconds, speed = float(row["MBytes"]), float(row["Seconds"]), float(row["MBytes/sec"])
    assert mbytes == (0.5 if row["Access"] == "Rand" else 1), row
    assert abs(speed - mbytes / seconds) <= 0.02 * speed + 0.02, row
    assert abs(float(row["elapsed_ns_median"]) / 1e9 - seconds) < 1e-6, row
    assert row["group"] and row["cell"].startswith(row["method"]) and row["label"] and row["seed"] == "0x5eed", row


def check_published(rows):
    published = {(row["Style"], row["Access"], row["Inp/Out"], row["BlockSiz"]): row for row in rows if row["published_seconds"]}
    assert len(published) == 140 and not any(key[0] in ("", "Ring") for key in published), len(published)
    row = published["FILE", "Seq", "Out", "64"]
    assert (row["published_seconds"], row["published_mb_per_s"]) == ("1.872", "53.431"), row


def check_words(text):
    assert "published: study-e, Dennis Lang" in text and "Windows XP" in text, text[:600]
    assert "53.4 MB/s" in text and "its speed" in text
    assert text.count("  flush: after a second file of this size was read, ") == 30
    assert "read back past the cache after the pilot: the files of 2 methods" in " ".join(text.split()) or not reads_back(text)


def reads_back(text):
    """Where files lie in memory there is no reading past the cache."""
    return "ram-backed" not in text


def run_whole(folder):
    done = weir(folder, "bench", "-q", "--suite", "blocks", "--size", "1MiB", "--rounds", "1", "--seed", "0x5eed", "--overlay",
                "study-e", "--format", "csv", "-o", "run.jsonl", "-o", "run.txt", "-o", "run.csv")
    rows = rows_of(done.stdout)
    check_study(rows)
    check_published(rows)
    check_words((folder / "run.txt").read_text())
    assert (folder / "run.csv").read_text() == done.stdout
    again = weir(folder, "report", "run.jsonl", "--format", "csv", "--overlay", "study-e").stdout
    assert again == done.stdout, "styles or figures did not survive the run file"
    plain = weir(folder, "report", "run.jsonl", "--format", "csv").stdout
    assert "published" not in plain and "published" not in weir(folder, "report", "run.jsonl").stdout
    assert not [name for name in os.listdir(folder) if name.startswith(".weir")]


def run_odd_place(folder):
    place = folder / '=1+1,"a"\nb'
    place.mkdir()
    done = weir(folder, "bench", "-q", "-m", "fd/pread[block=4k|8k]", "-m", "null", "--size", "64KiB", "--rounds", "1",
                "--dir", str(place), "--format", "csv")
    rows = rows_of(done.stdout)
    assert [row["place"] for row in rows] == [str(place)] * 3, rows
    assert [row["BlockSiz"] for row in rows][:2] == ["4096", "8192"] and rows[0]["params"].startswith("block=4KiB"), rows
    again = weir(folder, "bench", "-q", "-m", "fd/read", "--size", "64KiB", "--rounds", "1", "--overlay", "study-e").stdout
    assert "None of the cells here is in it" in " ".join(again.split()) and "its speed" not in again, again
    floor = [row for row in rows if row["method"] == "null"]
    assert floor and not floor[0]["MBytes/sec"], floor


def run_mistakes(folder):
    error = weir(folder, "bench", "--suite", "blocks", "--overlay", "study_e", code=2).stderr
    assert "--overlay: unknown study 'study_e' (did you mean 'study-e'?)" in error, error
    error = weir(folder, "bench", "--suite", "block", code=2).stderr
    assert "did you mean 'blocks'?" in error, error


def main():
    with tempfile.TemporaryDirectory(prefix="weir-blocks-", dir=os.environ.get("WEIR_TEST_DIR")) as folder:
        for step in (run_mistakes, run_odd_place, run_whole):
            step(pathlib.Path(folder))
            print("ok  ", step.__name__)


if __name__ == "__main__":
    main()
