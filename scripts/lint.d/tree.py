# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the checks read, and the way in which they report: one line a finding, "FILE:LINE: reason"."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = (".h", ".cpp", ".cu")
LIBRARIES = ("base", "speculation", "traces", "profiler", "engine", "simulator", "cli", "gui")


def tracked():
    """Paths below the root, with slashes: what git knows, and new files that it does not ignore."""
    output = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted({path for path in output.split("\0") if path and (ROOT / path).is_file()})


def lines_of(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace").splitlines()


def comment_of(line, is_inside_block):
    """The comment's part of a line of C++, and whether a /* block goes on after it."""
    if is_inside_block:
        end = line.find("*/")
        return (line, True) if end < 0 else (line[:end], False)
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', lambda text: " " * len(text.group()), line)
    start = bare.find("//")
    if start >= 0:
        return line[start:], False
    start = bare.find("/*")
    if start < 0:
        return "", False
    return line[start:], "*/" not in bare[start:]


def comments(lines):
    """(number from 1, text) of each line that holds a comment."""
    is_inside = False
    for number, line in enumerate(lines, 1):
        text, is_inside = comment_of(line, is_inside)
        if text:
            yield number, text


def report(findings, name):
    """Prints the findings and ends the program: 1 if there are any."""
    for finding in findings:
        print(finding)
    if findings:
        print(f"lint {name}: {len(findings)} found, expected none", file=sys.stderr)
    sys.exit(1 if findings else 0)


def expect(what, found, expected):
    """A check that a check can fail."""
    if found != expected:
        sys.exit(f"lint: self-check: {what}: found {found}, expected {expected}")
