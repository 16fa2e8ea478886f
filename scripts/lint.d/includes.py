#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses includes against the direction of dependencies (docs/architecture.md), of headers that do not exist, and of
private headers by public ones."""

import posixpath
import re

from tree import CODE, LIBRARIES, ROOT, expect, lines_of, report, tracked

MAY_INCLUDE = {
    "base": {"base"},
    "speculation": {"base", "speculation"},
    "traces": {"base", "traces"},
    "profiler": {"base", "traces", "profiler"},
    "engine": {"base", "speculation", "traces", "profiler", "engine"},
    "simulator": {"base", "speculation", "traces", "simulator"},
    "gui": {"base", "speculation", "traces", "simulator", "gui"},
    "cli": {"base", "speculation", "traces", "profiler", "engine", "simulator", "cli"},
}
# Headers beside the libraries' folders, for other languages.
LIBRARY_OF = {"draftscope/record.h": "traces"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def check(path, lines, exists):
    """Findings in one file; `exists` tells whether a path below the root is a file."""
    library = path.split("/")[0]
    allowed = MAY_INCLUDE.get(library)
    is_public = "/include/draftscope/" in path
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quote, header = match.groups()
        where = f"{path}:{number}"
        if header.startswith("draftscope/"):
            other = LIBRARY_OF.get(header, header.split("/")[1])
            if allowed is not None and other not in allowed:
                yield f"{where}: {library} includes {header}, expected only {', '.join(sorted(allowed))}"
            if not exists(f"{other}/include/{header}"):
                yield f"{where}: includes {header}, which is no public header"
        elif quote == '"' and library in LIBRARIES:
            if is_public:
                yield f'{where}: a public header includes the private "{header}"'
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), header))
            if not beside.startswith(library + "/"):
                yield f'{where}: includes "{header}" of another folder, expected its public header'


def self_check():
    files = {"traces/include/draftscope/traces/reader.h", "engine/include/draftscope/engine/decode.h"}

    def count(path, line):
        return len(list(check(path, [line], files.__contains__)))

    expect("the simulator knows traces", count("simulator/a.cpp", "#include <draftscope/traces/reader.h>"), 0)
    expect("it does not know the engine", count("simulator/a.cpp", "#include <draftscope/engine/decode.h>"), 1)
    expect("nor does the app", count("gui/data/a.h", "#include <draftscope/engine/decode.h>"), 1)
    expect("base knows nobody", count("base/a.cpp", '#include "draftscope/traces/reader.h"'), 1)
    expect("the command knows all", count("cli/main.cpp", "#include <draftscope/engine/decode.h>"), 0)
    expect("a header that is missing", count("cli/main.cpp", "#include <draftscope/engine/gone.h>"), 1)
    expect("public includes private", count("engine/include/draftscope/engine/a.h", '#include "cpu/rope.h"'), 1)
    expect("out of the folder", count("gui/data/a.cpp", '#include "../../engine/cpu/rope.h"'), 1)
    expect("within the folder", count("gui/data/a.cpp", '#include "data/timeline.h"'), 0)


if __name__ == "__main__":
    self_check()
    report([finding for path in tracked() if path.endswith(CODE)
            for finding in check(path, lines_of(path), lambda file: (ROOT / file).is_file())], "includes")
