#!/usr/bin/env python3
"""Checks the HTML report as text: html_page.py WEIR BARE RUN.jsonl... BARE is weir built without what npm brings."""
import base64
import hashlib
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
WEIR, BARE = (str(pathlib.Path(path).resolve()) for path in sys.argv[1:3])
RUNS = [pathlib.Path(path).resolve() for path in sys.argv[3:]]
HOSTILE = ["</script><img src=x onerror=alert(1)>", "<!--<script>", "a\"b'c&d", "\u202eevil", "{{x}}", "]]>"]
SIZE_MOST = 1_500_000


def weir(*arguments, code=0, program=WEIR, environment=None):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=120, env={**os.environ, **(environment or {})})
    assert done.returncode == code, f"{arguments}: exit {done.returncode}\n{done.stderr.decode()[-1500:]}"
    return done


def page_of(folder, *runs, options=(), code=0, name="page.html"):
    weir("report", *runs, "-o", folder / name, *options, "--format", "csv" if len(runs) == 1 else "table", code=code)
    return (folder / name).read_bytes()


class Elements(html.parser.HTMLParser):
    """Elements with their attributes, and all text outside of scripts and styles."""
    EMPTY = {"meta", "br", "wbr", "input", "img", "link"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open, self.words, self.scripts, self.rows = [], [], [], [], 0
        self.feed(text)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.EMPTY:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += text
        elif self.open and self.open[-1] != "style":
            self.words.append(text)

    def text(self):
        return " ".join("".join(self.words).replace("\u00a0", " ").split())


def hashes(scripts):
    return {"'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'" for text in scripts}


def check_policy(elements):
    """Only the two scripts that the build embedded may run, whatever else got into the page."""
    policy = next(a["content"] for tag, a in elements.elements if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy")
    rules = {rule.split()[0]: set(rule.split()[1:]) for rule in policy.split(";")}
    programs = [text for text, (_, a) in zip(elements.scripts, [e for e in elements.elements if e[0] == "script"]) if "type" not in a]
    assert rules["default-src"] == {"'none'"} and rules["script-src"] == hashes(programs), policy
    assert len(programs) == 2


def check_offline(elements):
    """Nothing is asked for that is not in the page."""
    for tag, attributes in elements.elements:
        assert tag not in ("img", "link", "iframe", "object", "base", "form"), tag
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            assert name not in ("src", "srcset", "action") and (name != "href" or value.startswith("#")), (tag, name, value)


def check_page(text, runs):
    elements = Elements(text)
    check_policy(elements)
    check_offline(elements)
    data = json.loads(next(text for text in elements.scripts if text.startswith("{")))
    assert [len(run["groups"]) for run in data["runs"]] == [len(run["groups"]) for run in runs]
    assert not re.search(r"\bnan\b|\binf\b", elements.text())
    return elements, data


def summary_of(run, code=0):
    return json.loads(weir("report", run, "--format", "json", code=code).stdout)


def says_all_without_scripts(folder):
    """Answer, conditions, rows and reasons are in the page itself."""
    summary = summary_of(RUNS[0], code=1)
    text = page_of(folder, RUNS[0], code=1).decode()
    elements, data = check_page(text, [summary])
    words = elements.text()
    for group in summary["groups"]:
        assert group["title"] in words, group["title"]
        for cell in group["cells"]:
            assert group["dropped"] or cell["id"].replace("\u001b", "\\x1b") in words, cell["id"]
            assert not cell["reason"] or cell["reason"] in words, cell["reason"]
        advice = group.get("advice")
        assert not advice or advice["text"] in words and (not advice["code_plain"] or " ".join(advice["code_plain"].split()) in words), advice
    assert any(group.get("advice") for group in summary["groups"])
    measured = sum(cell["n"] > 0 for group in summary["groups"] for cell in group["cells"])
    assert sum(tag == "tr" and "data-cell" in a for tag, a in elements.elements) == measured
    for piece in ("with 95 % confidence", "did not fit into 1 min", "ext4", "0x5EED01", "Mike Bostock", "Observable", "6.12.9", "weir bench"):
        assert piece in words, piece
    samples = data["runs"][0]["groups"][0]["samples"]
    assert len(samples["cell"]) == len(samples["ns"]) == len(samples["round"]) > 100 and -1 in samples["cell"]
    assert len(text) < SIZE_MOST, len(text)


def is_the_same_twice_and_in_any_locale(folder):
    first = page_of(folder, RUNS[0], code=1, name="first.html")
    os.environ["LC_ALL"] = "de_DE.UTF-8"
    second = page_of(folder, RUNS[0], code=1, name="second.html")
    del os.environ["LC_ALL"]
    assert first == second


def spoiled(folder):
    """The first run with names that try to get out of every place in which a page has names."""
    text = RUNS[0].read_text(encoding="utf-8")
    def put(old, new):
        nonlocal text
        assert json.dumps(old)[1:-1] in text, old
        text = text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])
    put("map/populate", "map/" + HOSTILE[0])
    put("read sequential, 64 MiB, warm", HOSTILE[1] + HOSTILE[2])
    put("nvme0n1", HOSTILE[0])
    put("the file system refuses O_DIRECT", HOSTILE[2] + HOSTILE[3])
    text = text.replace('"argv":["weir","bench"]', '"argv":' + json.dumps(["weir", "bench", *HOSTILE]), 1)
    path = folder / "hostile.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def hostile_names_are_text(folder):
    path = spoiled(folder)
    text = page_of(folder, path, code=1).decode()
    elements, data = check_page(text, [summary_of(path, code=1)])
    words = elements.text()
    assert "map/</script><img src=x onerror=alert(1)>" in words and "<!--<script>a\"b'c&d" in words
    assert "\u202e" not in words and "\\u202e" in words
    assert data["runs"][0]["groups"][0]["cells"][3]["id"] == "map/" + HOSTILE[0]
    odd = folder / (HOSTILE[2] + " <b>.jsonl")
    odd.write_bytes(path.read_bytes())
    elements, _ = check_page(page_of(folder, odd, path, code=1).decode(), [summary_of(odd, code=1)] * 2)
    assert odd.name in elements.text()


