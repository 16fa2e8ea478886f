#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what gcovr --json measured as a table: lines, lines that ran, and their share, folder by folder.

Usage: scripts/coverage_table.py COVERAGE.json"""

import json
import sys
from collections import Counter


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        measured = json.load(file)
    lines, ran = Counter(), Counter()
    for source in measured["files"]:
        parts = source["file"].split("/")
        folders = {parts[0], "/".join(parts[:2]) if len(parts) > 2 else parts[0], "all"}
        counted = [line for line in source["lines"] if not line.get("gcovr/noncode")]
        for folder in folders:
            lines[folder] += len(counted)
            ran[folder] += sum(line["count"] > 0 for line in counted)
    width = max(len(folder) for folder in lines)
    print(f"{'folder':{width}}  {'lines':>7}  {'ran':>7}  {'share':>7}")
    for folder in sorted(lines, key=lambda name: (name == "all", name)):
        share = f"{100 * ran[folder] / lines[folder]:.1f} %" if lines[folder] else "-"
        print(f"{folder:{width}}  {lines[folder]:>7}  {ran[folder]:>7}  {share:>7}")


if __name__ == "__main__":
    main()
