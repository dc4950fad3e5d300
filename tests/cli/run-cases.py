#!/usr/bin/env python3
"""Runs the command line cases: run-cases.py WEIR [--update] [NAME...]

cases/NAME.cmd is a shell script, run in an empty directory with `weir` as a function and $CASES naming the folder of cases.
NAME.out, NAME.err and NAME.exit hold what is expected; a missing file means empty output and exit 0. In them {*} stands for
any text within a line and a line {...} for any number of lines. --update rewrites what no longer matches.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CASES = pathlib.Path(__file__).resolve().parent / "cases"


def pattern(expected):
    lines = []
    for line in expected.splitlines(keepends=True):
        if line.rstrip("\n") == "{...}":
            lines.append(r"(?:.*\n)*")
        else:
            lines.append(".*".join(re.escape(part) for part in line.split("{*}")))
    return re.compile("".join(lines) + r"\Z")


def run(weir, case):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "POSIXLY_CORRECT")}
    environment.update(LC_ALL="C.UTF-8", TERM="dumb", CASES=str(CASES), WEIR=weir)
    script = 'weir() { "$WEIR" "$@"; }\n' + case.read_text()
    with tempfile.TemporaryDirectory(prefix="weir-case-") as folder:
        done = subprocess.run(["sh", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        left = sorted(os.listdir(folder))
    return {"out": done.stdout, "err": done.stderr, "exit": f"{done.returncode}\n", "left": "".join(f"{n}\n" for n in left)}


def check(case, kind, actual, update):
    path = case.with_suffix("." + kind)
    expected = path.read_text() if path.exists() else "0\n" if kind == "exit" else ""
    if pattern(expected).match(actual):
        return True
    if update:
        path.write_text(actual)
        return True
    print(f"{path.name}: expected\n{expected}got\n{actual}")
    return False


def main(arguments):
    update = "--update" in arguments
    weir, *names = [a for a in arguments if a != "--update"]
    cases = sorted(CASES.glob("*.cmd")) if not names else [CASES / f"{name}.cmd" for name in names]
    failed = 0
    for case in cases:
        actual = run(str(pathlib.Path(weir).resolve()), case)
        results = [check(case, kind, text, update) for kind, text in actual.items()]
        print("ok  " if all(results) else "FAIL", case.stem)
        failed += not all(results)
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
