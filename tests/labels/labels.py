#!/usr/bin/env python3
"""Files whose numbers are no numbers of a disk bear the label that says so: labels.py WEIR

Makes one of each kind: in memory, allocated but never written, with holes, of zeros, below an overlay, behind FUSE, on a file
system that compresses, on a loop device; and plain ones that must bear no such label, but warm or cold and nothing else. Needs root for the mounts. They are made in a mount name
space of their own, which takes them all away when it ends, however it ends. What cannot be made here is skipped with a reason.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import why_no_mounts

SIZE = 1 << 20
BENCH = ["bench", "-q", "-m", "fd/pread", "--rounds", "1", "--seed", "1", "--format", "json"]
ALL = {"ram-backed", "holes", "unwritten", "compressible", "compressing", "overlay", "fuse", "network", "loop"}


class Skip(Exception):
    pass


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    if done.returncode:
        raise Skip(f"{' '.join(command)}: {done.stdout.strip()}")


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")


def labels(weir, *arguments):
    """The words in the labels of all cells, and the ids of the warnings."""
    done = subprocess.run([weir, *BENCH, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if done.returncode:
        raise AssertionError(f"exit {done.returncode}: {done.stderr.decode()}")
    report = json.loads(done.stdout)
    words = [set(cell["label"].split("+")) for group in report["groups"] for cell in group["cells"] if cell["label"]]
    assert words, "no cell has a label"
    return words, {warning["id"] for warning in report["warnings"]}


def check(weir, wanted, warning, *arguments):
    for cache in ("warm", "cold"):
        cells, warnings = labels(weir, "--cache", cache, *arguments)
        for words in cells:
            special = words & ALL
            assert special == wanted, f"{cache}: {'+'.join(sorted(words))} should name {wanted or 'nothing special'}"
            state = words - ALL
            if wanted <= {"loop"}:  # these are asked for in a state, and are in it
                assert state in ({"warm"},) if cache == "warm" else state in ({"cold"}, {"guest-cold"}), f"{cache}: {sorted(words)}"
            assert not state & ({"cold", "guest-cold"} if cache == "warm" else {"warm"}), f"{cache}: {sorted(words)}"
        for id in ("W04", "W12", "W13", "W14", "W15"):
            assert (id in warnings) == (id == warning), f"{cache}: warnings are {sorted(warnings)}, {warning} is wanted"
        assert ("W21" in warnings) == ("loop" in wanted), f"{cache}: warnings are {sorted(warnings)}"


def random_file(path):
    path.write_bytes(os.urandom(SIZE))
    return str(path)


def mount_image(folder, make, *options, cached=True):
    """A file system of its own in a file: what lies beneath the tests must not decide what they see."""
    need("mount", make[0], "losetup")
    image, point = folder / "image", folder / "point"
    with open(image, "wb") as file:
        file.truncate(256 << 20)
    run(*make, str(image))
    point.mkdir()
    if cached:
        run("mount", "-o", ",".join(("loop",) + options), str(image), str(point))
        return point
    device = subprocess.run(["losetup", "--find", "--show", "--direct-io=on", str(image)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, timeout=60)
    if device.returncode:
        raise Skip(f"losetup: {device.stderr.strip()}")
    name = device.stdout.strip()
    try:
        if pathlib.Path(f"/sys/class/block/{os.path.basename(name)}/loop/dio").read_text().strip() != "1":
            raise Skip("what lies beneath cannot be read past the cache")
        run("mount", name, str(point))
    finally:
        subprocess.run(["losetup", "--detach", name])  # gone when nothing is mounted from it
    return point


def case_plain_file(weir, folder):
    check(weir, set(), None, random_file(mount_image(folder, ["mkfs.ext4", "-q"], cached=False) / "file"))


def case_plain_scratch(weir, folder):
    check(weir, set(), None, "--size", "1MiB", "--dir", str(mount_image(folder, ["mkfs.ext4", "-q"], cached=False)))


def case_loop(weir, folder):
    point = mount_image(folder, ["mkfs.ext4", "-q"])
    check(weir, {"loop"}, None, random_file(point / "file"))
    check(weir, {"loop"}, None, "--size", "1MiB", "--dir", str(point))


def case_tmpfs(weir, folder):
    run("mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", str(folder))
    check(weir, {"ram-backed"}, "W04", random_file(folder / "file"))
    check(weir, {"ram-backed"}, "W04", "--size", "1MiB", "--dir", str(folder))


def case_fallocated(weir, folder):
    need("fallocate")
    path = mount_image(folder, ["mkfs.ext4", "-q"]) / "file"
    run("fallocate", "-l", str(SIZE), str(path))
    check(weir, {"unwritten", "loop"}, "W14", str(path))


def case_sparse(weir, folder):
    path = mount_image(folder, ["mkfs.ext4", "-q"]) / "file"
    with open(path, "wb") as file:
        file.truncate(SIZE)
    check(weir, {"holes", "loop"}, "W14", str(path))


def case_one_hole(weir, folder):
    path = mount_image(folder, ["mkfs.ext4", "-q"]) / "file"
    with open(path, "wb") as file:
        file.write(os.urandom(SIZE))
        file.truncate(SIZE + 4096)
        file.seek(SIZE + 8192)
        file.write(os.urandom(SIZE))
    check(weir, {"holes", "loop"}, "W14", str(path))


def case_zeros(weir, folder):
    path = mount_image(folder, ["mkfs.ext4", "-q"]) / "file"
    path.write_bytes(bytes(SIZE))
    _, warnings = labels(weir, str(path))
    if "W15" not in warnings and built_without_zlib(weir, path):
        raise Skip("this weir was built without zlib")
    check(weir, {"compressible", "loop"}, "W15", str(path))


def built_without_zlib(weir, path):
    done = subprocess.run([weir, *BENCH, str(path)], stdout=subprocess.PIPE, timeout=120)
    return b"built without zlib" in done.stdout


def case_overlay(weir, folder):
    base = mount_image(folder, ["mkfs.ext4", "-q"])
    for name in ("lower", "upper", "work", "all"):
        (base / name).mkdir()
    random_file(base / "lower" / "file")
    layers = f"lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work"
    run("mount", "-t", "overlay", "overlay", "-o", layers, str(base / "all"))
    check(weir, {"overlay"}, "W12", str(base / "all" / "file"))
    check(weir, {"overlay"}, "W12", "--size", "1MiB", "--dir", str(base / "all"))


def case_fuse(weir, folder):
    need("bindfs")
    if not os.path.exists("/dev/fuse"):
        raise Skip("there is no /dev/fuse")
    below, point = folder / "below", folder / "point"
    below.mkdir()
    point.mkdir()
    random_file(below / "file")
    server = subprocess.Popen(["bindfs", "-f", str(below), str(point)], stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(100):
            if os.path.ismount(point):
                break
            if server.poll() is not None:
                raise Skip(f"bindfs: {server.stderr.read().strip()}")
            time.sleep(0.05)
        check(weir, {"fuse"}, "W12", str(point / "file"))
        check(weir, {"fuse"}, "W12", "--size", "1MiB", "--dir", str(point))
    finally:
        subprocess.run(["umount", "-l", str(point)], stderr=subprocess.DEVNULL)
        server.terminate()
        server.wait(timeout=10)
        server.stderr.close()


def case_compressing(weir, folder):
    point = mount_image(folder, ["mkfs.btrfs", "-q"], "compress=zstd")
    check(weir, {"compressing", "loop"}, "W13", random_file(point / "file"))
    check(weir, {"compressing", "loop"}, "W13", "--size", "1MiB", "--dir", str(point))


def run_case(name, weir):
    with tempfile.TemporaryDirectory(prefix="weir-labels-") as folder:
        try:
            globals()["case_" + name](weir, pathlib.Path(folder))
        finally:
            for path in sorted(pathlib.Path(folder).rglob("*"), reverse=True):
                if os.path.ismount(path):
                    subprocess.run(["umount", "-l", str(path)])
            while os.path.ismount(folder):
                if subprocess.run(["umount", "-l", folder]).returncode:
                    break


def main(weir):
    failed = skipped = 0
    names = [name[5:] for name in globals() if name.startswith("case_")]
    for name in names:
        try:
            run_case(name, weir)
            print("ok  ", name)
        except Skip as reason:
            skipped += 1
            print("SKIP", name, "-", reason)
        except (AssertionError, subprocess.TimeoutExpired) as problem:
            failed += 1
            print("FAIL", name, "-", problem)
    return 1 if failed else 77 if skipped == len(names) else 0


if __name__ == "__main__":
    program = str(pathlib.Path(sys.argv[1]).resolve())
    if "--inside" in sys.argv:
        sys.exit(main(program))
    if why_no_mounts():
        print("SKIP all of it:", why_no_mounts())
        sys.exit(77)
    os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable, __file__, program, "--inside"])
