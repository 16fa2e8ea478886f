#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses words that the project does not use, and long sentences in pages (CONTRIBUTING.md, Words).

--count prints how many findings each folder has of each rule; --show RULE prints the findings of one rule."""

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
# "behind" is a place; for time and order the word is "after".
BEHIND = re.compile(r"\bbehind\b(?! (?:it|them|the (?:marks|plot|text|window|curve|bars?))\b(?= (?:is|are) drawn))", re.IGNORECASE)
# Beginnings of comments that are understood only with the comment before. A wrapped line is no beginning.
COMMENT_RULES = [
    ("comment without subject", re.compile(r"^///<? ?(?:What|Of)\b"),
     "a comment on a declaration is a phrase about this symbol"),
    ("comment that leans on another", re.compile(r"^(?://+<?|/\*+<?) ?(?:The same\b|Those (?:that|of|which)\b|That (?:of|which)\b|As (?:above|before)\b)|^// ?Of\b"),
     "a comment is understood without its neighbours"),
    ("comment in lower case", re.compile(r"^///<? ?(?:of|that|as|which|those|the same|whose|by which|in which)\b"),
     "a comment on a field is a sentence, a phrase about this field, a shape or a unit"),
]
MAX_SENTENCE_WORDS = 35
SENTENCE_END = re.compile(r"(?<=[.!?])[)\"*]*\s+|(?<=:)\s+(?=[A-Z])")
CELL_END = re.compile(r"(?<=[.!?:;])[)\"*]*\s+")  # A cell may list phrases.
# What the program wrote into a page is held to its source by a test, and mended there.
GENERATED = re.compile(r"^<!-- (end of )?(?:figures|findings)\b")
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
    if path.endswith(".md"):
        yield from check_page(path, lines)
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
        if number == 1 and "SPDX" in text:
            continue
        for rule, pattern, advice in COMMENT_RULES:
            if starts and pattern.search(text.strip()):
                yield rule, f"{path}:{number}: {text.strip()[:60]}: {advice}"
        if BEHIND.search(text):
            yield "behind in a comment", f"{path}:{number}: {text.strip()[:60]}: of time and order, say after"


def check_page(path, lines):
    """(rule, finding) of a page's prose, without code and what a program wrote into it."""
    for number, text, is_cell in paragraphs(lines):
        if BEHIND.search(text):
            yield "behind in a page", f"{path}:{number}: {text[:60]}: of time and order, say after"
        for sentence in re.split(CELL_END if is_cell else SENTENCE_END, text):
            count = len([word for word in sentence.split() if re.search(r"\w", word)])
            if count > MAX_SENTENCE_WORDS:
                yield "long sentence", (f"{path}:{number}: {count} words in \"{sentence[:60]}\", "
                                        f"expected at most {MAX_SENTENCE_WORDS}")


def paragraphs(lines):
    """(number of the first line, text, whether it is a cell) of each paragraph, entry of a list and cell of a table."""
    begins, words, is_code, is_generated = 0, [], False, False
    for number, line in enumerate([*lines, ""], 1):
        bare = line.strip()
        generated = GENERATED.match(bare)
        is_fence = bare.startswith("```")
        is_cells = bare.startswith("|") and not (is_code or is_generated)
        is_text = bool(bare) and not (is_code or is_fence or generated or is_generated or is_cells or bare.startswith(("#", "!["))
                                      or (line.startswith("    ") and not words))
        if words and (not is_text or re.match(r"(?:[-*]|\d+\.) ", bare)):
            yield begins, plain_text(" ".join(words)), False
            words = []
        if is_cells:
            yield from ((number, plain_text(cell), True) for cell in re.split(r"(?<!\\)\|", bare) if cell.strip())
        if is_text:
            begins = begins if words else number
            words.append(bare)
        is_code ^= is_fence
        is_generated = not generated.group(1) if generated else is_generated


def plain_text(text):
    """Without marks; a piece of code, and a link, is what a reader reads of it."""
    text = re.sub(r"`[^`]*`", "X", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"^(?:[-*>]|\d+\.) |\*+", "", text).strip()


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
    expect("the same", rules("a/b.h", "/// The same of a tree.", "int rows();"), ["comment that leans on another"])
    expect("those that", rules("a/b.cpp", "// Those that a part has."), ["comment that leans on another"])
    expect("a field in lower case", rules("a/b.h", "int rows = 0;  ///< of the request"), ["comment in lower case"])
    expect("a unit", rules("a/b.h", "int rows = 0;  ///< ns per row"), [])
    expect("behind in time", rules("a/b.cpp", "// The tokens behind the prompt."), ["behind in a comment"])
    expect("after", rules("a/b.cpp", "// The tokens after the prompt."), [])
    words = " ".join(["word"] * MAX_SENTENCE_WORDS)
    expect("a long sentence", rules("a/b.md", f"Word {words}", "word."), ["long sentence"])
    expect("two sentences", rules("a/b.md", f"{words}. One more."), [])
    expect("a long cell", rules("a/b.md", f"| one | {words} two |"), ["long sentence"])
    expect("code", rules("a/b.md", "```", f"{words} {words}", "```"), [])
    expect("entries of a list", rules("a/b.md", f"- {words}", f"- {words}"), [])
    expect("behind in a page", rules("a/b.md", "The tokens behind it."), ["behind in a page"])
    expect("a page's generated part", rules("a/b.md", "<!-- findings -->", f"{words} {words}", "<!-- end of findings -->"), [])


def main():
    self_check()
    found = [(path, rule, finding) for path in tracked() if not path.startswith(("scripts/lint.d/", "CHANGELOG"))
             for rule, finding in check(path, lines_of(path) if path.endswith(CODE + (".md", ".py")) else [])]
    if "--count" in sys.argv:
        for (folder, rule), count in sorted(count_of(found).items()):
            print(f"{folder:12} {rule:24} {count}")
        return
    if "--show" in sys.argv:
        print(*(finding for _, rule, finding in found if rule == sys.argv[-1]), sep="\n")
        return
    report([finding for _, _, finding in found], "words")


if __name__ == "__main__":
    main()
