# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what ptxas made of the kernels against expectations.csv.

    python gate.py CUOBJDUMP OBJECT…

One line per expectation: the kernels it is of, the worst figure among them. Fails where one does not hold.
"""
import csv
import fnmatch
import operator
import re
import sys
from pathlib import Path

from disassembly import Instruction, Kernel, read

COMPARE = {"<=": operator.le, ">=": operator.ge, "==": operator.eq}
COPY = "UBLKCP|LDGSTS"
PIECES = ("HMMA", COPY, "SYNCS|ARRIVES")   # of a product's loop over pieces


def count(instructions, kind):
    return sum(1 for i in instructions if re.match(kind, i.operation))


def in_loops(kernel, figure, kinds=PIECES):
    """The largest figure of the innermost loops that have such instructions."""
    return max(map(figure, kernel.loops_with(*kinds)), default=0)


def products_ahead_of_copy(loop):
    first = next(i for i, one in enumerate(loop) if re.match(COPY, one.operation))
    return count(loop[:first], "HMMA")


FIGURES = {
    "registers": lambda k: k.registers,
    "spill_stores": lambda k: count(k.instructions, "STL"),
    "spill_loads": lambda k: count(k.instructions, "LDL"),
    "tensor_products": lambda k: count(k.instructions, "HMMA"),
    "bulk_copies": lambda k: count(k.instructions, "UBLKCP"),
    "lane_copies": lambda k: count(k.instructions, "LDGSTS"),
    "copy_arrivals": lambda k: count(k.instructions, "ARRIVES.LDGSTSBAR"),
    "barrier_instructions": lambda k: count(k.instructions, "SYNCS"),
    "product_loops": lambda k: len(k.loops_with(*PIECES)),
    "device_loads_in_loop": lambda k: in_loops(k, lambda loop: count(loop, r"LDG\.")),
    "spills_in_loop": lambda k: in_loops(k, lambda loop: count(loop, "STL|LDL")),
    "products_ahead_of_copy": lambda k: in_loops(k, products_ahead_of_copy),
    "tile_copies_in_loop": lambda k: in_loops(k, lambda loop: count(loop, "LDGSTS"), ("HMMA", "DEPBAR")),
}


def holds(expectation, value):
    return COMPARE[expectation[:2]](value, int(expectation[2:]))


def row_of(name, architecture, figure, rows):
    """The row that says what a kernel's figure is to be: the last that matches."""
    matching = [row for row in rows if row["figure"] == figure and fnmatch.fnmatchcase(name, row["kernel"])
                and int(row["from"] or 0) <= architecture < int(row["before"] or 999)]
    return matching[-1] if matching else None


def examine(name, kernels, rows):
    """Prints the table; the lines of what does not hold. `kernels`: figures by name."""
    architecture, failures = int(name[3:].rstrip("af")), []
    for row in rows:
        if not int(row["from"] or 0) <= architecture < int(row["before"] or 999):
            continue
        values = {kernel: figures[row["figure"]] for kernel, figures in kernels.items()
                  if row_of(kernel, architecture, row["figure"], rows) is row}
        if not values:
            failures.append(f"{name} {row['kernel']}: found no such kernel, expected at least one")
            continue
        worst = (min if row["holds"].startswith(">=") else max)(values.values())
        print(f"{name}  {row['kernel']:30} {row['figure']:22} {worst:5}  {row['holds']}")
        failures += [f"{name} {kernel}: {row['figure']} {value}, expected {row['holds']}"
                     for kernel, value in values.items() if not holds(row["holds"], value)]
    return failures


def would_find():
    """The gate must see what it is there to see."""
    code = [("LDGSTS.E.BYPASS.128", "[R4]"), ("HMMA.16816", "R8"), ("SYNCS.PHASECHK", ""), ("LDG.E.128", "R2"), ("LDL", "R1"),
            ("UBLKCP", "[UR8]"), ("HMMA.16816", "R8"), ("BRA", "0x10"), ("ARRIVES.LDGSTSBAR.64", ""), ("STL", "[R1]"),
            ("LDGSTS.E.BYPASS.128", "[R4]"), ("HMMA.16816", "R8"), ("DEPBAR.LE", "SB0"), ("BRA", "0xa0"), ("EXIT", "")]
    kernel = Kernel("K<1>", [Instruction(0x10 * i, *line) for i, line in enumerate(code)], registers=200)
    expected = {"registers": 200, "spill_stores": 1, "spill_loads": 1, "tensor_products": 3, "bulk_copies": 1,
                "lane_copies": 2, "copy_arrivals": 1, "barrier_instructions": 1, "product_loops": 1, "device_loads_in_loop": 1,
                "spills_in_loop": 1, "products_ahead_of_copy": 1, "tile_copies_in_loop": 1}
    found = {name: figure(kernel) for name, figure in FIGURES.items()}
    assert found == expected, f"the gate counts {found}, expected {expected}"
    assert not holds("<=128", 200) and holds(">=1", 1) and not holds("==0", 1)


def main():
    would_find()
    cuobjdump, paths = sys.argv[1], sys.argv[2:]
    rows = list(csv.DictReader(open(Path(__file__).with_name("expectations.csv"))))
    failures, found = [], {}
    for path in paths:
        read_any = False
        for architecture, kernels in read(cuobjdump, path):
            read_any = True
            found.setdefault(architecture, {}).update(
                (k.name, {name: figure(k) for name, figure in FIGURES.items()}) for k in kernels)
        if not read_any:
            failures.append(f"{path}: found no code of an architecture, expected some")
    for architecture, kernels in found.items():
        failures += examine(architecture, kernels, rows)
    for failure in failures:
        print(f"sass: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
