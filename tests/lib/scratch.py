#!/usr/bin/env python3
"""Runs a program with a fresh directory as its last argument: scratch.py PROGRAM [ARGUMENT...]. Its exit status is the
program's; the directory is removed afterwards, whatever happened."""
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory(prefix="weir-test-") as folder:
    sys.exit(abs(subprocess.run([*sys.argv[1:], folder], check=False).returncode))
