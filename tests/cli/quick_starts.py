#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the commands of docs/start/*.md and holds their output to what the pages show.

    tests/cli/quick_starts.py DRAFTSCOPE SOURCE [PAGE …]

A page's commands run one after another in an empty folder that has the clone's models/ and traces/.
- ```console       "$ " begins a command; what stands below it is what it prints, word for word, but for the number of spaces.
- ```console measured   every number stands for any number: speeds of another machine.
- ```json FILE     is written to FILE.
- …                in a line it stands for any text, on a line of its own for any lines.
Commands must end with 0. Other blocks are for a reader alone. "$DEVICE" is cpu here.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
# Progress of what takes ten seconds or more, which a terminal overwrites.
PROGRESS = re.compile(r"\w.* so far")
BLOCK = re.compile(r"^```(console|json)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def matches(shown, printed, measured):
    """Whether one line of a page stands for the printed line."""
    parts = []
    for part in re.split("(…)", " ".join(shown.split())):
        if part == "…":
            parts.append(".*")
        elif measured:
            parts.append(NUMBER.pattern.join(re.escape(text) for text in NUMBER.split(part)))
        else:
            parts.append(re.escape(part))
    return re.fullmatch("".join(parts), " ".join(printed.split())) is not None


def first_difference(shown, printed, measured):
    """The first shown line that is not printed, None where all are and nothing else is."""
    at, skips = 0, False
    for line in shown:
        if line.strip() == "…":
            skips = True
            continue
        if skips:
            while at < len(printed) and not matches(line, printed[at], measured):
                at += 1
        if at == len(printed) or not matches(line, printed[at], measured):
            return line
        at, skips = at + 1, False
    return None if skips or at == len(printed) else f"nothing after line {at}"


def commands_of(block):
    """(command, shown lines) of a console block."""
    commands = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif line.strip():
            commands[-1][1].append(line)
    return commands


def failures_of(page, environment):
    """Lines about what a page shows and the commands do not print."""
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in ("models", "traces"):
            (Path(folder) / name).symlink_to(Path(environment["SOURCE"]) / name)
        for kind, argument, block in BLOCK.findall(page.read_text(encoding="utf-8")):
            if kind == "json":
                (Path(folder) / argument).write_text(block, encoding="utf-8")
                continue
            for command, shown in commands_of(block):
                count += 1
                ran = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, check=False, encoding="utf-8",
                                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                printed = [line for line in ran.stdout.splitlines() if line.strip() and not PROGRESS.fullmatch(line)]
                wrong = first_difference(shown, printed, argument == "measured")
                if wrong is not None or ran.returncode != 0:
                    failures.append(f"{page}: {command}\n  found exit status {ran.returncode} and the output below, expected 0"
                                    f" and the page's line: {wrong}\n" + "\n".join(printed))
    return failures + ([] if count else [f"{page}: found no command, expected a block ```console"])


def self_check():
    """What must differ differs."""
    table = ["  a  1.50x", "  b  0.98x"]
    assert first_difference(["a 1.5x", "b 2x"], table, True) is None
    assert first_difference(["…", "b 0.98x"], table, False) is None
    for shown, measured in ((["a 1.5x", "b 2x"], False), (["a 1.5x"], True), (["b 2x", "…"], True), (["a 1.5x", "b x"], True),
                            (["a 1.5", "b 2x"], True), (["…", "c 2x"], True), (["a 1.5x", "b 2x", "c 3x"], True)):
        assert first_difference(shown, table, measured) is not None, (shown, measured)


def main(program, source, *pages):
    self_check()
    environment = {**os.environ, "PATH": f"{Path(program).parent}:{os.environ['PATH']}", "DEVICE": "cpu", "LC_ALL": "C.UTF-8",
                   "SOURCE": str(Path(source).resolve())}
    pages = [Path(page) for page in pages] or sorted((Path(source) / "docs/start").glob("*.md"))
    failures = [failure for page in pages for failure in failures_of(page, environment)]
    print("\n\n".join(failures) or f"{len(pages)} pages print what they show")
    return 1 if failures or not pages else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("quick_starts.py: found no command and source folder, expected DRAFTSCOPE SOURCE [PAGE …]")
    sys.exit(main(*sys.argv[1:]))
