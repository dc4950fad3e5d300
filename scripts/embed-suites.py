#!/usr/bin/env python3
"""Puts the files of suites/ and claims/ into the program: embed-suites.py OUTPUT.c INPUT...

INPUT.ini, claims: those with a section [study]; OUTPUT.c defines claims_texts[]: name (file stem) and text, in the order given.

INPUT.ini, suites: OUTPUT.c defines plan_suites[]: name (file stem), summary (of the section [suite]) and text. Only the
summary is read here; what else the text says is checked by the program and its tests.

INPUT.csv, published figures: OUTPUT.c defines overlay_list[]: name (file stem), what the lines "# key: text" at the head say,
and the figures of each row.
"""
import configparser
import csv
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


def suites(paths):
    arrays, entries = "", ""
    for number, path in enumerate(paths):
        text = path.read_text(encoding="utf-8")
        arrays += array(f"name_{number}", path.stem) + array(f"summary_{number}", summary_of(path, text)) + array(f"text_{number}", text)
        entries += f"    {{name_{number}, summary_{number}, text_{number}}},\n"
    return ('#include <stddef.h>\n\n#include "plan/plan.h"\n\n'
            f"{arrays}\nconst struct plan_suite plan_suites[] = {{\n{entries}    {{NULL, NULL, NULL}},\n}};\n")


def claims(paths):
    arrays, entries = "", ""
    for number, path in enumerate(paths):
        arrays += array(f"name_{number}", path.stem) + array(f"text_{number}", path.read_text(encoding="utf-8"))
        entries += f"    {{name_{number}, text_{number}}},\n"
    return ('#include <stddef.h>\n\n#include "plan/claims.h"\n\n'
            f"{arrays}\nconst struct claims_text claims_texts[] = {{\n{entries}    {{NULL, NULL}},\n}};\n")


ACCESS = {"Seq": "WEIR_SEQUENTIAL", "Rand": "WEIR_RANDOM"}
DIRECTION = {"Inp": "WEIR_READ", "Out": "WEIR_WRITE", "read": "WEIR_READ", "write": "WEIR_WRITE"}
SIZES = {"0.66MB": 660_000, "10MB": 10_000_000, "50MB": 50_000_000}


def figure(style, seconds, direction="read", access="Seq", request=0, size=0, loops=0, mb_per_s=0.0):
    return (f'    {{"{style}", {ACCESS[access]}, {DIRECTION[direction]}, {request}, {size}, {loops}, '
            f'{float(seconds)!r}, {float(mb_per_s)!r}}},\n')


def figures(row):
    """What a row of one of the studies says; figures below their clock's step are left out."""
    if "Style" in row:
        return [figure(row["Style"], row["Seconds"], row["Inp/Out"], row["Access"], int(row["BlockSiz"]), mb_per_s=row["MBytes/sec"])]
    if "run1_us" in row:
        return [figure(row["id"], (float(row["run1_us"]) + float(row["run2_us"])) / 2e6)]
    if "ns_loops_1" in row:
        return [figure(row["id"], float(row[f"ns_loops_{loops}"]) / 1e9, loops=loops) for loops in (1, 100)]
    if float(row["seconds"]) == 0:
        return []
    size = SIZES[row["size"]]
    return [figure(row["id"], row["seconds"], row["direction"], size=size, mb_per_s=size / 1e6 / float(row["seconds"]))]


def overlays(paths):
    arrays, entries = "", ""
    for number, path in enumerate(paths):
        lines = path.read_text(encoding="utf-8").splitlines()
        facts = dict(line[1:].strip().split(": ", 1) for line in lines if line.startswith("#"))
        table = csv.DictReader(line for line in lines if not line.startswith("#"))
        try:
            arrays += array(f"name_{number}", path.stem) + "".join(array(f"{key}_{number}", facts[key]) for key in ("source", "machine", "file"))
            rows = [text for row in table for text in figures(row)]
            arrays += f"static const struct overlay_figure figures_{number}[] = {{\n" + "".join(rows) + "};\n"
        except KeyError as error:
            sys.exit(f"{path}: missing or unknown: {error}")
        entries += f"    {{name_{number}, source_{number}, machine_{number}, file_{number}, {len(rows)}, figures_{number}}},\n"
    return ('#include <stddef.h>\n\n#include "report/overlay.h"\n\n'
            f"{arrays}\nconst struct overlay overlay_list[] = {{\n{entries}    {{NULL, NULL, NULL, NULL, 0, NULL}},\n}};\n")


def text_of(inputs):
    paths = list(map(pathlib.Path, inputs))
    if all("[study]" in path.read_text(encoding="utf-8").splitlines() for path in paths):
        return claims(paths)
    paths.sort()
    kinds = {path.suffix for path in paths}
    if kinds not in ({".ini"}, {".csv"}):
        sys.exit(__doc__)
    return suites(paths) if kinds == {".ini"} else overlays(paths)


def main(output, inputs):
    head = "/* Made by scripts/embed-suites.py from suites or claims; not to be edited. */\n"
    pathlib.Path(output).write_text(head + text_of(inputs), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
