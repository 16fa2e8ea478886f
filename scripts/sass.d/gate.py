# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what ptxas made of the kernels against expectations.csv: what must hold today, and what is aimed at.

    python gate.py CUOBJDUMP OBJECT [--all]

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


def is_weight_load(instruction):
    return instruction.operation.startswith("LDGSTS") or (
        instruction.operation.startswith("LDG.") and ".128" in instruction.operation)


def is_generic_load(instruction):
    return re.match(r"LD\.|LD$", instruction.operation) is not None


def count(instructions, which):
    return sum(1 for i in instructions if which(i))


FIGURES = {
    "registers": lambda k: k.registers,
    "stack": lambda k: k.stack,
    "local_stores": lambda k: count(k.instructions, lambda i: i.operation.startswith("STL")),
    "weight_loads_before_wait": lambda k: count(k.before_wait(), is_weight_load),
    "other_loads_before_wait": lambda k: count(
        k.before_wait(), lambda i: is_generic_load(i) or (i.operation.startswith("LDG.") and not is_weight_load(i))),
    "weight_loads_in_loop": lambda k: count(k.products_loop(), is_weight_load),
    "generic_loads_in_loop": lambda k: count(k.products_loop(), is_generic_load),
}


def worst(expectation, values):
    return min(values) if expectation.startswith(">=") else max(values)


def holds(expectation, value):
    return not expectation or COMPARE[expectation[:2]](value, int(expectation[2:]))


def examine(architecture, kernels, rows):
    """Prints the table; the lines of what does not hold."""
    failures = []
    for row in rows:
        which = [k for k in kernels if fnmatch.fnmatchcase(k.name, row["kernel"])]
        if not which:
            failures.append(f"{architecture} {row['kernel']}: found no such kernel, expected at least one")
            continue
        values = {k.name: FIGURES[row["figure"]](k) for k in which}
        value = worst(row["holds"], list(values.values()))
        reached = holds(row["aim"], worst(row["aim"] or row["holds"], list(values.values())))
        aim = "" if not row["aim"] else f"aim {row['aim']}: " + ("reached" if reached else "not reached")
        print(f"{architecture}  {row['kernel']:20} {row['figure']:26} {value:5}  {row['holds']:6} {aim}")
        failures += [f"{architecture} {name}: {row['figure']} {v}, expected {row['holds']}"
                     for name, v in values.items() if not holds(row["holds"], v)]
    return failures


def would_find():
    """The gate must see what it is there to see."""
    code = [("LDG.E.128.CONSTANT", "R4"), ("LDG.E", "R2"), ("ACQBULK", ""), ("LD.E", "R3"), ("HMMA.16816", "R8"),
            ("LDGSTS.E.BYPASS.128", "[R1]"), ("BRA", "0x30"), ("STL", "[R1]"), ("EXIT", "")]
    kernel = Kernel("K<1>", [Instruction(0x10 * i, *line) for i, line in enumerate(code)], registers=200, stack=8)
    expected = {"registers": 200, "stack": 8, "local_stores": 1, "weight_loads_before_wait": 1,
                "other_loads_before_wait": 1, "weight_loads_in_loop": 1, "generic_loads_in_loop": 1}
    found = {name: figure(kernel) for name, figure in FIGURES.items()}
    assert found == expected, f"the gate counts {found}, expected {expected}"
    assert not holds("<=128", 200) and holds(">=1", 1) and not holds("==0", 1) and holds("", 7)


def main():
    would_find()
    cuobjdump, path = sys.argv[1:3]
    rows = list(csv.DictReader(open(Path(__file__).with_name("expectations.csv"))))
    failures, read_any = [], False
    for architecture, kernels in read(cuobjdump, path):
        read_any = True
        failures += examine(architecture, kernels, rows)
    if not read_any:
        failures.append(f"{path}: found no code of an architecture, expected some")
    for failure in failures:
        print(f"sass: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
