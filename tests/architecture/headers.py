#!/usr/bin/env python3
"""Proves that headers need no other before them: headers.py ROOT BUILD COMPILER [PREFIX...].

Compiles a file that holds nothing but one #include, for every header whose path starts with one of the prefixes (all
without); as C++ where the compiler's name ends with ++. COMPILER may have options behind it, as in 'gcc -m32'. Exit status
77, with the reason, when the compiler or the C library for it is not there.
"""
import os
import shlex
import shutil
import subprocess
import sys

SKIP = 77
FLAGS = ['-D_FILE_OFFSET_BITS=64', '-Wall', '-Wextra', '-Wpedantic', '-Wconversion', '-Wno-unused-parameter',
         '-Wno-unused-function', '-Werror', '-fsyntax-only']
LANGUAGE = {'c': ['-x', 'c', '-std=c11'], 'c++': ['-x', 'c++', '-std=c++17']}


def headers(root, prefixes):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith('.') and
                            not os.path.exists(os.path.join(folder, f, 'meson-private')))
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), root).replace(os.sep, '/')
            if name.endswith('.h') and (not prefixes or path.startswith(tuple(prefixes))):
                yield path


def compile_text(compiler, options, text):
    language = LANGUAGE['c++' if compiler[0].endswith('++') else 'c']
    return subprocess.run([*compiler, *language, *options, '-'], input=text, text=True, stderr=subprocess.STDOUT,
                          stdout=subprocess.PIPE, check=False)


def compile_alone(root, build, compiler, path):
    # private headers of one system may count on what its sources define first
    own = ['-D_GNU_SOURCE'] if path.startswith('os/linux/') else ['-D_POSIX_C_SOURCE=200809L']
    roots = [root, os.path.join(root, 'include'), os.path.join(root, 'bench'), build]
    return compile_text(compiler, [*FLAGS, *own, *(f'-I{r}' for r in roots)], f'#include "{os.path.join(root, path)}"\n')


def main():
    root, build, compiler, prefixes = sys.argv[1], sys.argv[2], shlex.split(sys.argv[3]), sys.argv[4:]
    if not shutil.which(compiler[0]):
        print(f'skipped: {compiler[0]} is not installed')
        return SKIP
    if compile_text(compiler, ['-fsyntax-only'], '#include <stdio.h>\n').returncode:
        print(f'skipped: there is no C library for {shlex.join(compiler)}')
        return SKIP
    paths = list(headers(root, prefixes))
    if not paths:
        print('no header found')
        return 1
    failed = 0
    for path in paths:
        result = compile_alone(root, build, compiler, path)
        if result.returncode:
            failed = 1
            print(f'{path}:1: does not compile alone with {shlex.join(compiler)}\n{result.stdout}')
    print(f'{len(paths)} headers compiled with {shlex.join(compiler)}')
    return failed


if __name__ == '__main__':
    sys.exit(main())
