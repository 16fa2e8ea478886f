# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernels of an object file, as cuobjdump prints what ptxas made of them."""
import re
import subprocess
from dataclasses import dataclass, field

FUNCTION = re.compile(r"Function\s*:?\s+(\S+?):?$")
INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)\s*(.*?);")
REGISTERS = re.compile(r"REG:(\d+)")
ENTRY = re.compile(r"entry<(.*?) ?>\(")


@dataclass
class Instruction:
    address: int
    operation: str
    operands: str


@dataclass
class Kernel:
    name: str
    instructions: list = field(default_factory=list)
    registers: int = 0

    def loops_with(self, *kinds):
        """Innermost loops that have instructions of every kind, each a list of instructions."""
        places = {instruction.address: i for i, instruction in enumerate(self.instructions)}
        target = lambda one: int(found[1], 16) if (found := re.search(r"0x([0-9a-f]+)", one.operands)) else None
        found = []
        for i, instruction in enumerate(self.instructions):
            begin = places.get(target(instruction), i + 1) if instruction.operation == "BRA" else i + 1
            body = self.instructions[begin:i + 1]
            # What is done seldom stands after a function's end: a way back from there is no loop.
            if not body or any(re.match("RET|EXIT", one.operation) for one in body):
                continue
            if all(any(re.match(kind, one.operation) for one in body) for kind in kinds):
                found.append((begin, i + 1))
        return [self.instructions[begin:end] for begin, end in found
                if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in found)]


def plain_name(name):
    """What stands between entry< and >, without namespaces."""
    found = ENTRY.search(name)
    name = found[1] if found else name
    return re.sub(r"draftscope::engine::cuda::|\(anonymous namespace\)::", "", name).replace(" >", ">")


def parse(listing, resources):
    """Kernels by mangled name."""
    kernels, kernel = {}, None
    for line in listing.splitlines():
        if found := FUNCTION.search(line):
            kernel = kernels.setdefault(found[1], Kernel(found[1]))
        elif kernel and (found := INSTRUCTION.match(line)):
            kernel.instructions.append(Instruction(int(found[1], 16), found[2], found[3]))
    kernel = None
    for line in resources.splitlines():
        if found := FUNCTION.search(line):
            kernel = kernels.get(found[1])
        elif kernel and (found := REGISTERS.search(line)):
            kernel.registers = int(found[1])
    return kernels


def read(cuobjdump, path):
    """(architecture, kernels with plain names) for each architecture that the object holds."""
    def output(*options):
        return subprocess.run([cuobjdump, *options, path], check=True, capture_output=True, text=True).stdout

    is_cubin = path.endswith(".cubin")  # of one architecture, which cuobjdump then does not list
    listed = output("-sass") if is_cubin else output("-lelf")
    for architecture in sorted(set(re.findall(r"sm_\d+[af]?\b", listed))):
        choice = [] if is_cubin else ["-arch", architecture]
        kernels = list(parse(*(output(*choice, what) for what in ("-sass", "-res-usage"))).values())
        names = subprocess.run(["c++filt"], check=True, capture_output=True, text=True,
                               input="\n".join(k.name for k in kernels)).stdout.splitlines()
        for kernel, name in zip(kernels, names):
            kernel.name = plain_name(name)
        yield architecture, kernels
