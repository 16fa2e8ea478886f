#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses a JSON value that grows from null: where memory ends at its first element, nlohmann-json ends the program.

A value is to be an array or an object before its first element is added: `Json rows = Json::array();`.
"""

import re

from tree import CODE, LIBRARIES, expect, lines_of, report, tracked

TYPE = r"(?:\w+::)*(?:Json|json|ordered_json|ReplyJson)"
VALUE = re.compile(rf"\b{TYPE}&?\s+(\w+)\b(?!\()")
NULL = re.compile(rf"^\s*{TYPE}\s+(\w+)(?:\{{\}})?;")
REFERENCE = re.compile(rf"^\s*(?:{TYPE}|auto)&\s+(\w+) = (\w+)\[[^\[\]]+\];")
NESTED = re.compile(r"\b(\w+)(\[[^\[\]]+\])(?:\[[^\[\]]+\] =(?!=)|\.(?:push_back|emplace_back|emplace|update)\()")


def is_made(value, element, lines):
    """Whether the element of the value is given more than null in these lines: by itself, or with the others."""
    itself = re.escape(value + element) + r"\s*=\s*(?!=|nullptr)"
    with_others = r"\{" + re.escape(element[1:-1]) + r",\s*(?:\w+::)*(?:array|object)\("
    return re.search(f"{itself}|{with_others}", "\n".join(lines)) is not None


def grows(name, line):
    return re.search(rf"(?<![\w.]){name}(?:\[[^\[\]]+\] =(?!=)|\.(?:push_back|emplace_back|emplace|update)\()", line)


def grown_from_null(lines):
    """(line, value) of each value that may be null as its first element is added."""
    values = {match.group(1) for line in lines for match in VALUE.finditer(line)}
    for number, line in enumerate(lines, 1):
        for match in NESTED.finditer(line):
            value, element = match.groups()
            if value in values and not is_made(value, element, lines[: number - 1]):
                yield number, value + element
        declared = NULL.match(line) or REFERENCE.match(line)
        if not declared or (declared.re is REFERENCE and declared.group(2) not in values):
            continue
        name = declared.group(1)
        for later in lines[number:]:
            if later.startswith("}") or re.search(rf"(?<![\w.]){name} = (?!nullptr)", later):
                break
            if grows(name, later):
                yield number, name
                break


def self_check():
    found = ["void f(Json& a) {", 'a["b"]["c"] = 1;', 'a["d"].push_back(1);', "Json e;", 'e["f"] = 2;', 'Json& g = a["h"];',
             'g["i"] = 3;', "}"]
    expect("values that grow from null", list(grown_from_null(found)), [(2, 'a["b"]'), (3, 'a["d"]'), (4, "e"), (6, "g")])
    kept = ["void f(Json& a) {", 'a["d"] = Json::array();', 'a["d"].push_back(1);', "Json e = Json::object();", 'e["f"] = 2;',
            'Json& g = a["h"];', "g = {{1, 2}};", 'g["i"] = 3;', 'Json k{{"l", Json::array()}};', 'k["l"].push_back(4);',
            "Json m;", "}", 'm["i"] = 3;']
    expect("values of a kind", list(grown_from_null(kept)), [])


def findings():
    for path in tracked():
        if path.endswith(CODE) and path.startswith(tuple(f"{folder}/" for folder in (*LIBRARIES, "strategies", "bench"))):
            lines = lines_of(path)
            if any("json" in line for line in lines):
                for line, value in grown_from_null(lines):
                    yield f"{path}:{line}: {value} grows from null, expected an array or an object before its first element"


if __name__ == "__main__":
    self_check()
    report(list(findings()), "growth")
