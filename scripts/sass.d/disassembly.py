# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernels of an object file, as cuobjdump prints what ptxas made of them."""
import re
import subprocess
from dataclasses import dataclass, field

FUNCTION = re.compile(r"Function\s*:?\s+(\S+?):?$")
INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)\s*(.*?);")
RESOURCES = re.compile(r"REG:(\d+) STACK:(\d+)")
ARCHITECTURE = re.compile(r"arch = (sm_\w+)")
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
    stack: int = 0

    def before_wait(self):
        """What runs before the wait for the kernels before; nothing, where there is no such wait. Of several waits the last
        before a product: another one's way ends with it."""
        head = self.before("HMMA") or self.instructions
        waits = [i for i, instruction in enumerate(head) if instruction.operation.startswith("ACQBULK")]
        return self.instructions[:waits[-1]] if waits else []

    def before(self, operation):
        """What stands before the first instruction of a kind; nothing, where there is none."""
        for i, instruction in enumerate(self.instructions):
            if instruction.operation.startswith(operation):
                return self.instructions[:i]
        return []

    def products_loop(self, beside="HMMA"):
        """The innermost loop that has matrix products, and instructions of another kind beside them; nothing, where none has."""
        best = []
        # Behind all else stands what lanes do that are parted where a warp is asked for: its ways back are no loops.
        parted = [int(found[1], 16) for i in self.instructions
                  if i.operation == "BRA.DIV" and (found := re.search(r"0x([0-9a-f]+)", i.operands))]
        for instruction in self.instructions:
            target = re.search(r"0x([0-9a-f]+)", instruction.operands) if instruction.operation == "BRA" else None
            if target is None or int(target[1], 16) > instruction.address or (parted and instruction.address >= min(parted)):
                continue
            body = [i for i in self.instructions if int(target[1], 16) <= i.address <= instruction.address]
            has = [any(i.operation.startswith(kind) for i in body) for kind in ("HMMA", beside)]
            if all(has) and (not best or len(body) < len(best)):
                best = body
        return best


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
        elif kernel and (found := RESOURCES.search(line)):
            kernel.registers, kernel.stack = int(found[1]), int(found[2])
    return kernels


def read(cuobjdump, path):
    """(architecture, kernels with plain names) for each architecture that the object holds."""
    def output(*options):
        return subprocess.run([cuobjdump, *options, path], check=True, capture_output=True, text=True).stdout

    is_cubin = path.endswith(".cubin")  # of one architecture, which cuobjdump then does not list
    listed = output("-sass") if is_cubin else output("-lelf")
    for architecture in sorted(set(re.findall(r"sm_\d+[af]?\b", listed))):
        choice = [] if is_cubin else ["-arch", architecture]
        dump = [output(*choice, what) for what in ("-sass", "-res-usage")]
        kernels = list(parse(*dump).values())
        names = subprocess.run(["c++filt"], check=True, capture_output=True, text=True,
                               input="\n".join(k.name for k in kernels)).stdout.splitlines()
        for kernel, name in zip(kernels, names):
            kernel.name = plain_name(name)
        yield architecture, kernels
