#!/usr/bin/env python3
"""Puts what the HTML report needs into the program: embed-web.py OUTPUT.c WEB PACKAGES FILE...

WEB is report/web; PACKAGES a folder for npm. FILE.js, joined in the order given, become the program of the page, FILE.css its
style. Plot, d3 and tablesort come from npm, pinned by WEB/package-lock.json, with the licence texts of all that is in their
bundles. Where they cannot be had, OUTPUT.c says why instead: the build goes on, and the HTML report names the reason. The file
PACKAGES.missing then stands beside PACKAGES, so that `make build` tries again.
"""
import base64
import hashlib
import json
import pathlib
import re
import sys

import npm_packages

BUNDLES = ("d3/dist/d3.min.js", "@observablehq/plot/dist/plot.umd.min.js", "tablesort/dist/tablesort.min.js")
# dependencies of command-line tools that come with d3's parts; they are in no bundle
NOT_BUNDLED = {"commander", "iconv-lite", "rw", "safer-buffer"}
PIECE = 3000  # below what a C compiler must take as one string


def quoted(data):
    plain = set(range(32, 127)) - set(b'"\\?')
    return "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in data)


def pieces(name, text):
    data = text.encode("utf-8")
    lines = (f'    "{quoted(data[at:at + PIECE])}",\n' for at in range(0, len(data), PIECE))
    return f"static const char *const {name}[] = {{\n{''.join(lines)}    NULL,\n}};\n"


def hash_of(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def as_script(text, where):
    """A script that may stand in a page as it is."""
    if re.search(r"</script|<!--", text, re.IGNORECASE):
        sys.exit(f"{where}: holds what would end or comment out a script element")
    return text


def library_of(modules):
    return "\n".join(as_script((modules / path).read_text(encoding="utf-8").rstrip(), path) for path in BUNDLES) + "\n"


def licence_file(folder):
    return next(path for path in sorted(folder.iterdir()) if re.match(r"licen[sc]e", path.name, re.IGNORECASE))


def split_licence(text):
    """Who holds the rights, and the words that many packages share."""
    lines = [line.strip() for line in text.strip().splitlines()]
    holders = [line for line in lines if line.lower().startswith("copyright")]
    words = "\n".join(line for line in lines if line not in holders)
    return tuple(holders), re.sub(r"\n{2,}", "\n\n", words).strip()


def licences_of(modules, web):
    packages = json.loads((web / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    texts = {}
    for path, package in sorted(packages.items()):
        name = path.removeprefix("node_modules/")
        if path and not package.get("dev") and name not in NOT_BUNDLED:
            holders, words = split_licence(licence_file(modules / name).read_text(encoding="utf-8"))
            texts.setdefault(words, {}).setdefault(holders, []).append(f"{name} {package['version']}")
    parts = []
    for words, users in texts.items():
        heads = [", ".join(names) + "".join(f"\n  {line}" for line in holders) for holders, names in users.items()]
        parts.append("\n".join(heads) + "\n\n" + words)
    return ("\n\n" + "-" * 40 + "\n\n").join(parts) + "\n"


def program_of(files):
    texts = [path.read_text(encoding="utf-8").rstrip() for path in files if path.suffix == ".js"]
    return as_script("(() => {\n'use strict';\n" + "\n".join(texts) + "\n})();\n", "report/web")


def text_of(web, packages, files):
    problem = npm_packages.install(web, packages)
    missing = pathlib.Path(str(packages) + ".missing")
    if problem:
        print(f"embed-web: no HTML report in this build: {problem}", file=sys.stderr)
        missing.write_text(problem + "\n", encoding="utf-8")
        return f'const struct html_assets html_assets = {{.missing = "{quoted(problem.encode())}"}};\n'
    missing.unlink(missing_ok=True)
    modules = packages / "node_modules"
    library, program = library_of(modules), program_of(files)
    style = "\n".join(path.read_text(encoding="utf-8").rstrip() for path in files if path.suffix == ".css") + "\n"
    arrays = pieces("library", library) + pieces("program", program) + pieces("style", style)
    arrays += pieces("licences", licences_of(modules, web))
    return (f"{arrays}\nconst struct html_assets html_assets = {{NULL, style, library, program, licences, "
            f'"{hash_of(library)}", "{hash_of(program)}"}};\n')


def main(output, web, packages, *files):
    head = ("/* Made by scripts/embed-web.py from report/web and npm packages; not to be edited. */\n"
            '#include "report/html_parts.h"\n\n')
    text = text_of(pathlib.Path(web), pathlib.Path(packages), [pathlib.Path(file) for file in files])
    pathlib.Path(output).write_text(head + text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
