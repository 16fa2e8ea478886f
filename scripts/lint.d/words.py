#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses words that the project does not use (CONTRIBUTING.md, Words).

--count prints how many findings a folder has of each rule."""

import re
import sys
from collections import Counter

from tree import CODE, comments, expect, lines_of, report, tracked

# Names of stored columns and keys, which stay readable in old files.
KEPT = re.compile(r"\b(most_emitted|speedup_most_drafted|bytes_a_step)\b")

CODE_RULES = [
    ("a for per", re.compile(r"\b(?!\w*(?:in|of|as|is|has|at|on|by|only|worth|half)_a_)[a-z]\w*_a_[a-z0-9]\w*"),
     "a rate has per: ns_per_byte, steps_per_round"),
    ("most for max", re.compile(
        r"\b(?:most|least|fewest)_(?!probable|likely|recent|exact)[a-z]\w*|\b(?!at_|is_)\w+_(?:most|fewest)\b"),
     "a limit is max or min"),
]
# Words of the project's own where the field has one, with that one. In code, strings, comments and pages.
DIALECT = {
    r"[Rr]iders?_?": "ExtraRow, extra row",
    r"r[au]n_alone_?": "run_on_device",
    r"words_at": "tooltip_at",
    r"ColumnWords|column_words": "ColumnText",
    r"picture_words|PictureWords": "picture_text",
    r"GoOn": "ShouldContinue",
    r"learnt_from|LearntRecording|learnt_recording": "trained",
    r"WhatIfAsker|what_if_asker": "WhatIfWorker",
    r"leave_out_what_lacks": "drop_unavailable",
    r"one_a_prompt": "one_per_prompt",
    r"promise_": "expected_gain",
}
COMMENT_RULES = [
    ("comment without subject", re.compile(r"^///<? ?(?:What|Of)\b"),
     "a comment on a declaration is a phrase about this symbol"),
]
DIALECT_PATTERNS = [(re.compile(rf"\b(?:{word})\b"), better) for word, better in DIALECT.items()]
MERGE_MARK = re.compile(r"(?:<{7}|>{7}|\|{7})(?: |$)")
PATH_RULES = [
    ("vague file", re.compile(r"(?:^|[/_])(?:managers?|helpers?|utils?|common|misc)(?:[/_.]|$)"),
     "a file is named for its idea"),
]


def check(path, lines):
    """(rule, finding) of one file."""
    for rule, pattern, advice in PATH_RULES:
        if pattern.search(path):
            yield rule, f"{path}:1: is a {rule}: {advice}"
    for number, line in enumerate(lines, 1):
        if MERGE_MARK.match(line):
            yield "merge mark", f"{path}:{number}: a merge's mark, expected one wording"
        for word, better in DIALECT_PATTERNS:
            for match in word.finditer(line):
                yield "dialect", f"{path}:{number}: {match.group()}, expected {better}"
    if not path.endswith(CODE):
        return
    for number, line in enumerate(lines, 1):
        plain = KEPT.sub("", re.sub(r'"(?:[^"\\]|\\.)*"', '""', line).split("//")[0])
        for rule, pattern, advice in CODE_RULES:
            for match in pattern.finditer(plain):
                yield rule, f"{path}:{number}: {match.group()}: {advice}"
    previous = 0
    for number, text in comments(lines):
        starts = not (previous == number - 1 and lines[number - 2].lstrip().startswith("///")
                      and lines[number - 1].lstrip().startswith("///"))
        previous = number
        for rule, pattern, advice in COMMENT_RULES:
            if starts and pattern.search(text.strip()):
                yield rule, f"{path}:{number}: {text.strip()[:60]}: {advice}"


def count_of(key_and_findings):
    return Counter((path.split("/")[0], rule) for path, rule, _ in key_and_findings)


def self_check():
    def rules(path, *lines):
        return [rule for rule, _ in check(path, list(lines))]

    expect("a rate", rules("a/b.h", "double ns_a_byte = 0;"), ["a for per"])
    expect("per", rules("a/b.h", "double ns_per_byte = 0;"), [])
    expect("a limit", rules("a/b.h", "int most_rows = 0;"), ["most for max"])
    expect("a stored column", rules("a/b.h", 'visit("most_emitted", most_emitted);'), [])
    expect("dialect", rules("a/b.cpp", "std::vector<ExtraRow> riders_;"), ["dialect"])
    expect("dialect in a page", rules("a/b.md", "Trees, guesses, riders."), ["dialect"])
    expect("no rate", rules("a/b.h", "int times_in_a_block = 0;"), [])
    expect("at most", rules("a/b.h", "int at_most = 0;"), [])
    expect("a comment without subject", rules("a/b.h", "/// Of a verification now.", "int rows();"),
           ["comment without subject"])
    expect("behind a declaration", rules("a/b.h", "int rows = 0;  ///< What is left."), ["comment without subject"])
    expect("a wrapped line", rules("a/b.h", "/// Maximum rows", "/// Of a verification."), [])
    expect("a good comment", rules("a/b.h", "/// Maximum rows of a verification."), [])
    expect("a vague file", rules("a/string_utils.h"), ["vague file"])


def main():
    self_check()
    found = [(path, rule, finding) for path in tracked() if not path.startswith(("scripts/lint.d/", "CHANGELOG"))
             for rule, finding in check(path, lines_of(path) if path.endswith(CODE + (".md", ".py")) else [])]
    if "--count" in sys.argv:
        for (folder, rule), count in sorted(count_of(found).items()):
            print(f"{folder:12} {rule:24} {count}")
        return
    report([finding for _, _, finding in found], "words")


if __name__ == "__main__":
    main()
