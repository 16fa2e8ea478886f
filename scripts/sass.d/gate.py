# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds what ptxas made of the kernels against expectations.csv: what must hold today, and what is aimed at.

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


def is_weight_copy(instruction):
    return instruction.operation.startswith("LDGSTS") and ".128" in instruction.operation


def is_prefetch(instruction):
    return instruction.operation.startswith("CCTL") and "PF2" in instruction.operation


def is_copy_wait(instruction):
    return instruction.operation.startswith("DEPBAR")


def is_one_stage_wait(instruction):
    """Lets the three youngest of a ring's four stages stay on their way."""
    return instruction.operation == "DEPBAR.LE" and instruction.operands.strip() == "SB0, 0x3"


def is_one_tile_wait(instruction):
    """Lets the younger of two tiles stay on its way."""
    return instruction.operation == "DEPBAR.LE" and instruction.operands.strip() == "SB0, 0x1"


def is_generic_load(instruction):
    return re.match(r"LD\.|LD$", instruction.operation) is not None


def is_wide_load(instruction):
    return re.match(r"LDG?\.", instruction.operation) is not None and ".128" in instruction.operation


def count(instructions, which):
    return sum(1 for i in instructions if which(i))


FIGURES = {
    "registers": lambda k: k.registers,
    "stack": lambda k: k.stack,
    "local_stores": lambda k: count(k.instructions, lambda i: i.operation.startswith("STL")),
    "weight_copies_before_wait": lambda k: count(k.before_wait(), is_weight_copy),
    "prefetches_before_wait": lambda k: count(k.before_wait(), is_prefetch),
    "other_loads_before_wait": lambda k: count(k.before_wait(), lambda i: is_generic_load(i) or i.operation.startswith("LDG.")),
    "norm_loads_before_wait": lambda k: count(k.before_wait(), is_wide_load),
    "weight_copies_in_loop": lambda k: count(k.products_loop(), is_weight_copy),
    "one_stage_waits_in_loop": lambda k: count(k.products_loop(), is_one_stage_wait),
    "other_copy_waits_in_loop": lambda k: count(k.products_loop(), lambda i: is_copy_wait(i) and not is_one_stage_wait(i)),
    "tile_copies_in_loop": lambda k: count(k.products_loop("DEPBAR"), is_weight_copy),
    "one_tile_waits_in_loop": lambda k: count(k.products_loop("DEPBAR"), is_one_tile_wait),
    "prefetches": lambda k: count(k.instructions, is_prefetch),
    "key_loads_before_product": lambda k: count(k.before("HMMA"), is_wide_load),
    "full_fences": lambda k: count(k.instructions, lambda i: i.operation.startswith("MEMBAR.SC")),
    "generic_loads_in_loop": lambda k: count(k.products_loop(), is_generic_load),
}


def worst(expectation, values):
    return min(values) if expectation.startswith(">=") else max(values)


def holds(expectation, value):
    return not expectation or COMPARE[expectation[:2]](value, int(expectation[2:]))


def row_of(kernel, figure, rows):
    """The row that says what a kernel's figure is to be: the last that matches."""
    matching = [row for row in rows if row["figure"] == figure and fnmatch.fnmatchcase(kernel.name, row["kernel"])]
    return matching[-1] if matching else None


def examine(architecture, kernels, rows):
    """Prints the table; the lines of what does not hold."""
    failures = []
    for row in rows:
        if int(architecture[3:].rstrip("af")) < int(row["from"] or 0):
            continue
        which = [k for k in kernels if row_of(k, row["figure"], rows) is row]
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
    code = [("LDGSTS.E.BYPASS.128", "[R4]"), ("CCTL.E.PF2", "[R4]"), ("LDG.E.128", "R2"), ("ACQBULK", ""), ("LD.E", "R3"), ("HMMA.16816", "R8"),
            ("LDGSTS.E.BYPASS.128", "[R1]"), ("DEPBAR.LE", "SB0, 0x3 "), ("DEPBAR.LE", "SB0, 0x0 "), ("DEPBAR.LE", "SB0, 0x1 "), ("BRA", "0x40"),
            ("MEMBAR.SC.GPU", ""),
            ("STL", "[R1]"), ("EXIT", "")]
    kernel = Kernel("K<1>", [Instruction(0x10 * i, *line) for i, line in enumerate(code)], registers=200, stack=8)
    expected = {"registers": 200, "stack": 8, "local_stores": 1, "weight_copies_before_wait": 1, "prefetches_before_wait": 1,
                "other_loads_before_wait": 1, "norm_loads_before_wait": 1, "weight_copies_in_loop": 1, "one_stage_waits_in_loop": 1,
                "other_copy_waits_in_loop": 2, "tile_copies_in_loop": 1, "one_tile_waits_in_loop": 1, "prefetches": 1, "key_loads_before_product": 1, "full_fences": 1, "generic_loads_in_loop": 1}
    found = {name: figure(kernel) for name, figure in FIGURES.items()}
    assert found == expected, f"the gate counts {found}, expected {expected}"
    assert not holds("<=128", 200) and holds(">=1", 1) and not holds("==0", 1) and holds("", 7)


def main():
    would_find()
    cuobjdump, paths = sys.argv[1], sys.argv[2:]
    rows = list(csv.DictReader(open(Path(__file__).with_name("expectations.csv"))))
    failures = []
    for path in paths:
        read_any = False
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
