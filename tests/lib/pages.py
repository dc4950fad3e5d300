#!/usr/bin/env python3
"""Looks at the manual pages: pages.py MANUAL HEADER FOLDER. Every function of weir.h, inline ones too and all but those for
other languages, has one that leads to the section that tells what it does and declares it, and to no other; every name of the section is on its page, and groff formats all without a warning. Skipped (77) in its last part without groff."""
import os
import re
import shutil
import subprocess
import sys

SKIP = 77


def read(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return file.read()


def without_page(folder, names):
    """Functions that have none, or one whose section does not tell their declaration."""
    for name in names:
        if not os.path.exists(os.path.join(folder, f"{name}.3")):
            yield f"{name}: no page"
            continue
        link = re.fullmatch(r"\.so man3/(\w+\.3)\n", read(folder, f"{name}.3"))
        if not link or not re.search(rf"\b{name}\(", read(folder, link.group(1))):
            yield f"{name}: its page does not lead to its declaration"
    for name in os.listdir(folder):
        if "weir_abi_" in name or "bodies" in name:
            yield f"{name}: a page of what nobody is to read"


def warnings(folder, name):
    result = subprocess.run(["groff", "-ww", "-z", "-man", "-Tutf8", name], cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    return f"{name}: {result.stdout or result.returncode}" if result.stdout or result.returncode else None


def too_wide(folder, name):
    """Lines of code that a terminal of 80 columns would break: the page has a margin of 7."""
    in_code = False
    for line in read(folder, name).splitlines():
        in_code = line == ".EX" or (in_code and line != ".EE")
        if in_code and len(line.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")) > 84:
            yield f"{name}: too wide: {line}"


def unbalanced(folder, name):
    """A brace without its other half: of the header's extern "C", once."""
    text = re.sub(r"/\*.*?\*/", "", read(folder, name), flags=re.DOTALL)
    return f"{name}: braces" if text.count("{") != text.count("}") else None


def main(manual, header, folder):
    names = subprocess.run([sys.executable, manual, "functions", header, "--inline"], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.split()
    names = [name for name in names if not name.startswith("weir_abi_")]
    assert {"weir_lines_next", "weir_lines_open", "weir_batch_line", "weir_writer_put", "weir_copy"} <= set(names), names
    all_pages = sorted(name for name in os.listdir(folder) if name.endswith(".3"))
    real = [name for name in all_pages if not read(folder, name).startswith(".so ")]
    bad = list(without_page(folder, names))
    bad += [line for name in real for line in too_wide(folder, name)]
    bad += [text for text in (unbalanced(folder, name) for name in real) if text]
    if len(real) < 10:
        bad.append(f"only {len(real)} pages")
    if shutil.which("groff"):
        bad += [text for text in (warnings(folder, name) for name in real) if text]
    print("\n".join(bad) if bad else f"{len(names)} functions on {len(real)} pages")
    if bad or shutil.which("groff"):
        return 1 if bad else 0
    print("SKIPPED: groff is not installed, so nobody formatted the pages")
    return SKIP


sys.exit(main(*sys.argv[1:]))
