# SPDX-License-Identifier: GPL-3.0-or-later
"""From counts of a small model to those of a published one.

What is scaled by what: weights and instructions of products by the bytes of their matrices, but for the scales that several warps
ask for, which follow from the depth; attention by K/V heads, at the contexts counted, and between them along a line; all else by the
bytes that the shapes say."""

HELD = ("weights", "cache", "others")
LAYER_KERNELS = ("qkv_norm", "qkv", "attention", "output", "gate_up_norm", "gate_up", "down")


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
