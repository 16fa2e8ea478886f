#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses includes against the direction of dependencies (docs/architecture.md), between libraries and between the layers
inside one, folders of a library that include each other, includes of headers that do not exist, of private headers by
public ones, and names of the standard library whose header is not included: a build that joins sources does not miss it."""

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
# here belongs to the one around it; "." is the library's root. Public headers are in no layer, but for those of
# libraries in LAYERED_PUBLIC: of these, include/draftscope/LIBRARY/FOLDER/ belongs to FOLDER with its subfolders.
LAYERS = {
    "engine": ["numbers", "formats", "checkpoint", "tokenizer cpu", "cuda decode", "strategies search", "recording calibration",
               "tuning"],
    "gui": ["data", "data/decisions data/lanes", "data/rounds", "data/details", "widgets",
            "charts help models record/form state what_if/questions",
            "record timeline views views/replay views/rounds what_if/pictures", "details views/decisions what_if", "advise",
            "window", "."],
    "simulator": ["analysis", "analysis/figures", "analysis/explain", "prices/fit", "prices/plan", "prices/passes prices/calibration", "prices",
                  "rounds/replay", "rounds/drafts", "rounds/searches", "rounds", "answers/uncertainty", "answers", "answers/oracle", "answers/advice",
                  "answers/validation"],
    "traces": [".", "storage", "reading", "writing", "foreign", "export import",
               " ".join(f"import/{path.name}" for path in sorted((ROOT / "traces/import").iterdir()) if path.is_dir())],
}
LAYERED_PUBLIC = {"simulator"}
# Headers beside the libraries' folders, for other languages.
LIBRARY_OF = {"draftscope/record.h": "traces"}
# strategies/ and its folders belong to libraries file by file: the name's first word says to which, and to which layer of
# it. Its headers of one word know nothing of their library's other folders: whoever may know the library may include them.
WORDS = {"row": ("speculation", "catalogue"), "rule": ("speculation", "rules"), "engine": ("engine", "strategies"),
         "predict": ("simulator", "rounds")}
# Names of a standard header, of those that its neighbours do not bring along everywhere.
STANDARD = {header: re.compile(r"\bstd::" + names) for header, names in {
    "algorithm": r"(ranges::(sort|stable_sort|find(_if\w*)?|(any|all|none)_of|copy(_\w+)?|fill|max|min|(min|max|minmax)_element|transform"
                 r"|count(_if)?|equal|(lower|upper)_bound|reverse|unique|for_each|replace|binary_search|partition\w*|nth_element"
                 r"|remove(_if)?|includes|is_sorted|set_\w+|adjacent_find|search|mismatch|clamp)|nth_element|clamp|shuffle)\b",
    "cmath": r"(sqrt|pow|exp|log|log2|log1p|floor|ceil|round|l?lround|isnan|isfinite|isinf|hypot|fabs)\(",
    "chrono": r"chrono::", "fstream": r"[io]?fstream\b", "map": r"(multi)?map<", "numeric": r"(accumulate|iota|reduce|gcd|lcm)\(",
    "optional": r"(optional|nullopt)\b", "set": r"(multi)?set<", "sstream": r"[io]?stringstream\b"}.items()}
COMMENT = re.compile(r"//[^\"]*$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def library_of(path):
    """The library that a file belongs to; the top-level folder of what is in none."""
    top, _, rest = path.partition("/")
    if top != "strategies":
        return top
    word = re.match(r"[a-z]*", posixpath.basename(rest))[0]
    return "tests" if "_test" in rest else WORDS[word][0] if word in WORDS else top


def check(path, lines, exists):
    """Findings in one file; `exists` tells whether a path below the root is a file."""
    library = library_of(path)
    if library == "strategies":
        yield f"{path}: belongs to no library, expected a name that begins with {', '.join(WORDS)}"
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
        elif quote == '"' and header.startswith("strategies/"):
            other = library_of(header)
            if allowed is not None and other not in allowed:
                yield f"{where}: {library} includes {header} of {other}, expected only {', '.join(sorted(allowed))}"
            if is_public or not exists(header):
                yield f'{where}: includes "{header}", expected a header that exists, by a file that is not public'
        elif quote == '"' and path.startswith("strategies/"):
            if library in LIBRARIES and not exists(f"{library}/{header}"):
                yield f'{where}: includes "{header}", which {library} does not have'
        elif quote == '"' and library in LIBRARIES:
            if is_public:
                yield f'{where}: a public header includes the private "{header}"'
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), header))
            if not beside.startswith(library + "/"):
                yield f'{where}: includes "{header}" of another folder, expected its public header'
            elif header.split("/")[0] in LIBRARIES and not exists(beside) and not exists(f"{library}/{header}"):
                yield f'{where}: includes "{header}" of another library, expected its public header'


def resolved(path, quote, header, files):
    """The file below the root that `path` includes, or nothing for a header of others. Folders of include paths are not
    known here: a header without a place beside its includer is looked for on the way up to the root."""
    if header.startswith("draftscope/"):
        library = LIBRARY_OF.get(header, header.split("/")[1])
        return {f"{library}/include/{header}"} & files
    if quote == "<":
        return set()
    folder = posixpath.dirname(path)
    while True:
        candidate = posixpath.normpath(posixpath.join(folder, header))
        if candidate in files:
            return {candidate}
        if not folder:
            return {file for file in files if file.endswith("/" + header)}
        folder = posixpath.dirname(folder)


def check_standard(path, sources, headers_of):
    """Findings in one file: names of the standard library that neither it nor a header of the project that it includes has the
    header of. `headers_of`: what is known already, by file."""
    def headers(file):
        if file not in headers_of:
            headers_of[file] = found = set()
            for match in filter(None, map(INCLUDE.match, sources[file])):
                inner = resolved(file, *match.groups(), sources.keys())
                found.update(*map(headers, inner), () if inner else (match[2],))
        return headers_of[file]

    for header, names in STANDARD.items():
        if header in headers(path):
            continue
        for number, line in enumerate(sources[path], 1):
            if match := names.search(COMMENT.sub("", line)):
                yield f"{path}:{number}: found {match[0].rstrip('(<')}, expected that the file includes <{header}>"
                break


def listed_folder(library, folder):
    """The folder of LAYERS that `folder` belongs to, and its layer's number; None if there is none."""
    while folder:
        for number, layer in enumerate(LAYERS[library]):
            if folder in layer.split():
                return folder, number
        folder = posixpath.dirname(folder)
    return None


