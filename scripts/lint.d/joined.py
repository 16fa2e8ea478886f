#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Joins sources, so that clang-tidy reads the headers that they share once: reads paths of sources, one a line, writes
build/lint/joined/N.cpp, which include up to MAX_JOINED of one folder with the same flags, and a compile_commands.json
beside them. Those of tests are in joined/tests, with the settings of tests/. Prints a line for each: its path, and the
sources that it joins."""

import json
import pathlib
import shlex
import shutil
import sys

MAX_JOINED = 8
ROOT = pathlib.Path(__file__).resolve().parents[2]
LINT = ROOT / "build/lint"


def flags_of(entry):
    """The command without its source and object."""
    words = shlex.split(entry["command"])
    for option in ("-o", "-c"):
        at = words.index(option)
        del words[at : at + 2]
    return words


entries = {entry["file"]: entry for entry in json.loads((LINT / "compile_commands.json").read_text())}
groups = {}
for line in sys.stdin:
    source = ROOT / line.strip()
    flags = flags_of(entries[str(source)])
    groups.setdefault((source.parent, tuple(flags)), []).append(source)

joined = LINT / "joined"
(joined / "tests").mkdir(parents=True, exist_ok=True)
shutil.copy(ROOT / "tests/.clang-tidy", joined / "tests")
commands = []
for (folder, flags), sources in groups.items():
    for first in range(0, len(sources), MAX_JOINED):
        part = sources[first : first + MAX_JOINED]
        file = joined / ("tests" if folder.is_relative_to(ROOT / "tests") else ".") / f"{len(commands)}.cpp"
        file.write_text("".join(f'#include "{source}"\n' for source in part))
        words = [*flags, "-iquote", str(folder), "-c", str(file)]
        commands.append({"directory": str(LINT), "file": str(file), "command": shlex.join(words)})
        print(file.relative_to(ROOT), *(source.relative_to(ROOT) for source in part))
(joined / "compile_commands.json").write_text(json.dumps(commands))
