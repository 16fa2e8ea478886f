# SPDX-License-Identifier: GPL-3.0-or-later
"""From counts of a small model to those of a published one, kernel by kernel.

What is scaled by what: weights and instructions of products by the bytes of their matrices, but for the scales that several
warps ask for, which follow from the depth; attention by K/V heads, at the contexts counted, and between them along a line; all
else by the bytes that the shapes say."""
from dataclasses import dataclass

HELD = ("weights", "cache", "others")
LAYER_KERNELS = ("qkv_norm", "qkv", "attention", "output", "gate_up_norm", "gate_up", "down")
WARPS = 8  # of a block
NORMALISING = ("qkv", "gate_up", "head")
SPLIT_KEYS, GROUP_SPLITS, TILE_QUERIES, FEW_SPLITS, ENOUGH_ITEMS = 256, 4, 16, 8, 12  # of attention_plan.h


@dataclass(frozen=True)
class Launches:
    """Those of a kernel in one layer (or in the pass): what times.py makes seconds of."""
    kernel: str
    times: int               # layers
    launches: int            # in each
    blocks: int
    tiles: int               # that its blocks share; 0 where these are not outputs
    weight_bytes: float      # that leave the device's memory
    cache_bytes: float       # K/V, likewise
    asked_bytes: float       # of activations, that blocks ask the second cache for
    instructions: float      # of warps; a product's without those that rows take before it begins
    row_instructions: float  # of each warp for a row that a product normalises, or for a split of attention
    steps: float             # rows to normalise; splits that attention's busiest block computes in turn


