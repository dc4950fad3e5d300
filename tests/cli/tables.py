#!/usr/bin/env python3
"""The option tables feed parser, help, manual pages and completion: tables.py WEIR MAN_FOLDER

Each of the four is asked for itself, and what they say is compared: no option is missing in one and none is there that the
others do not know. Completion is run in the shells that are installed; a shell that is not is told.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from trials import Skip, expect, run_all

WEIR = str(pathlib.Path(sys.argv[1]).resolve())
PAGES = pathlib.Path(sys.argv[2]).resolve()
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"]


def run(*arguments, **settings):
    return subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                          timeout=120, check=False, **settings)


def weir(*arguments):
    done = run(WEIR, *arguments)
    expect((done.returncode, done.stderr), (0, ""))
    return done.stdout


def options_in(text, pattern):
    """(name, letter, argument) of what looks like an option; an argument that may be left out stands in brackets."""
    text = re.sub(r"\[=(\w+)\]", r"=[\1]", text)
    return {(name, letter or "-", argument) for letter, name, argument in re.findall(pattern, text, re.MULTILINE)}


def tables():
    """{command: [(option, letter, argument, words)]}, by the program's own tables; commands without options too."""
    rows = [line.split("\t") for line in weir("__options").splitlines()]
    named = re.findall(r"^  ([a-z-]+) ", weir("help").split("\nCommands:\n")[1].split("\n\n")[0], re.MULTILINE)
    assert len(named) > 9 and {row[0] for row in rows} <= set(named), named
    return {name: [(row[1], row[2], row[3], row[4].split(",") if row[4] else []) for row in rows if row[0] == name]
            for name in named}


def page_of(name):
    return (PAGES / name).read_text(encoding="utf-8")


def plain(roff):
    return re.sub(r"\\f[BIR]", "", roff).replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")


def test_every_page_has_the_sections_of_a_manual():
    for name in tables():
        expect(re.findall(r"^\.SH (.+)$", page_of(f"weir-{name}.1"), re.MULTILINE), SECTIONS)
    expect(re.findall(r"^\.SH (.+)$", page_of("weir.1"), re.MULTILINE), SECTIONS)


def test_pages_are_those_of_the_commands():
    expect(sorted(path.name for path in PAGES.glob("weir*.1")), sorted(["weir.1", *(f"weir-{name}.1" for name in tables())]))
    overview = plain(page_of("weir.1"))
    for name in tables():
        assert f".BR weir-{name} (1)" in overview, name


def test_help_is_manual_is_parser():
    for command, rows in tables().items():
        wanted = {(name, letter, argument) for name, letter, argument, _ in rows} | {("help", "h", "")}
        text = weir("help", command).split("\nExamples:\n")[1]
        expect(options_in(text, r"^(?:  -(\w), |      )--([\w-]+)(?:=(\S+))?"), wanted)
        expect(options_in(plain(page_of(f"weir-{command}.1")), r"^\.TP\n(?:-(\w), )?--([\w-]+)(?:=(\S+))?$"), wanted)
        for name, letter, argument in wanted - {("help", "h", "")}:
            for words in ([f"--{name}"], [f"-{letter}"]) if letter != "-" else ([f"--{name}"],):
                done = run(WEIR, command, *words, *(["x"] if argument and argument[0] != "[" else []), "--no-such-option")
                expect(done.returncode, 2)
                assert "unknown option '--no-such" in done.stderr or words[0] in done.stderr or f"--{name}" in done.stderr, done.stderr


def test_words_stand_in_help_and_manual():
    for command, rows in tables().items():
        text, page = weir("help", command), plain(page_of(f"weir-{command}.1"))
        for name, _, _, words in rows:
            listed = "(" + ", ".join(words) + ")"
            assert not words or (listed in text and listed in page), f"{command} --{name}: {listed}"


def test_methods_have_a_manual():
    text = plain(page_of("weir-methods.7"))
    listed = re.findall(r"^  (\w+(?:/[\w-]+)?) +(?:ok|not here|\?) ", weir("list", "methods"), re.MULTILINE)
    assert len(listed) > 50, listed
    expect(re.findall(r"^\.SS (\S+)$", text, re.MULTILINE), listed)
    assert "block=128KiB (1 to " in text, "parameters are not told"


