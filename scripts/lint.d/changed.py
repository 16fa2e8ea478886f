#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads paths of sources, one a line, and prints those that clang-tidy must read for the change at hand: sources whose code
differs from the commit in .ci/landed, and for each such header one source that includes it. A file that moved, or in which
comments, blank lines or includes alone differ, has the code that it had."""

import posixpath
import re
import subprocess
import sys
from collections import deque

from includes import INCLUDE, resolved
from tree import CODE, ROOT, expect, lines_of, tracked


def includers_of(sources):
    """The files that include a file, by that file. `sources`: lines by path."""
    files = set(sources)
    includers = {path: set() for path in files}
    for path, lines in sources.items():
        for line in lines:
            match = INCLUDE.match(line)
            if match:
                for header in resolved(path, *match.groups(), files):
                    includers[header].add(path)
    return includers


def all_includers(header, includers):
    """Every file that reads `header`: those with the fewest files between come first; of equals, those with its name, those
    of its folder, those of its library."""
    def order(path):
        return (*(part(path) != part(header) for part in
                  (lambda file: posixpath.splitext(file)[0], posixpath.dirname, lambda file: file.split("/")[0])), path)
    found, waiting, seen = [], deque([header]), {header}
    while waiting:
        for path in sorted(includers.get(waiting.popleft(), ()), key=order):
            if path not in seen:
                seen.add(path)
                found.append(path)
                waiting.append(path)
    return found


def chosen(units, changed, sources):
    """Of `units`, those to read for the files in `changed`."""
    picked = set(units) & set(changed)
    includers = includers_of(sources)
    for header in sorted(path for path in changed if path.endswith(".h") and path in sources):
        readers = [path for path in all_includers(header, includers) if path in units]
        if readers and not picked.intersection(readers):
            picked.add(readers[0])
    return sorted(picked)


COMMENT = re.compile(r"\s*//(?!.*NOLINT)[^\"]*$")


def code_of(lines):
    """The lines without comments, includes and blank lines."""
    without = (COMMENT.sub("", line) for line in lines if not INCLUDE.match(line))
    return [line for line in without if line.strip()]


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True, errors="replace").stdout


def has_other_code(landed, before, path):
    return code_of(git("show", f"{landed}:{before}").splitlines()) != code_of(lines_of(path))


def changed_files():
    landed = (ROOT / ".ci/landed").read_text().strip()
    known = subprocess.run(["git", "merge-base", "--is-ancestor", landed, "HEAD"], cwd=ROOT, capture_output=True)
    if known.returncode:
        sys.exit(f"draftscope: lint: .ci/landed: found {landed}, expected a commit before this one (a whole clone has it)")
    # A status, and a path, or for a file that moved its two paths.
    fields = iter(git("diff", "--name-status", "--find-renames=50%", "-l0", "-z", landed).split("\0"))
    changed = set()
    for status in fields:
        if not status:
            break
        before = next(fields)
        path = next(fields) if status[0] in "RC" else before
        if status[0] != "D" and path.endswith(CODE) and (status[0] == "A" or has_other_code(landed, before, path)):
            changed.add(path)
    return changed


def self_check():
    sources = {
        "base/include/draftscope/base/a.h": [], "base/a.cpp": ["#include <draftscope/base/a.h>"],
        "cli/deep/b.h": ["#include <draftscope/base/a.h>"], "cli/deep/b.cpp": ['#include "deep/b.h"'],
        "tests/cli/b_test.cpp": ['#include "deep/b.h"', "#include <vector>"]}
    units = [path for path in sources if path.endswith(".cpp")]

    def count(*changed):
        return chosen(units, changed, sources)

    expect("a source", count("cli/deep/b.cpp"), ["cli/deep/b.cpp"])
    expect("a public header", count("base/include/draftscope/base/a.h"), ["base/a.cpp"])
    expect("a header beside its source", count("cli/deep/b.h"), ["cli/deep/b.cpp"])
    expect("a header that a changed source includes", count("cli/deep/b.h", "tests/cli/b_test.cpp"), ["tests/cli/b_test.cpp"])
    expect("a header of two steps", count("base/include/draftscope/base/a.h", "cli/deep/b.cpp"), ["cli/deep/b.cpp"])
    expect("a page", count("README.md"), [])
    code = ['#include "a.h"', "int a = 1;", "// One.", "", "int b = 2;  ///< two"]
    expect("other includes and comments", code_of(code), ["int a = 1;", "int b = 2;"])
    expect("what a string holds stays", code_of(['auto url = "http://x";']), ['auto url = "http://x";'])
    expect("what a check is told stays", code_of(["int c;  // NOLINT(x)"]), ["int c;  // NOLINT(x)"])


if __name__ == "__main__":
    self_check()
    files = {path: lines_of(path) for path in tracked() if path.endswith(CODE)}
    print("\n".join(chosen({line.strip() for line in sys.stdin}, changed_files(), files)))
