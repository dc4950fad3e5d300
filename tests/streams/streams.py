#!/usr/bin/env python3
"""All methods of a task agree, whatever the stream holds: streams.py WEIR

The core compares every byte, line, field and value of every method with a reading of its own, so a run whose cells are all fine
says that they agree. Files from one byte on, odd sizes, odd lines, damaged text; written ones are read back.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())


def weir(*arguments):
    return subprocess.run([WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          timeout=300, errors="replace")


def cells(*arguments, cannot=()):
    """`cannot`: methods for which this is too much, and that say so. The cells of a short run with every method; those that cannot run here say why."""
    done = weir("bench", "-q", "--rounds", "1", "--format", "json", "-m", "*", *arguments)
    assert done.returncode in (0, 1), f"{arguments}: exit {done.returncode}: {done.stderr}"
    found = [cell for group in json.loads(done.stdout)["groups"] for cell in group["cells"]]
    found = [cell for cell in found if cell["method"] not in cannot or not cell["reason"]]
    bad = [(cell["id"], cell["reason"]) for cell in found if cell["status"] == "failed" or (cell["status"] != "ok" and not cell["reason"])]
    assert not bad, f"{arguments}: {bad}"
    assert sum(cell["status"] == "ok" for cell in found) >= 3, f"{arguments}: only {[cell['id'] for cell in found]}"
    return found


def file_of(data):
    path = pathlib.Path("file")
    path.write_bytes(data)
    return str(path)


def read_as_text(data, cannot=()):
    path = file_of(data)
    cells("--task", "lines", path, cannot=cannot)
    cells("--task", "text", path, cannot=cannot)
    expect(path and pathlib.Path(path).read_bytes(), data)
    pathlib.Path(path).unlink()


# ---- made files ----


def test_made_lines_of_odd_sizes():
    for size in ("1", "2", "65", "4097", "131073", "1000003"):
        cells("--task", "lines", "--size", size)


def test_made_lines_from_short_to_long():
    for item in ("2", "7", "300", "100000"):
        cells("--task", "lines", "--size", "700001", "--item", item)


def test_made_text_of_odd_sizes():
    for size in ("1", "127", "129", "65537", "262143"):
        cells("--task", "text", "--size", size)


def test_made_records_and_values():
    for task in ("records", "typed"):
        for size in ("1", "4096", "1000003"):
            cells("--task", task, "--size", size)


def test_streams_that_are_cold():
    for task in ("lines", "text", "records", "typed"):
        cells("--task", task, "--size", "300kB", "--cache", "cold")


def test_streams_in_a_fresh_process_and_hashed():
    for task in ("lines", "text", "records", "typed"):
        cells("--task", task, "--size", "100kB", "--process", "fresh")
        cells("--task", task, "--size", "100kB", "--consumer", "hash")


# ---- files of the user ----


def test_lines_without_end_empty_and_crlf():
    read_as_text(b"one")
    read_as_text(b"\n")
    read_as_text(b"\n\n\nthree empty ones before\n\n")
    read_as_text(b"dos\r\nlines\r\n\r\n\r\r\nlast\r")
    read_as_text(b"\r" * 70000 + b"\n")


def test_lines_with_zeros_and_a_very_long_one():
    read_as_text(b"a\0b\n\0\n" * 1000, cannot={"lines/fgets"}) # which does not tell where such a line ends
    read_as_text(b"short\n" + b"x" * 3_000_001 + b"\nshort\n")


def test_text_that_is_damaged():
    refusing = {"weir/read-text"} # which looks for damage and tells where it is
    read_as_text(b"\xff\xfe\x80 caf\xe9 \xc3\n\xe2\x82\n\xf0\x9f\x98\n" * 997, refusing)
    read_as_text(b"\xed\xa0\x80\xc0\x80\xf4\x90\x80\x80\xe0\x80\x80\n" * 501, refusing)
    read_as_text("äöü€😀\n".encode() * 20011 + b"\xf0\x9f\x98", refusing)


def test_text_with_a_mark():
    read_as_text(b"\xef\xbb\xbfmarked\nlines\n" * 1)
    read_as_text(b"\xef\xbb", {"weir/read-text"})


# ---- writing ----


def test_written_streams_are_right():
    for task in ("lines", "text", "records", "typed"):
        for target in ("new", "truncate"):
            cells("--task", task, "--direction", "write", "--target", target, "--durability", "none", "--size", "300007")


def test_written_streams_are_durable():
    for task in ("lines", "text", "records", "typed"):
        cells("--task", task, "--direction", "write", "--durability", "end", "--size", "70001")
        cells("--task", task, "--direction", "write", "--durability", "each", "--size", "3001")


# ---- many files and copies ----


def test_many_files_of_odd_sizes():
    for size, request in (("1", "1"), ("100001", "1000"), ("1000001", "65536"), ("300000", "4096")):
        cells("--task", "many", "--size", size, "--request", request)
        cells("--task", "many", "--size", size, "--request", request, "--access", "random", "--threads", "3")


def test_copies_of_odd_sizes():
    for size, request in (("1", "1"), ("4097", "4097"), ("1000001", "1000001"), ("300001", "10000")):
        cells("--task", "copy", "--size", size, "--request", request)
    cells("--task", "copy", "--size", "500001", "--request", "50000", "--threads", "5", "--cache", "cold")
    for durability in ("end", "each"):
        cells("--task", "copy", "--size", "200001", "--request", "100000", "--durability", durability)


# ---- what is refused ----


def refused(words, *arguments):
    done = weir("bench", "-q", *arguments)
    expect((done.returncode, done.stdout), (2, ""))
    assert words in done.stderr, f"no '{words}' in: {done.stderr}"


def test_what_makes_no_sense_is_refused():
    path = file_of(b"lines\n" * 100)
    refused("one thread", "--task", "lines", "--threads", "2")
    refused("takes a whole FILE", "--task", "lines", "--size", "10", path)
    refused("leave FILE out", "--task", "copy", path)
    refused("no request size", "--task", "text", "--request", "4KiB")
    refused("in order", "--task", "records", "--access", "random")
    pathlib.Path(path).unlink()


def test_a_file_that_holds_no_records_is_told():
    done = weir("bench", "-q", "--rounds", "1", "--task", "records", file_of(b"no records at all, as far as one can see\n"))
    assert done.returncode in (1, 2), done
    assert "Bad message" in done.stderr + done.stdout or "records" in done.stderr + done.stdout, done
    pathlib.Path("file").unlink()


sys.exit(run_all(globals(), leaves_nothing=True))
