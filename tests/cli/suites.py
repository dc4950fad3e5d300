#!/usr/bin/env python3
"""Suites by users: suites.py WEIR SOURCE

What a file says is measured; what is wrong in it is told with line, key, what is allowed and what was probably meant; the page
about suites names every key and its example is right.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
DOCS = pathlib.Path(sys.argv[2]).resolve() / "docs/suites.md"
GOOD = """# ours
[suite]
summary = two ways
rounds = 3

[group logs]
cache = warm
size = 1MiB|2MiB
baseline = map/view
methods =
    fd/pread[block=64KiB|128KiB]
    map/view
"""


def weir(*arguments):
    return subprocess.run([WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, check=False)


def plan(text, name="my.ini"):
    pathlib.Path(name).write_text(text, encoding="utf-8")
    return weir("plan", "--suite", name)


def test_is_planned_and_measured():
    done = plan(GOOD)
    expect((done.returncode, done.stderr), (0, ""))
    for line in ("logs-1MiB: read", "logs-2MiB: read", "  map/view  (baseline)", "  fd/pread[block=64KiB]", "rounds: 3 and"):
        assert line in done.stdout, (line, done.stdout)
    done = weir("bench", "-q", "--suite", "./my.ini", "-o", "a.jsonl", "-o", "a.json")
    expect(done.returncode, 0)
    document = json.loads(pathlib.Path("a.json").read_text())
    expect([group["id"] for group in document["groups"]], ["logs-1MiB", "logs-2MiB"])
    expect([group["baseline"] for group in document["groups"]], ["map/view", "map/view"])
    # a report does not need the suite any more
    os.unlink("my.ini")
    expect(weir("report", "a.jsonl").stdout, done.stdout)


def test_options_select_among_its_groups():
    pathlib.Path("my.ini").write_text(GOOD + "\n[group write]\ndirection = write\nsize = 1MiB\nmethods = fd/pwrite\n")
    done = weir("plan", "--suite", "my.ini", "--only", "write")
    assert "write: write" in done.stdout and "logs-" not in done.stdout, done.stdout
    done = weir("plan", "--suite", "my.ini", "--cache", "cold")
    expect(done.returncode, 2)
    assert "no group of 'my.ini' fits what is asked; it has logs-1MiB, logs-2MiB, write" in done.stderr, done.stderr


def test_windows_line_ends_and_marks():
    done = plan("\ufeff" + GOOD.replace("\n", "\r\n"))
    expect((done.returncode, done.stderr), (0, ""))


def test_built_in_suites_are_files_too():
    source = DOCS.parents[1] / "suites"
    for name in ("default", "blocks"):
        own, built_in = weir("plan", "--suite", str(source / f"{name}.ini")), weir("plan", "--suite", name)
        expect((name, own.returncode, built_in.returncode), (name, 0, 0))
        same = [re.sub(r"[\d.]+ [KMGT]iB free", "", text) for text in (own.stdout, built_in.stdout)]
        expect(same[0], same[1])


MISTAKES = [
    ("[group logs]", "[groop logs]", "line 6: unknown section [groop logs]; allowed: [suite], [group NAME]", "group NAME"),
    ("rounds = 3", "ruonds = 3", "line 4: the section [suite] has no key 'ruonds'; allowed: summary, rounds, flush", "rounds"),
    ("rounds = 3", "rounds = 0", "line 4: rounds: '0' is not a number from 1 to 1000", None),
    ("cache = warm", "cahce = warm", "line 7: unknown key 'cahce'; allowed: task, direction, access, request, size", "cache"),
    ("cache = warm", "cache = wram", "line 7: cache: unknown value 'wram'; allowed: warm, cold", "warm"),
    ("cache = warm", "cache", "line 7: expected [section] or key = value", None),
    ("size = 1MiB|2MiB", "size = 1mib", "line 8: size: '1mib' is not a size like 64MiB", "1MiB"),
    ("size = 1MiB|2MiB", "size = much", "line 8: size: 'much' is not a size like 64MiB", None),
    ("size = 1MiB|2MiB", "", "line 6: [group logs] has no size", None),
    ("baseline = map/view", "baseline = map/veiw", "line 9: unknown method 'map/veiw'", "map/view"),
    ("    map/view", "    map/viwe", "line 12: unknown method 'map/viwe'", "map/view"),
    ("block=64KiB", "blok=64KiB", "line 11: fd/pread has no parameter 'blok'; it has block", "block"),
    ("block=64KiB", "block=64kb", "line 11: block: '64kb' is not a size", "64KiB"),
    ("    map/view", "    fd/pwrite", "line 12: 'fd/pwrite' does not do 'read' here", None),
    ("cache = warm", "cache = warm\ncache = cold", "line 8: cache is given twice", None),
    ("cache = warm", "task = whole\naccess = random", "line 6: [group logs] task whole has no request size and no random", None),
    ("cache = warm", "durability = end", "line 6: [group logs] reading has no durability", None),
    ("cache = warm", "style.X = fd/pread map/wriet", None, None),
    ("cache = warm", "x" * 300 + " = 1", "line 7: the line is too long", None),
]


def test_mistakes_are_told_with_line_and_remedy():
    for before, after, words, hint in MISTAKES:
        assert GOOD.count(before + "\n") or before in GOOD, before
        done = plan(GOOD.replace(before, after, 1))
        if words is None:
            expect(done.returncode, 0)  # what only writers would use is not looked at where all read
            continue
        expect((after, done.returncode), (after, 2))
        assert done.stderr.startswith(f"weir: --suite: my.ini: {words}"), (after, done.stderr)
        first = done.stderr.split("\n")[0]
        expect((after, re.findall(r"\(did you mean '(.*)'\?\)$", first)), (after, [hint] if hint else []))


def test_what_is_no_suite():
    os.mkdir("folder.ini")
    os.mkfifo("fifo.ini")
    pathlib.Path("binary.ini").write_bytes(b"[suite]\n\0")
    pathlib.Path("large.ini").write_bytes(b"#\n" * 600_000)
    pathlib.Path("empty.ini").write_bytes(b"")
    pathlib.Path("mine.ini").write_text(GOOD)
    pathlib.Path("mine").write_text(GOOD)
    for name, words in (("none.ini", "'none.ini': No such file or directory"), ("folder.ini", "'folder.ini': is a directory, no file"),
                        ("fifo.ini", "'fifo.ini': is a FIFO, no file"), ("binary.ini", "'binary.ini': is no text: it holds a NUL byte"),
                        ("large.ini", "'large.ini': is longer than 1 MiB"), ("empty.ini", "empty.ini: there is no [group NAME] in it"),
                        ("mine", "unknown suite 'mine'; a file is named with its path (did you mean './mine'?)"),
                        ("blokcs", "unknown suite 'blokcs'; choose from api, array")):
        done = weir("plan", "--suite", name)
        expect((name, done.returncode), (name, 2))
        assert done.stderr.startswith(f"weir: --suite: {words}"), done.stderr
    assert "(did you mean 'blocks'?)" in done.stderr, done.stderr
    os.unlink("mine")
    assert "(did you mean './mine.ini'?)" in weir("bench", "--suite", "mine").stderr


def keys(section):
    """All keys of a section, by what the program says is allowed there."""
    text = plan(f"[{section}]\nno-such-key = 1\n").stderr
    return [key.split(" ")[0].strip("\n") for key in re.search(r"allowed: (.*)", text).group(1).split(", ")]


def test_the_page_names_every_key_and_word():
    text = DOCS.read_text(encoding="utf-8")
    parts = re.split(r"^## Keys of ", text, flags=re.MULTILINE)
    expect(len(parts), 3)
    for section, part in (("suite", parts[1]), ("group x", parts[2])):
        expect(sorted(re.findall(r"^\| `([\w.]+)` \|", part, re.MULTILINE)), sorted(keys(section)))
    rows = dict(re.findall(r"^\| `([\w.]+)` \|(.*)$", parts[2], re.MULTILINE))
    for key in ("task", "direction", "access", "durability", "target", "cache", "consumer", "process"):
        allowed = re.search(r"allowed: (.*)", plan(f"[group x]\n{key} = qqqqqqqq\n").stderr).group(1).split(", ")
        expect((key, re.findall(r"`([\w-]+)`", rows[key].split("|")[0])), (key, allowed))


def test_the_example_of_the_page_works():
    text = DOCS.read_text(encoding="utf-8")
    example = re.search(r"^```ini\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)
    done = plan(example)
    expect((done.returncode, done.stderr), (0, ""))
    assert "logs-warm: " in done.stdout and "logs-cold: " in done.stdout, done.stdout
    shown = re.search(r"^```\n\$ weir plan --suite my.ini\n(.*?)^```$", text, re.MULTILINE | re.DOTALL).group(1)
    expect(plan(example.replace("cache = warm|cold", "cache = wram|cold")).stderr, shown)


sys.exit(run_all(globals()))
