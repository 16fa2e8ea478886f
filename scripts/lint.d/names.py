#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses comparisons with the name of a strategy or of a part outside strategies/: what is asked of one is a field of its
row (speculation/catalogue, StrategyRow and PartRow). Names are read from strategies/*/row.cpp."""

import re

from tree import CODE, LIBRARIES, expect, lines_of, report, tracked

NAME = re.compile(r'\.name = "([a-z-]+)",\s*\.summary')
COMPARISON = re.compile(r'([\w.()>:*\[\]-]+)\s*[!=]=\s*u?"([a-z-]+)"|([\w.()>:-]+)\.starts_with\(\s*"([a-z-]+)')
# Words that name other things, too: only what is called a strategy or a part is compared with them in vain.
COMMON = {"auto", "skip-set", "none", "full", "exit", "fixed", "threshold", "entropy", "adaptive", "chain", "tree", "mix"}
OF_A_STRATEGY = re.compile(r"strateg|mask|part\(|row\.name|specification")


def names_in(text):
    return set(NAME.findall(text))


def check(path, lines, names):
    for number, line in enumerate(lines, 1):
        for left, right, text, beginning in COMPARISON.findall(line):
            subject, name = (left, right) if right else (text, beginning)
            if name in names and (name not in COMMON or OF_A_STRATEGY.search(subject)):
                yield f"{path}:{number}: compares {subject} with {name}, expected a field of its row"


def self_check():
    names = names_in('{.kind = PartKind::mask,\n.name = "swift",\n.summary = "x"} {.name = "auto", .summary = "y"}')
    expect("names of rows", names, {"swift", "auto"})

    def count(line):
        return len(list(check("simulator/a.cpp", [line], names)))

    expect("a mask's name", count('if (mask == "swift") {'), 1)
    expect("a call's value", count('return strategy_name(text) != "auto";'), 1)
    expect("the beginning of a text", count('text.starts_with("swift")'), 1)
    expect("a part's call", count('strategy.part(PartKind::mask) == "swift"'), 1)
    expect("another thing of that name", count('if (options.mode != "auto") {'), 0)
    expect("a name that is passed on", count('make_strategy("swift", shape)'), 0)


if __name__ == "__main__":
    self_check()
    found = [path for path in tracked() if path.startswith("strategies/") and path.endswith("/row.cpp")]
    names = names_in("\n".join("\n".join(lines_of(path)) for path in found))
    report([finding for path in tracked() if path.endswith(CODE) and path.startswith(tuple(f"{library}/" for library in LIBRARIES))
            for finding in check(path, lines_of(path), names)], "names")