def test_studies_have_a_manual():
    text = page_of("weir-studies.7")
    source = pathlib.Path(__file__).resolve().parents[2] / "docs/studies.md"
    rows = re.findall(r"^\| ([A-Z]\w+) \|", source.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) > 90, len(rows)
    expect(re.findall(r"^\.B (\w+)$", text, re.MULTILINE), rows)


def pages():
    return sorted(path for path in PAGES.iterdir() if re.fullmatch(r"weir[\w-]*\.[17]", path.name))


def test_groff_formats_them_without_a_warning():
    if not shutil.which("groff"):
        raise Skip("groff is not installed")
    for path in pages():
        done = run("groff", "-ww", "-z", "-man", "-Kutf8", "-Tutf8", str(path))
        expect((path.name, done.returncode, done.stdout + done.stderr), (path.name, 0, ""))


def test_man_formats_them_without_a_warning():
    if not shutil.which("man") or "--warnings" not in run("man", "--help").stdout:
        raise Skip("no man that tells warnings")
    for path in pages():
        done = run("man", "--warnings", "-l", str(path), env=dict(os.environ, MANPAGER="cat", LC_ALL="C.UTF-8"))
        expect((path.name, done.returncode, done.stderr), (path.name, 0, ""))


def test_mandoc_finds_nothing():
    if not shutil.which("mandoc"):
        raise Skip("mandoc is not installed")
    for path in pages():
        lines = run("mandoc", "-Tlint", "-Wwarning", str(path)).stdout.splitlines()
        # a date would make every build another one
        expect([line for line in lines if "missing date" not in line], [])


# ---- completion ----

BASH = r"""
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_weir
printf '%s\n' "${COMPREPLY[@]}"
"""


def bash(*words):
    """What bash proposes for the last word. `--cache=wa` is given as bash gives it: as three words."""
    parts = [part for word in words for part in (re.split("(=)", word) if word.startswith("--") else [word])]
    while len(parts) > 1 and parts[-1] == "" and parts[-2] == "=":
        parts.pop()
    done = run("bash", "--norc", "-c", BASH, "bash", str(PAGES / "weir"), "weir", *parts)
    expect((done.returncode, done.stderr), (0, ""))
    return sorted(filter(None, done.stdout.split("\n")))


def need(shell):
    if not shutil.which(shell):
        raise Skip(f"{shell} is not installed")


def test_bash_completes_commands_and_options():
    need("bash")
    expect(run("bash", "-n", str(PAGES / "weir")).stderr, "")
    expect(bash(""), sorted([*tables(), "--help", "--version"]))
    expect(bash("be"), ["bench"])
    for command, rows in tables().items():
        expect(bash(command, "--"), sorted(["--help", *(f"--{name}" for name, *_ in rows)]))
    expect(bash("bench", "--dur"), ["--durability"])


def test_bash_completes_values():
    need("bash")
    for command, rows in tables().items():
        for name, letter, argument, words in rows:
            if not words:
                continue
            expect(bash(command, f"--{name}="), sorted(words))
            expect(bash(command, f"--{name}", ""), sorted(words))
            if letter != "-":
                expect(bash(command, f"-{letter}", ""), sorted(words))
    expect(bash("bench", "--cache=wa"), ["warm"])
    expect(bash("bench", "--cache", "warm,c"), ["warm,cold"])
    expect(bash("bench", "--size", ""), [])
    # where '=' does not break words, as after COMP_WORDBREAKS=${COMP_WORDBREAKS//=}
    done = run("bash", "--norc", "-c", BASH, "bash", str(PAGES / "weir"), "weir", "bench", "--cache=co")
    expect(done.stdout, "--cache=cold\n")


