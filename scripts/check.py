#!/usr/bin/env python3
"""Runs every test of a build folder and closes with one line: N passed, N failed, N skipped.

A test that cannot run here exits with 77; its reason is shown, so that a skip is never taken for a pass.
"""
import json
import os
import re
import subprocess
import sys


def results(build):
    with open(os.path.join(build, "meson-logs", "testlog.json"), encoding="utf-8") as log:
        for line in log:
            yield json.loads(line)


def last_lines(test, count):
    text = (test.get("stdout") or "") + (test.get("stderr") or "")
    return [line for line in text.splitlines() if line.strip()][-count:]


def main():
    build, arguments = sys.argv[1], sys.argv[2:]
    code = subprocess.run(["meson", "test", "-C", build, "--print-errorlogs"] + arguments).returncode
    passed = failed = skipped = 0
    for test in results(build):
        outcome = test["result"]
        if outcome in ("OK", "EXPECTEDFAIL"):
            passed += 1
        elif outcome == "SKIP":
            skipped += 1
            print("SKIPPED", test["name"] + ":", " / ".join(last_lines(test, 2)) or "no reason given")
        else:
            failed += 1
            print("FAILED", test["name"] + ":", outcome)
        for line in last_lines(test, 100000):
            if re.match(r"\W*skip", line, re.IGNORECASE) and "skipped: 0" not in line.lower():
                print("  in", test["name"] + ":", line)
    if passed + failed == 0 or (code != 0 and failed == 0):
        failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


sys.exit(main())
