#!/usr/bin/env python3
"""How far do two summaries of the same machine contradict each other?

    scripts/contradictions.py ONE.json TWO.json

Every pair of cells of a group gets a verdict in each run, as the report gives it for the baseline: faster, slower, same or
unclear. A contradiction is faster in one run and slower in the other, or called different in one and the same in the other.
"Called in one, unclear in the other" is what margins are for and is counted apart. Exit 1 above 2 %.
"""
import json
import sys


def verdict(pair, margin, asked):
    if pair is None or pair["low"] is None or pair["high"] is None:
        return "unclear"
    if pair["low"] > 1 + margin:
        return "faster"
    if pair["high"] < 1 / (1 + margin):
        return "slower"
    if pair["low"] >= 1 / (1 + asked) and pair["high"] <= 1 + asked:
        return "same"
    return "unclear"


def verdicts(path):
    found = {}
    with open(path, encoding="utf-8") as file:
        for group in json.load(file)["groups"]:
            cells, asked = [cell["id"] for cell in group["cells"]], group["margin_asked"]
            for i, row in enumerate(group["pairs"] or []):
                for j, pair in enumerate(row):
                    if i < j:
                        found[group["id"], cells[i], cells[j]] = verdict(pair, group["margin"] or asked, asked)
    return found


def main():
    one, two = verdicts(sys.argv[1]), verdicts(sys.argv[2])
    pairs = sorted(one.keys() & two.keys())
    agree = [p for p in pairs if one[p] == two[p]]
    bad = [p for p in pairs if one[p] != two[p] and "unclear" not in (one[p], two[p])]
    for group, a, b in bad:
        print(f"{group}: {b} against {a}: {one[group, a, b]} / {two[group, a, b]}")
    share = 100 * len(bad) / max(1, len(pairs))
    called = sum(1 for p in pairs if "unclear" not in (one[p], two[p]))
    print(f"{len(pairs)} pairs, {len(agree)} alike, {called} called in both, {len(bad)} contradictions = {share:.1f} %")
    return 1 if share > 2 or not pairs else 0


sys.exit(main())
