#!/usr/bin/env python3
"""Builds the library for 32 bits and runs programs with it: build32.py SOURCE COMPILER SOURCES...

Compiles SOURCES (those of lib/ and os/) with COMPILER -m32 and without liburing, links tests/lib/everything.c with them and
runs it, and then the tests of the library that there are: with a small stand-in for cmocka, which nobody has for 32 bits.
Skipped (77) where the C library for 32 bits is missing.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

SKIP = 77
FLAGS = ["-m32", "-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow",
         "-Wno-unused-parameter", "-Wno-psabi","-D_POSIX_C_SOURCE=200809L", "-D_FILE_OFFSET_BITS=64"]


def run(command, folder, timeout=300, **options):
    return subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False, timeout=timeout, **options)


def must(command, folder):
    result = run(command, folder)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\n{result.stdout}")
    return result.stdout


def can_build(compiler, folder):
    text = "#include <stdio.h>\nint main(void) { return puts(\"\") < 0; }\n"
    result = run([compiler, "-m32", "-x", "c", "-", "-o", "try"], folder, input=text)
    if result.returncode:
        print(f"SKIPPED: {compiler} -m32 cannot build a program: {result.stdout.strip().splitlines()[-1]}")
        return False
    try:
        return run(["./try"], folder).returncode == 0
    except OSError as error:
        print(f"SKIPPED: this machine does not run programs of 32 bits: {error}")
        return False


def build_library(compiler, flags, sources, folder):
    for number, source in enumerate(sources):
        text = must([compiler, *flags, "-Werror", "-c", source, "-o", f"{number}.o"], folder)
        if text:
            print(text)
    must(["ar", "rcs", "libweir.a", *(f"{number}.o" for number in range(len(sources)))], folder)


def run_test(compiler, flags, source, folder):
    """Builds and runs one cmocka test; the calls of the C library that it wraps are those that it or inject.h define."""
    with open(source, encoding="utf-8") as file, open(os.path.join(os.path.dirname(source), "inject.h"), encoding="utf-8") as more:
        text = file.read()
        text += more.read() if 'inject.h"' in text else ""
    wrapped = sorted(set(re.findall(r"\b__wrap_(\w+)\(", text)))
    program = os.path.basename(source)[:-2]
    helper = os.path.join(os.path.dirname(source), "stand-in")
    result = run([compiler, *flags, f"-I{helper}", source, "-o", program, "libweir.a", "-pthread", "-lm",
                  *(f"-Wl,--wrap={name}" for name in wrapped)], folder)
    if result.returncode:
        print(f"{program} does not build\n{result.stdout}")
        return False
    result = run([f"./{program}"], folder)
    if result.returncode not in (0, SKIP):
        print(f"{program}: status {result.returncode}\n{result.stdout}")
        return False
    skipped = [line for line in result.stdout.splitlines() if "SKIP" in line]
    print("\n".join([f"{program}: passed", *skipped]))
    return True


def main(source, compiler, *sources):
    sources = [name.replace("scan_x86_64.c", "scan_x86_32.c") for name in sources] # as lib/meson.build has it
    flags = [*FLAGS, *(f"-I{os.path.join(source, place)}" for place in ("", "include", "bench"))]
    with tempfile.TemporaryDirectory(prefix="weir-test-") as folder:
        if not can_build(compiler, folder):
            return SKIP
        build_library(compiler, flags, sources, folder)
        program = os.path.join(source, "tests/lib/everything.c")
        must([compiler, *flags, "-Werror", program, "-o", "everything", "libweir.a", "-pthread"], folder)
        os.mkdir(os.path.join(folder, "data"))
        print(must(["./everything", "data"], folder) + "everything: passed, 32 bits, without liburing")
        tests = sorted(glob.glob(os.path.join(source, "tests/lib/test_lib_*.c")))
        passed = [run_test(compiler, flags, test, folder) for test in tests]
        return 0 if all(passed) else 1


sys.exit(main(*sys.argv[1:]))
