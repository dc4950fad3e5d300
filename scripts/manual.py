#!/usr/bin/env python3
"""Makes the manual pages of libweir from its header, which is the manual:

manual.py names HEADER              the file names of all pages, one a line
manual.py pages HEADER FOLDER       writes them
manual.py functions HEADER          the functions that the library exports, one a line; with --inline all that are declared

weir.3 is the overview, each section of the header is a page named after it, and each function is a page that leads to its
section's. The layout of the header is all it knows of C: declarations begin in the first column, and so do the comments that
explain them.
"""
import os
import re
import sys
import textwrap

WIDTH = 78
SECTION = re.compile(r"/\* ---- (.*?) -{3,} \*/")
BODIES = "bodies of inline functions" # not for readers
ERROR = re.compile(r'\s*X\((\w+), (-\d+), "(.*?)"\)')
RULE = re.compile(r" {2}([A-Z]\w+) +(.*)")
DIRECTIVE = re.compile(r"#(?!define WEIR_(?!H$|ERROR_VALUE))|  WEIR_ERRORS\(")
TRAILING = re.compile(r"(\s*)(\S.*?)\s*/\* ?(.*?) ?\*/$")


# ---- what the header declares ----

def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)


def statements(text):
    """What stands outside of all braces, up to each ; or closing brace: types, prototypes and heads of inline functions."""
    text = re.sub(r"^[ \t]*#(.*\\\n)*.*$", "", without_comments(text), flags=re.MULTILINE)
    text = text.replace('extern "C" {', "")
    depth, head = 0, ""
    for character in text:
        depth += (character == "{") - (character == "}")
        if depth == 0 and character in ";}":
            yield " ".join(head.split())
            head = ""
        elif depth == 0 or (depth == 1 and character == "{"):
            head += character if depth == 0 else " "


def functions(text, inline):
    """Names of the functions declared in a piece of the header; `inline`: with those that are whole in it."""
    names = []
    for statement in statements(text):
        match = re.search(r"\b(weir_\w+)\s*\(", statement)
        if match and not statement.startswith("typedef") and (inline or "inline" not in statement.split()):
            names.append(match.group(1))
    return names


def sections(text):
    """(title, text) of each; the part before the first has the title ''."""
    pieces = SECTION.split(text)
    yield "", pieces[0]
    yield from zip(pieces[1::2], pieces[2::2])


def page_name(title):
    return "weir_" + re.sub(r"\W+", "_", title) if title else "weir"


def version(text):
    return ".".join(re.search(rf"#define WEIR_VERSION_{part} (\d+)", text).group(1) for part in ("MAJOR", "MINOR", "PATCH"))


# ---- roff ----

def escape(line, code=False):
    line = line.replace("\\", "\\e")
    line = line.replace("-", "\\-") if code else line
    return "\\&" + line if line.startswith((".", "'")) else line


def literal(lines):
    return [".PP", ".EX", *(escape(line, code=True) for line in lines), ".EE"]


def comment_text(lines):
    """The lines of a comment without its frame."""
    text = "\n".join(lines).strip()[2:-2]
    return [re.sub(r"^ \*( |$)", "", line) if number else line.strip() for number, line in enumerate(text.split("\n"))]


def paragraphs(lines):
    """A comment as roff: indented lines are examples, and a line as '  Errors    ...' begins an entry of a list."""
    out, example, fresh, rules = [], [], True, False
    for line in [*lines, ""]:
        rule = RULE.fullmatch(line)
        if line.startswith("    ") and not rules:
            example.append(line)
            continue
        if example:
            out += literal(example)
            example, fresh = [], True
        if not line.strip():
            fresh, rules = True, False
        elif rule:
            out += [".TP", f".B {rule.group(1)}", escape(rule.group(2))]
            fresh, rules = False, True
        else:
            out += ([".PP"] if fresh else []) + [escape(line.strip())]
            fresh = False
    return out


def fold(line):
    """A line of code as lines that are not too long: a comment behind it goes before it, arguments go on below."""
    if len(line) <= WIDTH:
        return [line]
    match = TRAILING.fullmatch(line)
    if match:
        margin, code, comment = match.groups()
        text = textwrap.wrap(f"/* {comment} */", WIDTH - len(margin), subsequent_indent="   ")
        return [margin + part for part in text] + fold(margin + code)
    margin = re.match(r"\s*", line).group()
    out = [margin + line.strip()]
    while len(out[-1]) > WIDTH:
        place = max(out[-1].rfind(mark, len(margin) + 4, WIDTH) for mark in (", ", "(")) + 1
        if not place:
            break
        out[-1:] = [out[-1][:place], margin + "    " + out[-1][place:].strip()]
    return out


