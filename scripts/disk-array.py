#!/usr/bin/env python3
"""What an array of disks carries: disk-array.py WEIR [--place DIR] [--rate MB] [--each MiB] [--rounds N] [--all] [--claims] DISKS...

Makes so many disks of loop devices on files in DIR, each held to so many MB/s by the block layer, with an ext4 on each, and
runs `weir bench --suite array` with a --member for each: a line for each number of DISKS and each direction. Needs root.
--all takes every request size and depth of the suite instead of a few, and prints the half-power points; --claims retests what
was published of one disk (C44) and of arrays (C47, C48). Whatever happens, nothing is left behind.

After a pause the block layer lets a tenth of a second's bytes pass at once, so that shares may lie somewhat above 100 %: at
50 MB/s and 64 MiB a disk by up to 8 %.
"""
import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
# What ext4 and its journal take, and what weir leaves free.
SPARE_BYTES = 256 * MIB


class Unable(Exception):
    """What is missing here, and why."""


def run(*command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError:
        raise Unable(f"no program {command[0]}") from None
    if done.returncode:
        raise Unable(f"{' '.join(command)}: {done.stdout.strip()}")
    return done.stdout.strip()


def put(path, text):
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        raise Unable(f"{path}: {error.strerror}") from None


def got(path):
    """What a file holds; of one that is not there any more nothing."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def unmount(point):
    """A ring holds its files for a moment after its program has ended."""
    for _ in range(100):
        if subprocess.run(["umount", point], stderr=subprocess.DEVNULL).returncode == 0:
            return
        time.sleep(0.05)
    run("umount", "-l", point)


def mounts(kind, option=""):
    with open("/proc/mounts", encoding="utf-8") as table:
        rows = [line.split() for line in table]
    return [row[1] for row in rows if row[2] == kind and (not option or option in row[3].split(","))]


class Old:
    """Rates by the first kind of control groups: a rule of the root holds for all that use the device, the kernel too."""

    def __init__(self, stack):
        found = mounts("cgroup", "blkio")
        if not found:
            found = [stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-blkio-"))]
            run("mount", "-t", "cgroup", "-o", "blkio", "cgroup", found[0])
            stack.callback(unmount, found[0])
        self.root = found[0]

    def enter(self):
        pass

    def hold(self, device, rate):
        for way in ("read", "write"):
            put(f"{self.root}/blkio.throttle.{way}_bps_device", f"{device} {rate}")

    def rules(self):
        return got(f"{self.root}/blkio.throttle.read_bps_device")


class New:
    """The same by the second kind: a rule of a group that the program has to enter."""

    def __init__(self, stack):
        found = mounts("cgroup2")
        if not found:
            raise Unable("no control groups are mounted")
        put(f"{found[0]}/cgroup.subtree_control", "+io")
        self.group = f"{found[0]}/weir-array-{os.getpid()}"
        os.mkdir(self.group)
        stack.callback(os.rmdir, self.group)

    def enter(self):
        put(f"{self.group}/cgroup.procs", str(os.getpid()))

    def hold(self, device, rate):
        put(f"{self.group}/io.max", f"{device} rbps={rate or 'max'} wbps={rate or 'max'}")

    def rules(self):
        return got(f"{self.group}/io.max")


def holder(stack):
    try:
        return Old(stack)
    except Unable as old:
        try:
            return New(stack)
        except Unable as new:
            raise Unable(f"no rates can be set: {old}; {new}") from None


def free_loop(stack):
    """The next loop device; its node is made where there are too few."""
    path = run("losetup", "-f")
    if not os.path.exists(path):
        number = int(path.removeprefix("/dev/loop"))
        run("mknod", path, "b", "7", str(number))
        stack.callback(os.unlink, path)
    return path


class Disks:
    """`with Disks(count, each_bytes, place) as disks:` - mounted directories, held to no rate until slow() is called."""

    def __init__(self, count, each_bytes, place):
        self.count, self.each_bytes, self.place = count, each_bytes, place
        self.members, self.devices = [], []
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="weir-array-", dir=self.place))
            self.limit = holder(stack)
            for number in range(self.count):
                self.make(stack, number)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *what):
        return self.stack.__exit__(*what)

    def make(self, stack, number):
        image, point = f"{self.folder}/{number}.img", f"{self.folder}/{number}"
        run("fallocate", "-l", str(self.each_bytes + SPARE_BYTES), image)
        loop = free_loop(stack)
        run("losetup", "--direct-io=on", loop, image)
        stack.callback(run, "losetup", "-d", loop)
        run("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", "-J", "size=4", loop)
        os.mkdir(point)
        run("mount", loop, point)
        stack.callback(unmount, point)
        node = os.stat(loop).st_rdev
        self.devices.append(f"{os.major(node)}:{os.minor(node)}")
        self.members.append(point)
        stack.callback(self.limit.hold, self.devices[-1], 0)

    def slow(self, rate):
        """Bytes a second for each of them; 0: as fast as they are."""
        for device in self.devices:
            self.limit.hold(device, rate)

    def bench(self, weir, *arguments, during=None):
        """The summary of a run on all of them. `during` is called with the process while it runs."""
        out = f"{self.folder}/out.json"
        command = [weir, "bench", "--quiet", "-o", out, *arguments]
        for member in self.members:
            command += ["--member", member]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=self.limit.enter) as bench:
            try:
                if during:
                    during(bench)
                problem = bench.communicate()[1]
            except BaseException:
                bench.terminate()
                raise
        if bench.returncode:
            raise RuntimeError(f"weir: {bench.returncode}: {problem.strip()}")
        with open(out, encoding="utf-8") as summary:
            return json.load(summary)


    def claims(self, weir, rounds):
        """The verdicts, as text."""
        command = [weir, "claims", "C44", "C47", "C48", "--quiet", "--rounds", str(rounds), "--dir", self.members[0]]
        for member in self.members:
            command += ["--member", member]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=self.limit.enter)
        if done.returncode:
            raise RuntimeError(f"weir: {done.returncode}: {done.stdout.strip()}")
        return done.stdout


def is_unbuffered(cell):
    return cell["method"] in ("direct/pread", "direct/pwrite", "ring/direct")


def best(group, unbuffered):
    cells = [cell for cell in group["cells"] if cell["status"] == "ok" and is_unbuffered(cell) == unbuffered]
    return max(cells, key=lambda cell: cell["bytes_per_s"])


def best_of(summary, direction, unbuffered):
    """The fastest cell of all groups of that direction."""
    groups = [group for group in summary["groups"] if group["demand"]["direction"] == direction]
    return max((best(group, unbuffered) for group in groups), key=lambda cell: cell["bytes_per_s"])


def is_alive_until_the_end():
    """SIGTERM and the like end the script as an exception, so that all is taken down."""
    def leave(number, frame):
        raise SystemExit(128 + number)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, leave)


# ---- the table ----

FEW = [word for spec in ("fd/pread", "weir/stream[strategy=buffered]", "direct/pread", "fd/pwrite", "weir/writer[strategy=buffered]",
                         "direct/pwrite", "ring/direct[depth=1|8]") for word in ("-m", spec)]
LINE = "{:>5}  {:<5}  {:>8}  {:>8}  {:>10}  {:>6}  {:<22}  {:>8}  {:>8}  {:>6}  {:>8}"


def cpu_s_per_gb(cell):
    return cell["cost"]["cpu_ns"] / (cell["bytes_per_s"] * cell["elapsed_ns"]["median"] / 1e9)


def short(cell):
    return cell["id"].replace("weir/", "w/")


def print_line(direction, count, rate, raw, summary):
    fast, slow = best_of(summary, direction, True), best_of(summary, direction, False)
    total = count * rate
    print(LINE.format(count, direction, f"{total / 1e6:.0f}", f"{raw / 1e6:.0f}", f"{fast['bytes_per_s'] / 1e6:.1f}",
                      f"{fast['bytes_per_s'] / total:.1%}", short(fast), f"{cpu_s_per_gb(fast):.3f}",
                      f"{slow['bytes_per_s'] / 1e6:.1f}", f"{slow['bytes_per_s'] / fast['bytes_per_s']:.0%}",
                      f"{cpu_s_per_gb(slow):.3f}"), flush=True)


def print_curve(curve):
    for side in ("unbuffered", "buffered"):
        point = curve[side]
        print(f"       {curve['first_group']} ...: half of the best {side} rate with requests of {point['half_power_request_bytes'] >> 10} KiB"
              f"{' (the smallest)' if point['half_power_is_smallest'] else ''} at depth {point['half_power_depth']}")


def measure(options, count):
    each = options.each * MIB
    size = ["--suite", "array", "--size", str(count * each)]
    with Disks(count, 2 * each, options.place) as disks:
        raw = disks.bench(options.weir, *size, "--request", "1MiB", "--rounds", "2", "-m", "ring/direct[depth=8]")
        disks.slow(int(options.rate * 1e6))
        some = [] if options.all else ["--request", "1MiB", *FEW]
        summary = disks.bench(options.weir, *size, "--rounds", str(options.rounds), *some)
        verdicts = disks.claims(options.weir, options.rounds) if options.claims else ""
    for direction in ("read", "write"):
        print_line(direction, count, options.rate * 1e6, best_of(raw, direction, True)["bytes_per_s"], summary)
    for curve in summary.get("curves", []):
        print_curve(curve)
    print(verdicts, end="", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weir")
    parser.add_argument("disks", type=int, nargs="+")
    parser.add_argument("--place", default=".")
    parser.add_argument("--rate", type=float, default=50)
    parser.add_argument("--each", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--claims", action="store_true")
    options = parser.parse_args()
    options.weir = os.path.abspath(options.weir)
    is_alive_until_the_end()
    print("MB/s; CPU in s/GB; 'carried': what the same disks give without the limit; 'share': of the sum, of unbuffered")
    print(LINE.format("disks", "", "sum", "carried", "unbuffered", "share", "by", "CPU", "buffered", "share", "CPU"), flush=True)
    try:
        for count in options.disks:
            measure(options, count)
    except Unable as reason:
        sys.exit(f"disk-array.py: {reason}")


if __name__ == "__main__":
    main()