def public_level(library, folder, choose):
    """The lowest (min) or highest (max) layer of a public header's folder; None of one that is in no layer."""
    levels = [number for number, layer in enumerate(LAYERS[library]) for name in layer.split()
              if library in LAYERED_PUBLIC and name.split("/")[0] == folder]
    return choose(levels) if levels else None


def includes_inside(path, lines):
    """(line number, header, whether it is public) of each include of the file's own library."""
    library = path.split("/")[0]
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match and match[2].startswith(f"draftscope/{library}/"):
            yield number, match[2].removeprefix(f"draftscope/{library}/"), True
        elif match and match[1] == '"' and "/" in match[2]:
            yield number, match[2], False


def check_layers(path, lines, edges):
    """Findings in one file of a library that has layers. Adds the pairs (folder, included folder) to `edges`."""
    library, _, rest = path.partition("/")
    if library == "strategies":
        library = library_of(path)
        rest = next((f"{layer}/{rest}" for name, layer in WORDS.values() if name == library), rest)
    if library not in LAYERS:
        return
    public = f"include/draftscope/{library}/"
    if rest.startswith(public):
        folder = posixpath.dirname(rest.removeprefix(public))
        level = public_level(library, folder, max)
        if level is None:
            return
    elif rest.startswith("include/"):
        return
    else:
        folder = posixpath.dirname(rest) or "."
        found = listed_folder(library, folder)
        if path.startswith("strategies/") and path.count("/") == 1:
            for number, header, header_is_public in includes_inside(path, lines) if path.endswith(".h") else ():
                if not header_is_public and not header.startswith("strategies/"):
                    yield f"{path}:{number}: includes {header} of its library, expected what every folder may know"
            return
        if found is None:
            if folder != ".":
                yield f"{path}: {folder} is in no layer, expected it in LAYERS of scripts/lint.d/includes.py"
            return
        folder, level = found
    for number, header, header_is_public in includes_inside(path, lines):
        if header.startswith("strategies/"):
            if header.count("/") == 1 or library_of(header) != library:
                continue
            other = next(layer for name, layer in WORDS.values() if name == library)
            other_level = listed_folder(library, other)[1]
        elif header_is_public:
            other = posixpath.dirname(header)
            other_level = public_level(library, other, min)
        else:
            found = listed_folder(library, posixpath.dirname(header))
            if found is None:
                continue
            other, other_level = found
            if other != folder:
                edges.setdefault((library, folder, other), f"{path}:{number}")
        if other_level is None or other == folder:
            continue
        if other_level > level:
            yield (f"{path}:{number}: includes {header}, which is in a higher layer, "
                   f"expected a header at most as high as {folder}")


