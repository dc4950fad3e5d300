#!/usr/bin/env python3
"""What the device saw of writes that were to last: durability.py WEIR

On a loop device of its own, whose counters nobody else moves. Needs root for the mount; it is made in a mount name space of its
own, which takes it away when it ends, however it ends.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import expect, why_no_mounts

REQUEST, COUNT = 4096, 20
SIZE = REQUEST * COUNT


def skip(reason):
    print("SKIP all of it:", reason)
    sys.exit(77)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    if done.returncode:
        skip(f"{' '.join(command)}: {done.stdout.strip()}")
    return done.stdout


def flushes(device):
    return int(pathlib.Path(f"/sys/class/block/{device}/stat").read_text().split()[15])


def bench(weir, point, *arguments):
    done = subprocess.run([weir, "bench", "-q", "--seed", "1", "--format", "json", "--dir", point, "--task", "blocks", "--direction", "write",
                           "--access", "sequential", "--size", str(SIZE), "--request", str(REQUEST), "--rounds", "4", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, text=True)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return {cell["method"]: cell for cell in json.loads(done.stdout)["groups"][0]["cells"] if cell["status"] == "ok"}


def check_the_counter(point, device):
    """Without weir: so many calls are so many flushes on this device."""
    with open(os.path.join(point, "file"), "wb") as file:
        file.write(os.urandom(SIZE))
        os.fsync(file.fileno())
        before = flushes(device)
        for i in range(COUNT):
            os.pwrite(file.fileno(), os.urandom(REQUEST), i * REQUEST)
            os.fdatasync(file.fileno())
        seen = flushes(device) - before
    os.remove(os.path.join(point, "file"))
    if seen != COUNT:
        skip(f"{COUNT} fdatasync were {seen} flushes of {device}")
    print(f"ok   {COUNT} fdatasync are {seen} flushes of {device}")


def check_each(weir, point):
    cells = bench(weir, point, "--durability", "each", "-m", "fd/pwrite", "-m", "fd/write", "-m", "ring/linked")
    for name in ("fd/pwrite", "fd/write"):
        expect((name, cells[name]["evidence"]["flushes"], cells[name]["label"]), (name, COUNT, "durable+loop"))
        assert cells[name]["evidence"]["device_write_bytes"] >= SIZE, cells[name]["evidence"]
    for name, cell in cells.items():  # several in flight may be answered by one flush, but never by none
        assert 1 <= cell["evidence"]["flushes"] <= COUNT + 1, (name, cell["evidence"])
    print(f"ok   durable each: {COUNT} requests, flushes", {name: cell["evidence"]["flushes"] for name, cell in cells.items()})


def check_end(weir, point):
    cells = bench(weir, point, "--durability", "end", "-m", "fd/pwrite", "-m", "stdio/fwrite", "-m", "map/write")
    for name, cell in cells.items():
        wanted = 2 if name == "map/write" else 1  # msync and fdatasync
        expect((name, cell["evidence"]["flushes"], cell["label"]), (name, wanted, "durable+loop"))
        assert cell["evidence"]["device_write_bytes"] >= SIZE, cell["evidence"]
    print("ok   durable end: flushes", {name: cell["evidence"]["flushes"] for name, cell in cells.items()})


def check_none(weir, point):
    """What stays in the cache is no write of the device, and what goes past it is one without a flush."""
    cells = bench(weir, point, "--durability", "none", "-m", "fd/pwrite", "-m", "stdio/fwrite", "-m", "direct/pwrite")
    for name, cell in cells.items():
        expect((name, cell["evidence"]["flushes"], cell["label"]), (name, 0, "not-durable+loop"))
        expected = SIZE if name == "direct/pwrite" else 0
        assert cell["evidence"]["device_write_bytes"] >= expected, (name, cell["evidence"])
        assert expected or cell["evidence"]["device_write_bytes"] == 0, (name, cell["evidence"])
    print("ok   not durable: no flush; bytes of the device", {n: c["evidence"]["device_write_bytes"] for n, c in cells.items()})


def check_table(weir, point):
    done = subprocess.run([weir, "bench", "-q", "--dir", point, "--task", "blocks", "--direction", "write", "--access", "sequential", "--size", str(SIZE),
                           "--request", str(REQUEST), "--rounds", "2", "--durability", "each", "-m", "fd/pwrite"], stdout=subprocess.PIPE, text=True,
                          timeout=120)
    title = next(line for line in done.stdout.splitlines() if " method " in line)
    row = next(line for line in done.stdout.splitlines() if " fd/pwrite" in line and "baseline" not in line)
    assert "flushes" in title and f" {COUNT} " in row + " ", done.stdout
    print("ok   flushes stand beside the cell")


def main(weir):
    with tempfile.TemporaryDirectory(prefix="weir-durability-") as folder:
        image, point = os.path.join(folder, "image"), os.path.join(folder, "point")
        with open(image, "wb") as file:
            file.truncate(256 << 20)
        run("mkfs.ext4", "-q", "-O", "^has_journal", image)  # a journal flushes for itself every few seconds
        os.mkdir(point)
        run("mount", "-o", "loop", image, point)
        try:
            device = pathlib.Path(run("findmnt", "-n", "-o", "SOURCE", point).strip()).name
            check_the_counter(point, device)
            for check in (check_each, check_end, check_none, check_table):
                check(weir, point)
        finally:
            subprocess.run(["umount", "-l", point])
    return 0


if __name__ == "__main__":
    program = str(pathlib.Path(sys.argv[1]).resolve())
    if "--inside" in sys.argv:
        sys.exit(main(program))
    for needed in ("mkfs.ext4", "findmnt"):
        if not shutil.which(needed):
            skip(f"{needed} is not installed")
    if why_no_mounts():
        skip(why_no_mounts())
    os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, __file__, program, "--inside"])
