#!/usr/bin/env python3
"""The contenders of `make peers` move the right bytes: right-peers.py WEIR SCRIPT PEERS

WEIR is the program, SCRIPT is scripts/peers.py, PEERS the folder of the plugins. Every byte that a peer delivers is compared;
the counter of lines and the copies, which deliver none, are compared by what they print and leave.
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

WEIR, SCRIPT, PEERS = [pathlib.Path(argument).resolve() for argument in sys.argv[1:4]]
spec = importlib.util.spec_from_file_location("peers_script", SCRIPT)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


def bench(folder, plugins, methods, *options):
    """Runs them verified; all must be there and right."""
    out = folder / "run.json"
    command = [str(WEIR), "bench", "-q", "--rounds", "1", "-o", str(out), *options]
    for plugin in plugins:
        command += ["--plugin", str(PEERS / f"{plugin}.so")]
    for method in methods:
        command += ["-m", method]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise AssertionError(f"exit {done.returncode}: {done.stdout}{done.stderr}")
    cells = json.loads(out.read_text())["groups"][0]["cells"]
    assert len(cells) == len(methods), [cell["id"] for cell in cells]
    for cell in cells:
        assert cell["status"] == "ok", cell


def built(name):
    if (PEERS / f"{name}.so").exists():
        return True
    print(f"SKIP {name}: not built")
    return False


def test_whole_files(folder):
    whole = ["--task", "whole", "--size", "300kB", "--consumer", "verify", "--dir", str(folder)]
    bench(folder, ["hand"], ["hand/malloc-fread", "hand/malloc-fread[memory=heap]", "hand/mmap"], *whole)
    if built("glib"):
        bench(folder, ["glib"], ["glib/get-contents"], *whole)


def test_blocks(folder):
    blocks = ["--size", "300kB", "--consumer", "verify", "--dir", str(folder)]
    bench(folder, ["hand"], ["hand/read-loop"], *blocks)
    if built("ifstream"):
        bench(folder, ["ifstream"], ["ifstream/read"], *blocks)


def test_lines(folder):
    path = folder / "lines"
    for shortest, longest in ((4, 10), (40, 90)):
        script.text_file(path, 200_000, shortest, longest)
        assert path.stat().st_size == 200_000 and path.read_bytes()[-1:] == b"\n"
        options = ["--task", "whole", "--consumer", "verify", str(path)]
        bench(folder, ["hand", "library"], ["hand/getline", "library/lines-batch", "library/lines-next"], *options)
        if built("ifstream"):
            bench(folder, ["ifstream"], ["ifstream/getline"], *options)
        counted = subprocess.run([PEERS / "count", "2", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        assert counted.split()[0] == str(path.read_bytes().count(b"\n")), counted


def test_records(folder):
    path = folder / "records"
    script.record_file(path, 50)
    bench(folder, ["hand", "library"], ["hand/fread-fields", "library/records"], "--task", "whole", "--consumer", "verify",
          str(path))


def test_copies(folder):
    bench(folder, ["copies"], ["copies/cp", "copies/cp[to=3]", "copies/weir", "copies/weir[to=3]"], "--task", "whole", "--size",
          "300kB", "--consumer", "none", "--dir", str(folder))


def test_rows_name_what_there_is(folder):
    for task, row in script.ROWS.items():
        assert row.run in script.RUNS and row.peers and row.asked, task
        assert script.RUNS[row.run].file in (None, *script.FILES), task


def main():
    failed = 0
    for name, test in sorted(globals().items()):
        if not name.startswith("test_"):
            continue
        with tempfile.TemporaryDirectory(prefix="weir-peers-", dir=".") as folder:
            try:
                test(pathlib.Path(folder).resolve())
                print("ok  ", name)
            except (AssertionError, subprocess.CalledProcessError, OSError) as problem:
                failed += 1
                print("FAIL", name, problem)
    return 1 if failed else 0


sys.exit(main())
