#!/usr/bin/env python3
"""Puts the functions of docs/snippets into the program: embed-snippets.py OUTPUT.c INPUT.c...

Lines "/*= NAME... */" begin a snippet, which goes on to the next such line or the next heading. In by_libweir.c the names are
one key, the words of a demand; elsewhere each is a method. OUTPUT.c defines snippet_plain_list[] and snippet_library_list[].
"""
import pathlib
import re
import sys

BEGIN = re.compile(r"/\*= (.*) \*/$")


def snippets(path):
    """Pairs of names and text, in the order of the file."""
    found, names, lines = [], None, []
    for line in path.read_text(encoding="utf-8").splitlines() + ["/* ---- end"]:
        begin = BEGIN.match(line)
        if begin and names and not lines:
            names += " " + begin.group(1)
            continue
        if begin or line.startswith("/* ---- "):
            if names:
                found.append((names, "\n".join(lines).strip() + "\n"))
            names, lines = begin.group(1) if begin else None, []
        elif names:
            lines.append(line)
    return found


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def literal(text):
    """Lines of one string; each snippet is far below what compilers have to take."""
    return "\n        ".join(quoted(line)[:-1] + '\\n"' for line in text.splitlines())


def main():
    plain, library = [], []
    for path in map(pathlib.Path, sys.argv[2:]):
        for names, text in snippets(path):
            if path.stem == "by_libweir":
                library.append((names, text))
            else:
                plain += [(name, text) for name in names.split()]
    twice = {name for name, _ in plain if [n for n, _ in plain].count(name) > 1}
    if twice or not plain or not library:
        sys.exit(f"no snippets, or two for one method: {sorted(twice)}")
    out = '#include <stddef.h>\n\n#include "report/snippets.h"\n\n'
    for name, entries in (("plain", plain), ("library", library)):
        out += f"const struct snippet snippet_{name}_list[] = {{\n"
        out += "".join(f"    {{{quoted(key)},\n        {literal(text)}}},\n" for key, text in entries)
        out += "    {NULL, NULL},\n};\n"
    pathlib.Path(sys.argv[1]).write_text(out, encoding="utf-8")


main()