def several_runs_stand_side_by_side(folder):
    other = folder / "other.jsonl"
    other.write_text(RUNS[0].read_text().replace("6.12.9", "6.13.1"))
    text = page_of(folder, RUNS[0], other, RUNS[1], code=1).decode()
    elements, data = check_page(text, [summary_of(RUNS[0], 1), summary_of(other, 1), summary_of(RUNS[1])])
    assert data["sections"] == [[0, 0, 0], [1, 1, None], [2, 2, None]], data["sections"]
    assert data["runs"][2]["groups"][0]["title"] in elements.text()
    assert "6.12.9" in elements.text() and "6.13.1" in elements.text()
    differ = [a for tag, a in elements.elements if tag == "tr" and a.get("class") == "differs"]
    assert differ and sum("data-run" in a for _, a in elements.elements) == sum(len(run["groups"]) for run in data["runs"])
    table = weir("report", RUNS[0], other, code=1).stdout.decode()
    assert table.count("== ") == 2 and table.index(str(RUNS[0])) < table.index(str(other))
    error = weir("report", RUNS[0], other, "-o", folder / "both.json", code=2).stderr.decode()
    assert "takes one run; several go into a table or an .html page" in error, error
    error = weir("report", RUNS[0], other, "-o", other, code=2).stderr.decode()
    assert "takes one run" in error and other.read_text().startswith("{"), error


def what_was_left_out_of_the_build_says_why(folder):
    target = folder / "bare.html"
    for arguments in (("report", RUNS[1], "-o", target), ("report", RUNS[1], "--format", "html")):
        error = weir(*arguments, program=BARE, code=2).stderr.decode()
        assert "built without the html report (npm is not installed)" in error, error
    assert not target.exists()
    assert weir("report", RUNS[1], "--format", "json", program=BARE).stdout == weir("report", RUNS[1], "--format", "json").stdout


def a_build_without_npm_goes_on(folder):
    """What meson calls, where there is no npm."""
    out, web = folder / "web.c", SOURCE / "report/web"
    done = subprocess.run([sys.executable, SOURCE / "scripts/embed-web.py", out, web, folder / "web", web / "page.js"],
                          env={"PATH": str(folder)}, capture_output=True, text=True)
    assert done.returncode == 0 and "no HTML report in this build: npm is not installed" in done.stderr, done.stderr
    assert '.missing = "npm is not installed"' in out.read_text() and (folder / "web.missing").exists()


def main():
    steps = [a_build_without_npm_goes_on, what_was_left_out_of_the_build_says_why]
    missing = WEIR and pathlib.Path(WEIR).parent / "report/web.missing"
    if not missing.exists():
        steps += [says_all_without_scripts, is_the_same_twice_and_in_any_locale, hostile_names_are_text, several_runs_stand_side_by_side]
    for step in steps:
        with tempfile.TemporaryDirectory(prefix="weir-page-") as folder:
            step(pathlib.Path(folder))
        print("ok  ", step.__name__)
    if missing.exists():
        print("skipped: this build has no HTML report:", missing.read_text().strip())
        sys.exit(77)


if __name__ == "__main__":
    main()
