#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses includes against the direction of dependencies (docs/architecture.md), between libraries and between the layers
inside one, folders of a library that include each other, includes of headers that do not exist, and of private headers by
public ones."""

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
# Layers inside a library, lowest first: a folder may include those of its own layer and of lower ones. A folder that is not
# here is an error. A public header that lies in include/draftscope/LIBRARY/FOLDER/ belongs to the layers of FOLDER and of
# its subfolders together.
LAYERS = {
    "simulator": ["analysis", "analysis/figures", "analysis/explain", "prices/costs", "prices", "rounds/replay",
                  "rounds/drafts", "rounds", "answers/uncertainty", "answers", "answers/oracle", "answers/advice",
                  "answers/validation answers/published"],
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


def layer_of(library, folder):
    """Number of a folder's layer; None if the folder is in no layer."""
    for number, layer in enumerate(LAYERS[library]):
        if folder in layer.split():
            return number
    return None


def place_of(library, path):
    """Folder inside the library, and whether `path`, relative to the library, is a public header's."""
    public = f"include/draftscope/{library}/"
    return posixpath.dirname(path.removeprefix(public)), path.startswith(public)


def includes_inside(path, lines):
    """(line number, header relative to the library) of each include of the file's own library."""
    library = path.split("/")[0]
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match and match[2].startswith(f"draftscope/{library}/"):
            yield number, f"include/{match[2]}"
        elif match and match[1] == '"':
            yield number, match[2]


def check_layers(path, lines, edges):
    """Findings in one file of a library that has layers. Adds the pairs (folder, included folder) to `edges`."""
    library, _, rest = path.partition("/")
    if library not in LAYERS:
        return
    folder, is_public = place_of(library, rest)
    if not folder:
        return
    level = layer_of(library, folder)
    if level is None:
        yield f"{path}: {library}/{folder} is in no layer, expected a folder of LAYERS in scripts/lint.d/includes.py"
        return
    tops = [layer.split("/")[0] for layer in LAYERS[library]]
    for number, header in includes_inside(path, lines):
        other, other_is_public = place_of(library, header)
        if not other or other == folder:
            continue
        other_level = layer_of(library, other)
        if is_public or other_is_public:
            is_upwards = tops.index(folder.split("/")[0]) < tops.index(other.split("/")[0])
        else:
            is_upwards = other_level is not None and other_level > level
            edges.setdefault((library, folder, other), f"{path}:{number}")
        if is_upwards:
            yield f"{path}:{number}: {folder} includes {header} of a higher layer, expected {other} to be at most as high"


def check_mutual(edges):
    """Findings about folders that include each other."""
    for (library, one, other), where in sorted(edges.items()):
        if one < other and (library, other, one) in edges:
            yield f"{where}: {one} includes {other} and the other way round, expected one direction ({edges[library, other, one]})"


def self_check_layers():
    def count(path, line):
        return len(list(check_layers(path, [line], {})))

    expect("answers know rounds", count("simulator/answers/a.cpp", '#include "rounds/b.h"'), 0)
    expect("rounds do not know answers", count("simulator/rounds/a.cpp", '#include "answers/b.h"'), 1)
    expect("a lower folder of the same name", count("simulator/rounds/drafts/a.cpp", '#include "rounds/b.h"'), 1)
    expect("a public header above", count("simulator/prices/a.h", "#include <draftscope/simulator/answers/b.h>"), 1)
    expect("a public header below", count("simulator/prices/a.h", "#include <draftscope/simulator/analysis/b.h>"), 0)
    expect("between public ones", count("simulator/include/draftscope/simulator/prices/a.h",
                                        "#include <draftscope/simulator/rounds/b.h>"), 1)
    expect("a folder without a layer", count("simulator/elsewhere/a.cpp", ""), 1)
    expect("a library without layers", count("speculation/rules/a.cpp", '#include "auto/b.h"'), 0)
    edges = {}
    for one, other in (("validation", "published"), ("published", "validation"), ("validation", "advice")):
        list(check_layers(f"simulator/answers/{one}/a.cpp", [f'#include "answers/{other}/b.h"'], edges))
    expect("folders that include each other", len(list(check_mutual(edges))), 1)


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
    self_check_layers()
    findings, edges = [], {}
    for path in tracked():
        if path.endswith(CODE):
            lines = lines_of(path)
            findings += check(path, lines, lambda file: (ROOT / file).is_file())
            findings += check_layers(path, lines, edges)
    report(findings + list(check_mutual(edges)), "includes")