def attention_steps(rows, group, context, heads, blocks):
    """Splits of 16 queries that the busiest block computes one after the other, rows being a chain (plan_attention())."""
    splits = -(-(context + rows) // SPLIT_KEYS)
    tiles = -(-rows * group // TILE_QUERIES)
    whole = splits // GROUP_SPLITS if tiles > 1 and splits > FEW_SPLITS else 0
    units = splits - (GROUP_SPLITS - 1) * whole
    item_tiles = 2 if tiles > 1 and units * -(-tiles // 2) >= ENOUGH_ITEMS else 1
    items = units * -(-tiles // item_tiles) * heads
    return (GROUP_SPLITS if whole else 1) * item_tiles * max(1.0, items / blocks)


def kernel_of(kernels, name):
    return next((k for k in kernels if k["kernel"] == name), None)


def needed_of(kernel, held):
    needed = kernel["needed"]
    return needed["weights"] if held == "weights" else needed[f"{held}_read"] + needed[f"{held}_written"]


def ratio(a, b):
    return a / b if b else 1.0


class Counted:
    """Counts of the small model that stands for a published one."""

    def __init__(self, model):
        self.name = model["model"]
        self.full, self.small = model["sizes"]["full"], model["sizes"]["small"]
        self.plans = {(p["machine"], p["rows"]): p["kernels"] for p in model["plans"]}
        self.passes = {(p["rows"], p["context"]): p["kernels"] for p in model["passes"] if not p["normed"]}
        self.normed = {p["rows"]: p["kernels"] for p in model["passes"] if p["normed"]}
        self.contexts = sorted({context for _, context in self.passes})

    def layers(self, name):
        return self.full["n_layers"] if name in LAYER_KERNELS else 1

    def _at_context(self, rows, name, context, figure):
        """A figure of a small pass, on the line through the smallest and the largest context counted."""
        low, high = self.contexts[0], self.contexts[-1]
        at = [figure(kernel_of(self.passes[rows, c], name)) for c in (low, high)]
        return at[0] if low == high else at[0] + (at[1] - at[0]) * (context - low) / (high - low)

    def kernel(self, planned, rows, context):
        """Bytes that a launch's kernel needs and moves, and its instructions: of all launches in one layer (or the pass)."""
        name = planned["kernel"]
        # Rows that are normalised ahead of products go through other kernels.
        small = kernel_of(self.normed[rows] if planned["normed"] else self.passes[rows, self.contexts[0]], name)
        small_layers = self.small["n_layers"] if name in LAYER_KERNELS else 1
        again = planned["launches"] / (small["launches"] / small_layers)  # a wider model may take more launches
        if name == "attention":
            heads = self.full["n_kv_heads"] / self.small["n_kv_heads"] / small_layers
            needed = {held: heads * self._at_context(rows, name, context, lambda k, h=held: needed_of(k, h)) for held in HELD}
            moved = {held: heads * self._at_context(rows, name, context, lambda k, h=held: k["moved"][h]) for held in HELD}
            work = heads * self._at_context(rows, name, context, lambda k: k["warp_instructions"])
            return needed, moved, work
        needed = {held: needed_of(planned, held) for held in HELD}
        moved = {held: needed[held] * ratio(small["moved"][held], needed_of(small, held)) for held in HELD}
        # Normalised rows on their way from one kernel to the next are moved, and not needed.
        others = ratio(small["moved"]["others"] - small["passed_on"], needed_of(small, "others"))
        moved["others"] = needed["others"] * others + planned["passed_on"]
        once = ratio(small["moved"]["weights"] - small["asked_again"], needed_of(small, "weights"))
        moved["weights"] = (needed["weights"] * once + planned["asked_again"]) * again
        by = "weights" if small["needed"]["weights"] else "others"
        work = small["warp_instructions"] * ratio(needed[by], needed_of(small, by)) * again
        return needed, moved, work

    def pass_bytes(self, machine, rows, context):
        """(needed, moved) bytes of a whole pass."""
        total = [0.0, 0.0]
        for planned in self.plans[machine, rows]:
            needed, moved, _ = self.kernel(planned, rows, context)
            total[0] += self.layers(planned["kernel"]) * sum(needed.values())
            total[1] += self.layers(planned["kernel"]) * sum(moved.values())
        return total

    def _row_instructions(self, name):
        """Of each warp, for a row that it helps to normalise before its product begins."""
        narrow = sorted(rows for rows, _ in self.passes if rows <= 8)
        small = [kernel_of(self.passes[rows, self.contexts[0]], name) for rows in (narrow[0], narrow[-1])]
        grown = (small[1]["warp_instructions"] - small[0]["warp_instructions"]) / (small[0]["blocks"] * WARPS)
        return grown / max(narrow[-1] - narrow[0], 1)

    def _split_instructions(self, rows):
        """Of each warp, for a split of 16 queries."""
        low, high = self.contexts[0], self.contexts[-1]
        work = [kernel_of(self.passes[rows, c], "attention")["warp_instructions"] for c in (low, high)]
        splits = [-(-(c + rows) // SPLIT_KEYS) for c in (low, high)]
        tiles = -(-rows * self.full["n_heads"] // self.full["n_kv_heads"] // TILE_QUERIES)
        heads = self.small["n_kv_heads"] * self.small["n_layers"]
        return (work[1] - work[0]) / max(splits[1] - splits[0], 1) / (tiles * heads * WARPS)

    def launches(self, machine, rows, context):
        """A pass, kernel by kernel."""
        for planned in self.plans[machine, rows]:
            name = planned["kernel"]
            _, moved, work = self.kernel(planned, rows, context)
            asked = row_instructions = steps = 0.0
            if name == "attention":
                row_instructions = self._split_instructions(rows)
                steps = attention_steps(rows, self.full["n_heads"] // self.full["n_kv_heads"], context,
                                        self.full["n_kv_heads"], planned["blocks"])
            elif name in NORMALISING and not planned["normed"]:
                small = kernel_of(self.passes[rows, self.contexts[0]], name)
                of_small = self._row_instructions(name)
                work *= 1.0 - rows * of_small * small["blocks"] * WARPS / small["warp_instructions"]
                row_instructions = of_small * self.full["d_model"] / self.small["d_model"]
                steps = rows
                asked = planned["blocks"] * rows * self.full["d_model"] * 4
            elif planned["needed"]["weights"] and planned["tiles"] and name != "load_inputs":
                depth = {"output": self.full["n_heads"] * self.full["head_dim"], "down": self.full["d_ff"]}
                asked = planned["tiles"] * rows * depth.get(name, self.full["d_model"]) * 2
            yield Launches(name, self.layers(name), planned["launches"], planned["blocks"], planned["tiles"], moved["weights"],
                           moved["cache"], asked, work, row_instructions, steps)
