#!/usr/bin/env python3
"""Makes a static library that shows only what a version script lists: bundle.py OUTPUT MAP LIBRARY RESTS OBJCOPY AR COMPILER...

All of LIBRARY and what it needs of the archives in RESTS (with commas between; may be empty) become one object file, in which
every other name is made local. So a program can have names of its own like ours, and another liburing.
"""
import os
import re
import subprocess
import sys
import tempfile


def main(output, version_map, library, rests, objcopy, archiver, *compiler):
    with open(version_map, encoding="utf-8") as file:
        names = re.findall(r"^\s+(weir_\w+);", file.read(), flags=re.MULTILINE)
    output = os.path.abspath(output)
    with tempfile.TemporaryDirectory() as folder:
        one, keep = os.path.join(folder, "weir.o"), os.path.join(folder, "names")
        with open(keep, "w", encoding="utf-8") as file:
            file.write("\n".join(names) + "\n")
        roots = [f"-Wl,--undefined={name}" for name in names]
        parts = ["-Wl,--whole-archive", library, "-Wl,--no-whole-archive", *filter(None, rests.split(","))]
        subprocess.run([*compiler, "-r", "-nostdlib", "-o", one, "-Wl,--gc-sections", *roots, *parts], check=True)
        subprocess.run([objcopy, f"--keep-global-symbols={keep}", one], check=True)
        if os.path.exists(output):
            os.remove(output)  # an archive is added to, not replaced
        subprocess.run([archiver, "rcsD", output, one], check=True)


main(*sys.argv[1:])
