#!/usr/bin/env python3
"""Proves that includes go one way only: architecture.py ROOT, or architecture.py --self-check.

Each folder may include what the table LAYERS names and nothing else. Conditionals and feature macros of one system stay in
os/linux. File names are unique, so that a name says which file is meant. Prints every violation as file:line: text; exit
status 1 if there is one. Reads text only: it does not know what the compiler would make of it.
"""
import os
import re
import sys
import tempfile

# folder -> what its files may include: folders (with a slash at the end) or single files
LAYERS = {
    'include/weir/': ['include/weir/'],
    'include/weir.h': ['include/weir.h'],
    'base/': ['base/'],
    'os/': ['os/'],
    # the library sees of a system what os.h says, and nothing of the program
    'lib/': ['include/weir.h', 'os/os.h', 'lib/'],
    # the library as a contender: what others have of it, and what contenders share
    'methods/weir': ['include/weir/', 'include/weir.h', 'methods/'],
    'methods/': ['include/weir/', 'os/', 'methods/'],
    'bench/plan/': ['include/weir/', 'base/', 'bench/plan/'],
    'bench/measure/': ['include/weir/', 'base/', 'os/', 'bench/plan/', 'bench/measure/', 'version.h'],
    'bench/stat/': ['base/', 'bench/plan/', 'bench/measure/run.h', 'bench/stat/'],
    # the three nouns to the left of it, not the stages that make them
    'report/': ['base/', 'bench/plan/plan.h', 'bench/plan/claims.h', 'bench/measure/run.h', 'bench/stat/summary.h',
                'bench/stat/claim.h', 'bench/stat/compare.h', 'report/', 'version.h'],
    'cli/': ['include/weir/', 'include/weir.h', 'base/', 'os/os.h', 'methods/', 'bench/', 'report/', 'cli/', 'version.h'],
    # programs of others
    'docs/examples/': ['include/weir.h'],
}
INCLUDE_ROOTS = ['', 'include/', 'bench/']
GENERATED = {'version.h'}
# the contract with plugins and systems: no header but those of the C standard
STANDARD_ONLY = ['include/weir/', 'include/weir.h', 'os/os.h', 'lib/', 'docs/examples/']
STANDARD = {'assert.h', 'ctype.h', 'errno.h', 'float.h', 'inttypes.h', 'limits.h', 'math.h', 'signal.h', 'stdalign.h',
            'stdarg.h', 'stdatomic.h', 'stdbool.h', 'stddef.h', 'stdint.h', 'stdio.h', 'stdlib.h', 'stdnoreturn.h',
            'string.h', 'time.h',
            'atomic'}  # of C++, where the header is used from there
# files for one kind of processor, which the build leaves out on others
PROCESSOR = {'lib/scan_x86.h': {'immintrin.h'}}
# the linux folder is one of several that hold the same names; build files and packages have a fixed name
NOT_UNIQUE = {'meson.build', '__init__.py'}
NAME_FOLDERS = re.compile(r'os/[^/]+/')
CONDITIONALS_ALLOWED = ('os/', 'methods/list.c', 'tests/', 'plugins/', 'peers/')
LINUX_ONLY = ('os/linux/', 'tests/')

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
CONDITIONAL = re.compile(r'\s*#\s*(if|ifdef|ifndef|elif)\b\s*(.*)')
PUBLIC_CONDITION = re.compile(r'(defined\s*\(?\s*)?(__GNUC__|__cplusplus)\s*\)?$')