def joined(lines):
    """Declarations, and comments behind code, that go on in the next lines: in one line each."""
    out, is_open = [], False
    for line in lines:
        if is_open:
            out[-1] += " " + line.strip()
        else:
            out.append(line)
        code = without_comments(out[-1])
        is_open = out[-1].rfind("/*") > out[-1].rfind("*/") or code.count("(") > code.count(")")
    return out


def declarations(lines):
    """Code as roff: the table of errors as a list, inline functions without their bodies, no directives but constants."""
    errors = [ERROR.match(line) for line in lines]
    if any(errors):
        entries = (match.groups() for match in errors if match)
        return [part for name, value, text in entries for part in (".TP", f".BR {name} \" (\\{value})\"", escape(text))]
    out, body = [], False
    for line in joined(lines):
        if line.startswith("static inline") and line.endswith("{"):
            out += fold(line[len("static inline "):-2] + ";")
            body = True
        elif body:
            body = line != "}"
        elif not DIRECTIVE.match(line):
            out += fold(line.removeprefix("static inline "))
    return literal(out) if any(out) else []


def blocks(text):
    """('comment' or 'code', lines) in order; only comments in the first column stand for themselves."""
    kind, lines = None, []
    for line in [*text.split("\n"), ""]:
        if kind == "comment":
            lines.append(line)
        elif line.startswith("/*") or not line.strip():
            if lines:
                yield kind, lines
            kind, lines = ("comment", [line]) if line.startswith("/*") else (None, [])
        else:
            kind, lines = "code", [*lines, line]
        if kind == "comment" and line.rstrip().endswith("*/"):
            yield kind, lines
            kind, lines = None, []


def described(text):
    out = []
    for kind, lines in blocks(text):
        out += paragraphs(comment_text(lines)) if kind == "comment" else declarations(lines)
    return out


# ---- pages ----

def head(name, header):
    return [f'.TH {name.upper()} 3 "" "weir {version(header)}" "libweir"', ".SH NAME"]


SYNOPSIS = [".SH SYNOPSIS", ".EX", ".B #include <weir.h>", ".PP", "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs weir)", ".EE"]


def overview(header, before, titles):
    """weir.3: what stands at the top of the header, and where the rest is."""
    comment, rest = re.match(r"(/\*.*?\*/)(.*)", before, flags=re.DOTALL).groups()
    lines = comment_text(comment.split("\n"))
    start = next(number for number, line in enumerate(lines) if number and not line.strip())
    summary = " ".join(" ".join(lines[:start]).split()).split(" - ", 1)[1].rstrip(".")
    out = [*head("weir", header), f"weir, {', '.join(functions(rest, True))} \\- {escape(summary)}", *SYNOPSIS,
           ".SH DESCRIPTION", *paragraphs([line for line in lines[start:] if "pkg-config" not in line]), *described(rest)]
    out += [".SH SECTIONS"]
    for title in titles:
        out += [".TP", f".BR {page_name(title)} (3)", escape(title)]
    return out


def section_page(header, title, text):
    names = functions(text, True)
    return [*head(page_name(title), header), f"{', '.join([page_name(title), *names])} \\- {escape(title)} (libweir)",
            *SYNOPSIS, ".SH DESCRIPTION", *described(text), ".SH SEE ALSO", ".BR weir (3)"]


def pages(header):
    """File name -> text, of all pages."""
    parts = list(sections(re.sub(r"#ifdef __cplusplus\n.*?#endif\n", "", header, flags=re.DOTALL)))
    parts = [(title, text) for title, text in parts if title != BODIES]
    out, links = {}, {}
    for title, text in parts:
        name = page_name(title)
        page = section_page(header, title, text) if title else overview(header, text, [t for t, _ in parts[1:]])
        out[f"{name}.3"] = "\n".join(page) + "\n"
        for function in functions(text, True):
            if links.setdefault(f"{function}.3", f".so man3/{name}.3\n") != f".so man3/{name}.3\n":
                sys.exit(f"manual: two sections declare {function}")
    clash = sorted(set(out) & set(links))
    if clash:
        sys.exit(f"manual: a section and a function have one name: {', '.join(clash)}")
    return {**out, **links}


def main(arguments):
    if len(arguments) < 2 or arguments[0] not in ("names", "pages", "functions"):
        sys.exit(__doc__)
    with open(arguments[1], encoding="utf-8") as file:
        header = file.read()
    if arguments[0] == "functions":
        inline = "--inline" in arguments
        print("\n".join(dict.fromkeys(functions(header, inline))))
    elif arguments[0] == "names":
        print("\n".join(sorted(pages(header))))
    else:
        for name, text in pages(header).items():
            with open(os.path.join(arguments[2], name), "w", encoding="utf-8") as file:
                file.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
