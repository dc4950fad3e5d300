#!/usr/bin/env python3
"""Opens HTML reports in a real browser: html_browser.py WEIR RUN.jsonl... [--keep FOLDER]

Makes the pages, brings playwright-core from npm into the build folder, finds Chromium, and lets html_browser.mjs look. Skips,
with the reason, where one of them cannot be had. --keep: pages and screenshots stay there, for people to look at.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
SOURCE = HERE.parents[2]
sys.path.insert(0, str(SOURCE / "scripts"))
import npm_packages  # noqa: E402


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def browser():
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((path for path in map(shutil.which, names) if path), None)


def weir(program, *arguments, codes=(0,), folder=None):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode in codes, f"{arguments}: exit {done.returncode}\n{done.stderr[-1500:]}"


def make_pages(program, runs, folder):
    """One run; several; the block study with the published lines; single operations timed."""
    weir(program, "report", runs[0], "-o", folder / "one.html", codes=(0, 1))
    other = folder / ("a_name_as_long_as_runs_have_that_lie_deep_in_a_tree_" * 2 + "other.jsonl")
    other.write_text(runs[0].read_text().replace("6.12.9", "6.13.1"))
    weir(program, "report", runs[0], other, "-o", folder / "several.html", codes=(0, 1))
    weir(program, "bench", "-q", "--latency", "-m", "fd/pread", "-m", "map/view", "--access", "random", "--request", "4KiB", "--size", "8MiB",
         "--rounds", "6", "-o", "latency.html", folder=folder)
    weir(program, "bench", "-q", "--suite", "blocks", "--size", "1MiB", "--rounds", "1", "--seed", "0x5eed", "-o", "blocks.jsonl",
         folder=folder)
    weir(program, "report", folder / "blocks.jsonl", "--overlay", "study-e", "-o", folder / "blocks.html")


def main():
    arguments = sys.argv[1:]
    keep = pathlib.Path(arguments.pop()).resolve() if "--keep" in arguments else None
    program, *runs = [pathlib.Path(path).resolve() for path in arguments if path != "--keep"]
    missing = program.parent / "report/web.missing"
    if missing.exists():
        skip("this build has no HTML report: " + missing.read_text().strip())
    if not shutil.which("node"):
        skip("no node")
    if not browser():
        skip("no Chromium")
    packages = program.parent / "tests/html/web"
    problem = npm_packages.install(SOURCE / "report/web", packages, tests=True)
    if problem:
        skip("no playwright-core: " + problem)
    with tempfile.TemporaryDirectory(prefix="weir-browser-") as scratch:
        folder = keep or pathlib.Path(scratch)
        folder.mkdir(exist_ok=True)
        make_pages(program, runs, folder)
        environment = {**os.environ, "HOME": scratch, "KEEP": "yes" if keep else "",
                       "PLAYWRIGHT": str(packages / "node_modules/playwright-core/index.js")}
        sys.exit(subprocess.run(["node", HERE.with_suffix(".mjs"), browser(), folder], env=environment).returncode)


if __name__ == "__main__":
    main()
