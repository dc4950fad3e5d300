#!/usr/bin/env python3
"""A run with less memory than the machine has: memory_limit.py WEIR

Exit status 77 when no control group with a limit on memory can be made here.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import Skip, expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
BENCH = ["bench", "-q", "--format", "json", "--memory", "32MiB", "--size", "64MiB", "--task", "blocks", "--rounds", "1"]


def run(*arguments, prefix=()):
    return subprocess.run([*prefix, WEIR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                          stdin=subprocess.DEVNULL, text=True, check=False)


def groups(pid=None):
    """Control groups that a weir made, or this one."""
    found = []
    for folder, names, _ in os.walk("/sys/fs/cgroup"):
        found += [os.path.join(folder, n) for n in names if (n == f"weir-{pid}" if pid else n.startswith("weir-"))]
    return found


def permitted():
    done = run("plan", "--memory", "32MiB", "-m", "fd/pread", "--size", "1MiB")
    if done.returncode == 0:
        return
    assert "no control group" in done.stderr and "; run it as root, or where a group is delegated" in done.stderr, done.stderr
    raise Skip(done.stderr.strip())


def wait_until(condition, what):
    for _ in range(150):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError(what)


def test_refused_with_a_remedy_where_not_permitted():
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        raise Skip("needs root and setpriv to become an ordinary user")
    os.chmod(".", 0o777)
    done = run("bench", "--memory", "32MiB", "-m", "fd/pread",
               prefix=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
    expect((done.returncode, done.stdout), (2, ""))
    assert "weir: no control group with a limit on memory can be made: " in done.stderr, done.stderr
    assert "run it as root" in done.stderr, done.stderr


def test_too_small_or_twice_is_refused():
    done = run("bench", "-q", "--memory", "1MiB")
    expect((done.returncode, done.stderr), (2, "weir: --memory: less than 16MiB is not enough for the program itself\n"))
    done = run("bench", "--memory", "32MiB,64MiB")
    expect((done.returncode, done.stderr.splitlines()[0]), (2, "weir: --memory: one limit for the whole run"))


def test_larger_file_does_not_stay_warm():
    permitted()
    before = groups()
    for process in ("same", "fresh"):
        done = run(*BENCH, "-m", "fd/pread", "-m", "map/view", "--process", process)
        expect(done.returncode, 0)
        document = json.loads(done.stdout)
        group = document["groups"][0]
        expect(group["state_missed"], True)
        for cell in group["cells"]:
            expect((cell["status"], cell["label"].split("+")[0]), ("ok", "mixed"))
        expect(document["environment"]["memory_limit_bytes"], 32 << 20)
        assert any(w["id"] == "W17" for w in document["warnings"])
    expect(groups(), before)


def test_smaller_file_stays_warm():
    permitted()
    done = run(*(w.replace("32MiB", "512MiB") for w in BENCH), "-m", "fd/pread")
    expect(json.loads(done.stdout)["groups"][0]["cells"][0]["label"].split("+")[0], "warm")


def test_who_takes_too_much_is_a_row():
    permitted()
    before = groups()
    code = "import mmap; m = mmap.mmap(-1, 100 << 20); m.write(b'x' * (100 << 20))"
    done = run(*BENCH, "-m", "fd/pread", "--size", "1MiB", "--exec", f"{sys.executable} -c \"{code}\" {{}}")
    expect(done.returncode, 1)
    cells = {cell["method"].split("/")[0]: cell for cell in json.loads(done.stdout)["groups"][0]["cells"]}
    expect((cells["fd"]["status"], cells["exec"]["status"]), ("ok", "failed"))
    expect(groups(), before)


def test_nothing_is_left_after_interrupt_and_kill():
    permitted()
    for end in (signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen([WEIR, *BENCH, "-m", "fd/pread", "-m", "map/view", "--rounds", "100000", "--time", "1h"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        wait_until(lambda: groups(process.pid), "no group was made")
        time.sleep(1.5)
        process.send_signal(end)
        process.wait(timeout=60)
        wait_until(lambda: not groups(process.pid), f"left: {groups(process.pid)}")
        wait_until(lambda: not os.listdir("."), f"left: {os.listdir('.')}")


def test_groups_of_dead_runs_are_swept():
    permitted()
    process = subprocess.Popen([WEIR, *BENCH, "-m", "fd/pread", "--rounds", "100000", "--time", "1h"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    wait_until(lambda: groups(process.pid), "no group was made")
    parent = os.path.dirname(groups(process.pid)[0])
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    dead = subprocess.Popen(["true"])
    dead.wait()
    os.mkdir(f"{parent}/weir-{dead.pid}")
    expect(run(*BENCH, "-m", "fd/pread", "--size", "1MiB").returncode, 0)
    expect(groups(dead.pid), [])


def test_what_a_large_read_takes_from_others():
    """A buffered read of more than there is room for pushes out what lay in the cache; a direct one does not."""
    permitted()
    done = run(*BENCH, "--cache", "cold", "--direction", "read", "--access", "sequential", "-m", "fd/pread[block=1MiB]", "-m",
               "direct/pread[block=1MiB]")
    if done.returncode == -9:
        raise Skip("the system ended it: what was written did not reach a busy disk in time to make room")
    expect((done.returncode, done.stderr), (0, ""))
    found = {cell["method"]: cell for cell in json.loads(done.stdout)["groups"][0]["cells"]}
    if found["direct/pread"]["status"] != "ok" or found["fd/pread"]["cost"]["evicted_share"] is None:
        raise Skip("no direct reads here, or the cache is not told of")
    assert found["fd/pread"]["cost"]["evicted_share"] > 0.5, found["fd/pread"]["cost"]
    assert found["direct/pread"]["cost"]["evicted_share"] < 0.1, found["direct/pread"]["cost"]


if os.geteuid() != 0:
    print("SKIP: control groups with a limit on memory need root here")
    sys.exit(77)
if "no control group that could limit memory is here" in run(*BENCH, "-m", "fd/pread", "--size", "1MiB").stderr:
    print("SKIP: no control group that could limit memory is here")
    sys.exit(77)
sys.exit(run_all(globals(), place="/var/tmp", leaves_nothing=True))