def test_bash_completes_methods_suites_files_and_operands():
    need("bash")
    methods = re.findall(r"^\.SS (\S+)$", plain(page_of("weir-methods.7")), re.MULTILINE)
    expect(bash("bench", "-m", ""), sorted(methods))
    expect(bash("bench", "--method", "fd/pr"), sorted(name for name in methods if name.startswith("fd/pr")))
    expect(bash("bench", "--baseline=map/po"), ["map/populate"])
    os.mkdir("folder")
    for name in ("file", "mine.ini", "run.jsonl"):
        pathlib.Path(name).write_text("")
    suites = re.findall(r"^  (\S+)", weir("list", "suites"), re.MULTILINE)
    suites.remove("FILE.ini")  # stands for a file
    expect(bash("bench", "--suite="), sorted([*suites, "file", "folder", "mine.ini", "run.jsonl"]))
    expect(bash("bench", "--dir", ""), ["folder"])
    expect(bash("bench", ""), ["file", "folder", "mine.ini", "run.jsonl"])
    expect(bash("report", "r"), ["run.jsonl"])
    expect(bash("list", ""), ["methods", "reports", "suites"])
    assert {"bench", "ranks", "rounds", "warnings"} <= set(bash("help", "")), bash("help", "")
    assert set(bash("make", "")) >= {"text", "records", "typed", "random"}, bash("make", "")
    expect(bash("bench", "--overlay", "study-"), ["study-a", "study-b", "study-c", "study-e"])
    assert {"table", "json", "csv", "markdown", "jsonl"} <= set(bash("report", "--format", "")), bash("report", "--format", "")


def test_fish_completes():
    need("fish")
    def fish(line):
        done = run("fish", "--no-config", "-c", f"source {PAGES / 'weir.fish'}; complete -C '{line}'", env=dict(os.environ, HOME="."))
        expect(done.stderr, "")
        return [entry.split("\t")[0] for entry in done.stdout.splitlines()]
    assert set(tables()) <= set(fish("weir ")), fish("weir ")
    for command, rows in tables().items():
        assert {f"--{name}" for name, *_ in rows} <= {entry.rstrip("=") for entry in fish(f"weir {command} --")}, fish(f"weir {command} --")
    expect(sorted(fish("weir bench --cache ")), ["cold", "warm"])
    assert "fd/pread" in fish("weir bench -m fd/"), fish("weir bench -m fd/")




ZSH_LISTING = r"""
fpath=($1 $fpath)
autoload -U compinit && compinit -u -d $PWD/dump
bindkey '^I' complete-word
compadd () {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "$@"; return $?; fi
  typeset -a __hits
  builtin compadd -A __hits "$@"
  (( $#__hits )) && print -l -- hit:$^__hits
}
"""
ZSH_DRIVER = r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z "source ./listing.zsh $1; print rea''dy"
repeat 100; do zpty -rt z part '*' && text+=$part; [[ $text == *ready* ]] && break; sleep 0.1; done
text=
zpty -n -w z "$2"$'\t'
repeat 100; do
  sleep 0.1
  while zpty -rt z part; do text+=$part; done
  [[ $text == *hit:* ]] && (( ++after > 3 )) && break
done
print -r -- $text
"""


def zsh(line):
    """What a zsh on a terminal of its own would propose where TAB is pressed behind `line`."""
    pathlib.Path("listing.zsh").write_text(ZSH_LISTING, encoding="utf-8")
    done = run("zsh", "-f", "-c", ZSH_DRIVER, "zsh", str(PAGES), line, env=dict(os.environ, TERM="dumb", HOME=os.getcwd()))
    return {name.rstrip("=") for name in re.findall(r"hit:([^\s\x00-\x1f]+)", done.stdout)}


def test_zsh_completes():
    need("zsh")
    expect(run("zsh", "-n", str(PAGES / "_weir")).stderr, "")
    expect(zsh("weir "), set(tables()))
    found = zsh("weir bench --")
    assert {f"--{name}" for name, *_ in tables()["bench"]} <= found, found
    text = (PAGES / "_weir").read_text(encoding="utf-8")
    for command, rows in tables().items():  # a shell for each would take long
        part = text.split(f"\n_weir_{command}() {{\n")[1].split("\n}\n")[0]
        expect({name for name in re.findall(r"'\*?--([\w-]+)", part)} | {"help"}, {name for name, *_ in rows} | {"help"})
    expect(zsh("weir bench --cache="), {"warm", "cold"})
    assert "fd/pread" in zsh("weir bench --method=fd/pr"), zsh("weir bench --method=fd/pr")


sys.exit(run_all(globals()))
