#!/usr/bin/env python3
"""Installs what report/web/package.json names: npm_packages.py WEB TARGET [--tests].

WEB holds package.json and package-lock.json; TARGET/node_modules is what comes out. With --tests what only the tests use comes
too. Nothing is done where it is there already. The registry is the one that npm is set up for. Bounded in time: a network that
does not answer costs a minute and not a build. Exit status 1, and a sentence on standard error, when it cannot be had.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

LISTS = ("package.json", "package-lock.json")
SECONDS = 90


def present(web, target, tests):
    """Is every package of the lock there in the version of the lock?"""
    packages = json.loads((web / LISTS[1]).read_text(encoding="utf-8"))["packages"]
    for path, package in packages.items():
        if not path or (package.get("dev") and not tests):
            continue
        try:
            there = json.loads((target / path / "package.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        if there.get("version") != package["version"]:
            return False
    return True


def clean_environment():
    """npm run from within an npm script would take over the settings of that."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("npm_lifecycle", "npm_package"))}


def run_npm(target, tests):
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--prefer-offline",
               "--fetch-retries=1", "--fetch-timeout=20000", "--loglevel=error"] + ([] if tests else ["--omit=dev"])
    try:
        done = subprocess.run(command, cwd=target, env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=SECONDS)
    except OSError:
        return "npm is not installed"
    except subprocess.TimeoutExpired:
        return f"npm had no answer from its registry within {SECONDS} s"
    if done.returncode == 0:
        return None
    codes = [line.split()[-1] for line in done.stderr.splitlines() if line.startswith(("npm error code", "npm ERR! code"))]
    return "npm could not get its packages" + (f" ({codes[0]})" if codes else "")


def install(web, target, tests=False):
    """None, or why not."""
    web, target = pathlib.Path(web), pathlib.Path(target)
    if present(web, target, tests):
        return None
    if not shutil.which("npm"):
        return "npm is not installed"
    target.mkdir(parents=True, exist_ok=True)
    for name in LISTS:
        shutil.copyfile(web / name, target / name)
    problem = run_npm(target, tests)
    return problem or (None if present(web, target, tests) else "npm installed something else than was asked for")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(install(sys.argv[1], sys.argv[2], "--tests" in sys.argv[3:]))
