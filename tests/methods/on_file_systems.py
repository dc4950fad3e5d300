#!/usr/bin/env python3
"""Copies and many files on file systems other than that of the build: two that share storage, and memory.

on_file_systems.py TEST_FILES: runs that program there for the methods that ask most of a file system.
"""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from trials import Skip, expect, run_all  # noqa: E402

TEST_FILES = os.path.abspath(sys.argv[1])
SHARING = "copy/reflink: files cannot share storage here"


def tried_on(mount, methods, make=None):
    """What the program prints where `point` is a file system of its own; the mount goes when the name space ends."""
    if os.geteuid():
        raise Skip("mounts need root")
    if make and not shutil.which(make.split()[0]):
        raise Skip(f"{make.split()[0]} is not installed")
    os.mkdir("point")
    if make:
        with open("image", "wb") as file:
            file.truncate(400 << 20)
        subprocess.run(make.split(), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    script = f"{mount} || exit 99\ncd point || exit 98\nfor method in {methods}; do \"$0\" $method || exit 1; done"
    done = subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-c", script, TEST_FILES],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode == 99:
        raise Skip("cannot mount here: " + done.stdout.strip())
    if done.returncode:
        raise AssertionError(done.stdout)
    expect(done.stdout.count("[  PASSED  ]"), len(methods.split()))
    return done.stdout


def test_xfs_shares_storage():
    seen = tried_on("mount -o loop image point", "copy/reflink copy/copy-file-range copy/direct many/direct weir/copy",
                    make="mkfs.xfs -q -m reflink=1 image")
    assert SHARING not in seen, seen


def test_btrfs_shares_storage():
    seen = tried_on("mount -o loop image point", "copy/reflink copy/direct many/direct weir/copy", make="mkfs.btrfs -q image")
    assert SHARING not in seen, seen


def test_memory_shares_none():
    seen = tried_on("mount -t tmpfs -o size=64m tmpfs point", "copy/reflink copy/sendfile copy/splice copy/ring many/ring")
    assert SHARING in seen, seen


sys.exit(run_all(globals()))
