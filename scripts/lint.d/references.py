#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refuses mentions of files that do not exist, in comments and pages, and links of pages that lead nowhere.

In code a name may be relative to the file, to any folder of its library (of the tested library too, in tests/), to a
library's public headers, or to the root; in pages it may be the end of any file's path. Names without a folder that end
like data or a script are left alone: they are mostly examples, or files of others."""

import posixpath
import re

from tree import CODE, ROOT, comments, expect, lines_of, report, tracked

ENDINGS = "h|cpp|cu|md|cmake|proto|py|json|jsonl|csv|svg|png|dstrace|sh"
ALWAYS = {"h", "cpp", "cu", "md", "cmake", "proto"}
NAME = re.compile(rf"(?<![\w./<>*{{}}-])((?:\.\./)*[A-Za-z0-9_][\w.+-]*(?:/[\w.+-]+)*\.({ENDINGS}))(?![\w/*-]|\.\w)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
# Headers and sources of others that comments name, and a program whose name looks like one.
OTHERS = {"llama.cpp", "asm/prctl.h", "cuda.h", "cuda_runtime.h", "cuda_bf16.h", "cuda_fp8.h", "cupti.h",
          "nvtx3.h", "nvToolsExt.h", "sqlite3.h", "README.md"}

# A word in capitals that stands for a name: MODEL.json, version_N.dstrace.
PLACEHOLDER = re.compile(r"(^|[/_.])(NAME|FOLDER|FILE|DIR|MODEL|N)(?=[/_.])")


class Tree:
    def __init__(self, files):
        self.files = set(files)
        self.folders = {parent for file in files for parent in parents(file)}
        self.ends = {}
        for file in files:
            self.ends.setdefault(file.rsplit("/", 1)[-1], []).append(file)

    def has_end(self, name, tops=None):
        """Whether a file's path ends with `name`, below one of the top-level folders `tops`."""
        return any((file == name or file.endswith("/" + name)) and (tops is None or file.split("/")[0] in tops)
                   for file in self.ends.get(name.rsplit("/", 1)[-1], []))

    def is_public(self, name):
        return any((file == name or file.endswith("/" + name)) and "/include/draftscope/" in "/" + file
                   for file in self.ends.get(name.rsplit("/", 1)[-1], []))


def parents(file):
    while "/" in file:
        file = file.rsplit("/", 1)[0]
        yield file


def is_alive(path, name, tree):
    here = posixpath.dirname(path)
    plain = posixpath.normpath(posixpath.join(here, name))
    if plain in tree.files or name in tree.files:
        return True
    if path.endswith(CODE):
        tops = {path.split("/")[0]}
        if path.startswith(("tests/", "bench/")):
            tops.add(path.split("/")[1])
        return tree.has_end(name, tops) or tree.is_public(name)
    return tree.has_end(name)


def is_ours(name, ending, tree):
    """Whether the name claims to be a file of this tree."""
    first = name.split("/")[0]
    if ending in ALWAYS:
        return True
    return "/" in name and first in tree.folders and first not in ("build", "demo-traces")


def check(path, lines, tree):
    if path.endswith(CODE):
        texts = comments(lines)
    elif path.endswith(".md"):
        texts = enumerate(lines, 1)
    else:
        texts = ((number, line) for number, line in enumerate(lines, 1) if line.lstrip().startswith("#"))
    for number, text in texts:
        plain = re.sub(r"https?://\S+", "", text)
        for match in NAME.finditer(plain):
            name, ending = match.groups()
            if name in OTHERS or PLACEHOLDER.search(name) or name.startswith(("build/", "demo-traces/")):
                continue
            if is_ours(name, ending, tree) and not is_alive(path, name, tree):
                yield f"{path}:{number}: names {name}, which does not exist"
        if not path.endswith(".md"):
            continue
        for target in LINK.findall(plain):
            file, _, anchor = target.partition("#")
            goal = posixpath.normpath(posixpath.join(posixpath.dirname(path), file)) if file else path
            if goal not in tree.files and goal not in tree.folders:
                yield f"{path}:{number}: links to {target}, which does not exist"
            elif anchor and anchor not in anchors(goal):
                yield f"{path}:{number}: links to {target}, which has no such section"


def anchors(page):
    """As GitHub makes them of headings."""
    for line in lines_of(page) if (ROOT / page).is_file() else []:
        if line.startswith("#"):
            yield re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower()).replace(" ", "-")


def self_check():
    tree = Tree(["engine/cpu/rope.h", "engine/cpu/rope.cpp", "traces/include/draftscope/traces/reader.h",
                 "docs/methods.md", "tests/engine/cpu/rope_test.cpp", "models/models.csv"])

    def count(path, line):
        return len(list(check(path, [line], tree)))

    expect("a file beside", count("engine/cpu/rope.cpp", "// See rope.h."), 0)
    expect("a file that is gone", count("engine/cpu/rope.cpp", "// See mixed.h."), 1)
    expect("code is no comment", count("engine/cpu/rope.cpp", 'open("mixed.h");'), 0)
    expect("a file of another library", count("simulator/a.cpp", "// See rope.h."), 1)
    expect("a public header", count("simulator/a.cpp", "// See reader.h."), 0)
    expect("the tested library", count("tests/engine/cpu/rope_test.cpp", "// rope.h"), 0)
    expect("a page by its end", count("docs/methods.md", "`cpu/rope.h` says"), 0)
    expect("a page's dead name", count("docs/methods.md", "`cpu/ropes.h` says"), 1)
    expect("an example", count("docs/methods.md", "`policy.json`"), 0)
    expect("data that is gone", count("docs/methods.md", "`models/shapes.csv`"), 1)
    expect("a name that stands for names", count("docs/methods.md", "`models/MODEL.json`"), 0)
    expect("a dead link", count("docs/methods.md", "[x](gone)"), 1)
    expect("a live link", count("docs/methods.md", "[x](../models/models.csv)"), 0)
    expect("a script's comment", count("scripts/x.py", "# models/shapes.csv"), 1)


if __name__ == "__main__":
    self_check()
    files = tracked()
    known = Tree(files)
    # A changelog names what is gone.
    read = [path for path in files if path != "CHANGELOG.md" and (path.endswith(CODE + (".md", ".py", ".cmake", "CMakeLists.txt")) or
            (path.startswith("scripts/") and "." not in path) or path == ".ci/run")]
    report([finding for path in read for finding in check(path, lines_of(path), known)], "references")
