#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses an error message that does not say what was expected (CONTRIBUTING.md, Errors)."""

import re

from tree import CODE, LIBRARIES, expect, lines_of, report, tracked

CALL = re.compile(r'(?:\bfail|\.refuse|\bError\{\s*fmt::format)\(\s*(?:fmt::format\(\s*)?((?:"(?:[^"\\]|\\.)*"\s*)+)')
PIECE = re.compile(r'"((?:[^"\\]|\\.)*)"')
# What was expected; why the system refused; work that somebody ended; a message passed on after its place.
SAYS_ENOUGH = re.compile(
    r"expected|can't be|cannot|no such|not valid JSON|is not implemented|out of memory|cancelled|stopped"
    r"|^(?:\{[^}]*\}(?:: )?)+$|: (?:[a-z]+\.)?\{\}$|^\{\} \(")
COMMENT = re.compile(r"^[ \t]*//.*$", re.MULTILINE)


def poor_messages(text):
    """(line, message) of every one that says too little."""
    text = COMMENT.sub("", text)
    for call in CALL.finditer(text):
        message = "".join(PIECE.findall(call.group(1)))
        if not SAYS_ENOUGH.search(message):
            yield text.count("\n", 0, call.start()) + 1, message


def self_check():
    expect("a poor message", list(poor_messages('return fail("{}: is odd",\n name);')), [(1, "{}: is odd")])
    expect("a limit that is not said to be one", len(list(poor_messages('fail("{}: is longer than {}", name, 3)'))), 1)
    expect("a problem of a row", len(list(poor_messages('row.refuse(fmt::format("end is {}", end))'))), 1)
    expect("a message passed on", list(poor_messages('fail("{}: meta.{}", name, error.message)')), [])
    expect("a good message", list(poor_messages('fail("{}: is odd, "\n "expected an even one", name)')), [])


def findings():
    for path in tracked():
        if path.endswith(CODE) and path.startswith(tuple(f"{folder}/" for folder in (*LIBRARIES, "strategies"))):
            for line, message in poor_messages("\n".join(lines_of(path))):
                yield f'{path}:{line}: "{message}" does not say what was expected'


if __name__ == "__main__":
    self_check()
    report(list(findings()), "messages")
