#!/usr/bin/env python3
"""Puts suite files into the program: embed-suites.py OUTPUT.c INPUT.ini...

Writes a C file that defines plan_suites[]: name (file stem), summary (of the section [suite]) and text. Only the summary is
read here; what else the text says is checked by the program and its tests.
"""
import configparser
import pathlib
import sys


def characters(text):
    """Pieces of C character constants; arrays have no limit of length, string literals have."""
    return [f"'{chr(b)}'" if 32 <= b < 127 and chr(b) not in "'\\" else f"'\\{b:03o}'" for b in text.encode()] + ["'\\0'"]


def array(name, text):
    pieces = characters(text)
    lines = (",".join(pieces[i:i + 30]) for i in range(0, len(pieces), 30))
    return f"static const char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def summary_of(path, text):
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text, str(path))
    try:
        return parser["suite"]["summary"]
    except KeyError:
        sys.exit(f"{path}: no summary in section [suite]")


def main(output, inputs):
    arrays, entries = "", ""
    for number, path in enumerate(map(pathlib.Path, sorted(inputs))):
        text = path.read_text(encoding="utf-8")
        arrays += array(f"name_{number}", path.stem) + array(f"summary_{number}", summary_of(path, text)) + array(f"text_{number}", text)
        entries += f"    {{name_{number}, summary_{number}, text_{number}}},\n"
    pathlib.Path(output).write_text(
        "/* Made by scripts/embed-suites.py from suites; not to be edited. */\n"
        '#include <stddef.h>\n\n#include "plan/plan.h"\n\n'
        f"{arrays}\nconst struct plan_suite plan_suites[] = {{\n{entries}    {{NULL, NULL, NULL}},\n}};\n",
        encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
