#!/usr/bin/env python3
"""Makes weir-studies(7) of docs/studies.md: studies-page.py INPUT.md OUTPUT.7 VERSION

It knows the little of Markdown that the page uses: headings, paragraphs, tables of three columns, `code`. A row of a table
becomes an entry: its name, what it was, and what answers it here.
"""
import re
import sys


def escape(text):
    """Prose with `code`: bold, with the hyphens of code."""
    parts = text.replace("\\", "\\e").split("`")
    for at in range(1, len(parts), 2):
        parts[at] = "\\fB" + parts[at].replace("-", "\\-") + "\\fR"
    line = "".join(parts)
    return "\\&" + line if line.startswith((".", "'")) else line


def row(line):
    name, what, here = (cell.strip() for cell in line.strip("|").split("|"))
    return [".TP", ".B " + escape(name), escape(what[:1].upper() + what[1:]) + ":", escape(here)]


def body(text):
    out, fresh = [], True
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("# "):
            continue
        if line.startswith("## "):
            out.append(f'.SS "{escape(line[3:])}"')
            fresh = False
        elif line.startswith("|"):
            head = number + 1 < len(lines) and re.match(r"\|[-|]+\|$", lines[number + 1])
            if not head and not re.match(r"\|[-|]+\|$", line):
                out += row(line)
            fresh = True
        elif not line.strip():
            fresh = bool(out)
        else:
            out += ([".PP"] if fresh and out else []) + [escape(line)]
            fresh = False
    return out


def main(source, target, version):
    with open(source, encoding="utf-8") as file:
        text = file.read()
    page = [f'.TH WEIR\\-STUDIES 7 "" "weir {version}" "weir"', ".SH NAME",
            "weir\\-studies \\- published studies of file I/O, row by row, and what answers them", ".SH DESCRIPTION", *body(text),
            ".SH SEE ALSO", ".BR weir (1),", ".BR weir\\-bench (1),", ".BR weir\\-claims (1),", ".BR weir\\-methods (7)"]
    with open(target, "w", encoding="utf-8") as file:
        file.write("\n".join(page) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
