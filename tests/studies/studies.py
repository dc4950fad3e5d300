#!/usr/bin/env python3
"""docs/studies.md answers every row of the five studies, and every answer exists: studies.py WEIR SOURCE"""
import pathlib
import re
import subprocess
import sys

WEIR, SOURCE = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()


def numbered(letter, last, digits=2):
    return [f"{letter}{number:0{digits}d}" for number in range(1, last + 1)]


ROWS = (numbered("R", 27) + numbered("W", 10) + numbered("U", 10) + numbered("Z", 9) + numbered("Q", 28) + numbered("T", 13)
        + numbered("M", 6) + numbered("K", 12) + numbered("L", 11, 1))


def output(*arguments):
    return subprocess.run([WEIR, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout


def suite_has(suite, row):
    path = SOURCE / "suites" / f"{suite}.ini"
    return path.exists() and re.search(rf"^(style\.{row} =|\[group {row}\])", path.read_text(), re.MULTILINE) is not None


METHODS = set(re.findall(r"^  ([a-z0-9/+-]+)", output("list", "methods"), re.MULTILINE))
OPTIONS = set(re.findall(r"(--[a-z-]+)", output("help", "bench")))
COMMANDS = set(re.findall(r"^  ([a-z]+) ", output("help"), re.MULTILINE))
HEADER = set(re.findall(r"\b([A-Za-z_]\w*)\(", (SOURCE / "include/weir.h").read_text()))
CLAIMS = set()
for file in (SOURCE / "claims").glob("*.ini"):
    CLAIMS |= set(re.findall(r"^\[(?:claim )?(C\d\d[a-h]?)", file.read_text(), re.MULTILINE))


def exists(answer):
    if answer.startswith("weir "):
        return answer.split()[1] in COMMANDS
    if answer.startswith("--"):
        return answer in OPTIONS
    if re.fullmatch(r"C\d\d[a-h]?", answer):
        return answer in CLAIMS
    if ":" in answer:
        return suite_has(*answer.split(":"))
    if answer.lower().startswith("weir_"):
        return answer in HEADER
    if "clock_" in answer:
        return answer in output("help", "bench") or any(answer in path.read_text() for path in (SOURCE / "report").glob("*.c"))
    return answer in METHODS or (SOURCE / answer).is_file()


def main():
    bad, seen = [], []
    for line in (SOURCE / "docs/studies.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|") or cells[0] not in ROWS:
            continue
        seen.append(cells[0])
        answers = re.findall(r"`([^`]+)`", cells[2])
        if not answers:
            bad.append(f"{cells[0]}: no answer")
        bad += [f"{cells[0]}: there is no {answer}" for answer in answers if not exists(answer)]
    bad += [f"{row} stands {seen.count(row)} times" for row in ROWS if seen.count(row) != 1]
    print("\n".join(bad) if bad else f"{len(seen)} rows, each with an answer that exists")
    return 1 if bad else 0


sys.exit(main())