def check_mutual(edges):
    """Findings about folders that include each other."""
    for (library, one, other), where in sorted(edges.items()):
        if one < other and (library, other, one) in edges:
            yield (f"{where}: {one} includes {other}, and {edges[library, other, one]} the other way round, "
                   "expected one direction")


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
    expect("a folder inside one that has a layer", count("engine/cpu/kernels/a.cpp", '#include "decode/b.h"'), 1)
    expect("a public header in no layer", count("engine/cpu/a.cpp", "#include <draftscope/engine/tuning/b.h>"), 0)
    expect("the root of a library", count("traces/a.cpp", '#include "storage/b.h"'), 1)
    expect("a library without layers", count("speculation/catalogue/a.cpp", '#include "auto/b.h"'), 0)
    expect("a prediction knows rounds", count("strategies/x/predict.cpp", '#include "rounds/drafts/b.h"'), 0)
    expect("it does not know answers", count("strategies/x/predict.cpp", '#include "answers/b.h"'), 1)
    expect("drafts do not know predictions", count("simulator/rounds/drafts/a.cpp", '#include "strategies/x/predict.h"'), 1)
    expect("they know what folders have", count("simulator/rounds/drafts/a.cpp", '#include "strategies/predict.h"'), 0)
    expect("and these know no folder", count("strategies/predict.h", '#include "rounds/b.h"'), 1)
    expect("an adapter knows decoding", count("strategies/x/engine.cpp", '#include "decode/b.h"'), 0)
    expect("it does not know tuning", count("strategies/x/engine.cpp", '#include "tuning/b.h"'), 1)
    edges = {}
    for one, other in (("recording", "calibration"), ("calibration", "recording"), ("recording", "decode")):
        list(check_layers(f"engine/{one}/a.cpp", [f'#include "{other}/b.h"'], edges))
    expect("folders that include each other", len(list(check_mutual(edges))), 1)


def self_check():
    files = {"traces/include/draftscope/traces/reader.h", "engine/include/draftscope/engine/decode.h"}

    def count(path, line):
        return len(list(check(path, [line], files.__contains__)))

    expect("the simulator knows traces", count("simulator/a.cpp", "#include <draftscope/traces/reader.h>"), 0)
    expect("it does not know the engine", count("simulator/a.cpp", "#include <draftscope/engine/decode.h>"), 1)
    expect("not by a path from the root either", count("simulator/rounds/a.cpp", '#include "engine/decode/b.h"'), 1)
    expect("nor does the app", count("gui/data/a.h", "#include <draftscope/engine/decode.h>"), 1)
    expect("base knows nobody", count("base/a.cpp", '#include "draftscope/traces/reader.h"'), 1)
    expect("the command knows all", count("cli/main.cpp", "#include <draftscope/engine/decode.h>"), 0)
    expect("a header that is missing", count("cli/main.cpp", "#include <draftscope/engine/gone.h>"), 1)
    expect("public includes private", count("engine/include/draftscope/engine/a.h", '#include "cpu/rope.h"'), 1)
    expect("out of the folder", count("gui/data/a.cpp", '#include "../../engine/cpu/rope.h"'), 1)
    files |= {"strategies/x/rule.h", "strategies/x/engine.h", "strategies/x/predict.h", "simulator/rounds/a.h"}
    expect("a rule knows rules", count("strategies/y/rule.cpp", '#include "strategies/x/rule.h"'), 0)
    expect("a rule knows no engine", count("strategies/x/rule.cpp", '#include "strategies/x/engine.h"'), 1)
    expect("nor does a prediction", count("strategies/x/predict.cpp", '#include "strategies/x/engine.h"'), 1)
    expect("a prediction knows the simulator", count("strategies/x/predict.cpp", '#include "rounds/a.h"'), 0)
    expect("an adapter does not", count("strategies/x/engine.cpp", '#include "rounds/a.h"'), 1)
    expect("a test knows all", count("strategies/x/rule_test.cpp", '#include "strategies/x/engine.h"'), 0)
    expect("a file of no library", count("strategies/x/other.cpp", ""), 1)
    expect("within the folder", count("gui/data/a.cpp", '#include "data/timeline.h"'), 0)
    used = {"base/a.cpp": ['#include "b.h"', "std::ranges::sort(x);  // std::map<", "std::map<int, int> y;"],
            "base/b.h": ["#include <map>"]}
    expect("a name without its header", len(list(check_standard("base/a.cpp", used, {}))), 1)


if __name__ == "__main__":
    self_check()
    self_check_layers()
    findings, edges, headers_of = [], {}, {}
    sources = {path: lines_of(path) for path in tracked() if path.endswith(CODE)}
    for path, lines in sources.items():
        findings += check(path, lines, lambda file: (ROOT / file).is_file())
        findings += check_layers(path, lines, edges)
        findings += check_standard(path, sources, headers_of)
    report(findings + list(check_mutual(edges)), "includes")