def sources(root):
    """Paths of all files below root, with slashes, without hidden ones and build directories."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith('.') and f != '__pycache__' and
                            not os.path.exists(os.path.join(folder, f, 'meson-private')))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), root).replace(os.sep, '/')


def layer_of(path):
    return next((layer for layer in LAYERS if path.startswith(layer)), None)


def resolve(name, path, files):
    """The file of the tree that an include in quotes means; None when there is none."""
    candidates = [os.path.normpath(os.path.join(os.path.dirname(path), name)).replace(os.sep, '/')]
    candidates += [root + name for root in INCLUDE_ROOTS]
    if name in GENERATED:
        return name
    return next((c for c in candidates if c in files), None)


def allowed(target, layer):
    return any(target.startswith(entry) if entry.endswith('/') else target == entry for entry in LAYERS[layer])


def starts(path, entries):
    return any(path.startswith(entry) for entry in entries)


def check_include(kind, name, path, files):
    layer = layer_of(path)
    target = resolve(name, path, files) if kind == '"' else None
    if kind == '"' and target is None:
        return f'includes "{name}", which is not in the tree'
    if target is None and layer is not None:
        target = resolve(name, path, files)  # angle brackets do not hide a header of ours
        if target is None and starts(path, STANDARD_ONLY) and name not in STANDARD | PROCESSOR.get(path, set()):
            return f'includes <{name}>, which is no header of the C standard'
        if name == 'errno.h' and path.startswith('lib/'):
            return 'includes <errno.h>: calls of os.h return their errors'
    if target is not None and layer is not None and not allowed(target, layer):
        return f'includes "{target}", which {layer} must not know'
    return None


def check_condition(text, number, lines, path):
    match = CONDITIONAL.match(text)
    if not match or starts(path, CONDITIONALS_ALLOWED):
        return None
    word, condition = match.group(1), match.group(2).strip()
    following = lines[number].split() if number < len(lines) else []
    guard = word == 'ifndef' and path.endswith('.h') and following[:2] == ['#define', condition]
    public = path.startswith('include/') and PUBLIC_CONDITION.match(condition)
    return None if guard or public else f'has a conditional: #{word} {condition}'


def check_file(root, path, files):
    with open(os.path.join(root, path), encoding='utf-8', errors='replace') as file:
        lines = file.read().split('\n')
    for number, text in enumerate(lines, 1):
        include = INCLUDE.match(text)
        problems = [check_include(include.group(1), include.group(2), path, files) if include else None,
                    check_condition(text, number, lines, path)]
        if re.match(r'\s*#\s*define\s+_(GNU_SOURCE|DEFAULT_SOURCE|BSD_SOURCE)\b', text) and not starts(path, LINUX_ONLY):
            problems.append('asks for more than POSIX; only os/linux may')
        yield from (f'{path}:{number}: {problem}' for problem in problems if problem)


def check_names(files):
    seen = {}
    for path in sorted(files):
        name = path.rsplit('/', 1)[-1]
        if name in NOT_UNIQUE or NAME_FOLDERS.match(path):
            continue
        if name in seen:
            yield f'{path}:1: has the same name as {seen[name]}'
        seen.setdefault(name, path)


def violations(root):
    files = set(sources(root))
    for path in sorted(files):
        if path.endswith(('.c', '.h', '.cc', '.cpp')):
            yield from check_file(root, path, files)
    yield from check_names(files)


# ---- self-check: a tree in which every rule is broken once ----

BAD_TREE = {
    'base/units.h': '#ifndef U\n#define U\n#endif\n',
    'base/bad.c': '#include "os/os.h"\n',
    'os/os.h': '#include <stdint.h>\n#include <unistd.h>\n',
    'os/linux/reach.c': '#define _GNU_SOURCE\n#include "base/units.h"\n#ifdef X\n#endif\n',
    'include/weir.h': '#ifndef W\n#define W\n#include <stdint.h>\n#include <fcntl.h>\n#endif\n',
    'lib/pages.c': '#include "os/os.h"\n#include "weir.h"\n#include "os/linux/calls.h"\n#include <sys/mman.h>\n',
    'lib/lines.c': '#include <errno.h>\n#ifdef X\n#endif\n',
    'docs/examples/see.c': '#include <weir.h>\n#include <unistd.h>\n#include "os/os.h"\n',
    'methods/weir.c': '#include "weir.h"\n#include "methods.h"\n#include "os/os.h"\n#include "lib/pages.c"\n',
    'methods/map.c': '#include "weir.h"\n',
    'include/weir/method.h': '#ifndef M\n#define M\n#ifdef __GNUC__\n#endif\n#include <jansson.h>\n#endif\n',
    'methods/fd.c': '#include "weir/method.h"\n#include <base/units.h>\n',
    'methods/list.c': '#ifdef WITH_THIS\n#endif\n',
    'bench/plan/plan.h': '#include "weir/method.h"\n#include "stat/summary.h"\n',
    'bench/measure/run.h': '#include "plan/plan.h"\n',
    'bench/measure/measure.h': '#include "run.h"\n#include "methods/methods.h"\n#include "nowhere.h"\n',
    'bench/stat/summary.h': '#include "measure/run.h"\n#include "measure/measure.h"\n',
    'methods/methods.h': '#if 1\n#endif\n',
    'bench/stat/exact.h': '\n',
    'report/json.c': '#include "measure/run.h"\n#include "stat/exact.h"\n#include "measure/measure.h"\n',
    'report/table.c': '#include "stat/summary.h"\n  #  include "cli/command.h"\n#include "os/os.h"\n#define _GNU_SOURCE 1\n',
    'report/command.h': '\n',
    'cli/command.h': '#include "report/table.c"\n#include "version.h"\n#include <sys/stat.h>\n',
    'cli/main.c': '#include "os/os.h"\n#include "os/linux/calls.h"\n',
    'os/linux/calls.h': '\n',
    'os/win32/calls.h': '\n',
    'tests/os/free.c': '#define _GNU_SOURCE\n#include <unistd.h>\n#include "cli/command.h"\n',
}
BAD_LINES = [
    'base/bad.c:1', 'bench/measure/measure.h:2', 'bench/measure/measure.h:3', 'bench/plan/plan.h:2',
    'bench/stat/summary.h:2', 'cli/main.c:2', 'docs/examples/see.c:2', 'docs/examples/see.c:3', 'include/weir.h:4', 'include/weir/method.h:5', 'lib/lines.c:1',
    'lib/lines.c:2', 'lib/pages.c:3', 'lib/pages.c:4', 'methods/fd.c:2', 'methods/map.c:1', 'methods/methods.h:1',
    'methods/weir.c:3', 'methods/weir.c:4', 'os/linux/reach.c:2', 'os/os.h:2', 'report/command.h:1', 'report/json.c:2', 'report/json.c:3',
    'report/table.c:2', 'report/table.c:3', 'report/table.c:4',
]


def self_check():
    with tempfile.TemporaryDirectory() as root:
        for path, text in BAD_TREE.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                file.write(text)
        found = list(violations(root))
    places = sorted(':'.join(line.split(':')[:2]) for line in found)
    if places == BAD_LINES:
        return 0
    print('\n'.join(found))
    print('not reported:', sorted(set(BAD_LINES) - set(places)), 'reported wrongly:', sorted(set(places) - set(BAD_LINES)))
    return 1


def main():
    if sys.argv[1] == '--self-check':
        return self_check()
    found = list(violations(sys.argv[1]))
    print('\n'.join(found) if found else 'every include goes the right way')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
