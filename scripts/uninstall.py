#!/usr/bin/env python3
"""Removes what `meson install` put there: uninstall.py BUILD

The log of the installation names the files and the directories that it made; a directory that holds something else stays.
What is gone already is no error.
"""
import os
import sys


def paths_of(build):
    with open(os.path.join(build, "meson-logs", "install-log.txt"), encoding="utf-8") as log:
        return [line.rstrip("\n") for line in log if line.strip() and not line.startswith("#")]


def main(build):
    paths, failed, removed = paths_of(build), 0, 0
    for path in sorted(paths, key=len, reverse=True):
        try:
            if os.path.isdir(path) and not os.path.islink(path):
                if not os.listdir(path):
                    os.rmdir(path)
            else:
                os.unlink(path)
                removed += 1
        except FileNotFoundError:
            pass
        except OSError as error:
            print(f"uninstall: {error}", file=sys.stderr)
            failed += 1
    print(f"{removed} files removed")
    return 2 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
