# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be reached on the H200 in bf16 at batch 1 and context 512, and what was measured. Ratios within a run."""
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Target:
    what: str
    bound: float
    at_least: bool
    measured: Callable[[dict], float]   # of the figures; a KeyError or the like = not measured

    def text(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"

    def reached(self, value: float) -> bool:
        return value >= self.bound if self.at_least else value <= self.bound


def decoding(figures: dict, model: str, weights: str = "as-stored") -> dict:
    return next(result for result in figures[f"decode {model}"] if result["weights"] == weights)


def width(figures: dict, rows: int) -> float:
    return next(w["against_one_row"]["median"] for w in decoding(figures, "8b")["verify_widths"] if w["rows"] == rows)


def further(figures: dict, rows: int) -> float:
    """A pass at the furthest context against one at the shortest, of as many rows."""
    far = [c for c in decoding(figures, "8b")["contexts"] if c["rows"] == rows]
    return max(far, key=lambda c: c["context_tokens"])["against_one_row"]["median"] / width(figures, rows)


def lowest(values) -> float:
    return min(value for value in values if value is not None)


def draft_share(figures: dict, model: str) -> float:
    return lowest(step["step_share_of_read_bandwidth"] for step in decoding(figures, model)["draft_steps"])


def against_baseline(figures: dict, model: str, way: str) -> float:
    ours = (figures["decode demo"][0] if model == "demo" else decoding(figures, model))["vanilla"]["tokens_per_s"]["median"]
    return ours / figures[f"transformers {model}"]["ways"][way]["tokens_per_s"]["median"]


def recorded(figures: dict, mode: str) -> float:
    return max(by_mode[mode]["overhead"]["median"] for by_mode in figures["recording"]["strategies"].values())


def targets() -> list[Target]:
    rows = [
        Target("vanilla 8B, share of what reading alone reaches", 0.91, True,
               lambda f: decoding(f, "8b")["vanilla"]["share_of_read_bandwidth"]),
        Target("vanilla 1B, share of what reading alone reaches", 0.75, True,
               lambda f: decoding(f, "1b")["vanilla"]["share_of_read_bandwidth"]),
        Target("verify 8 rows against 1, 8B", 1.03, False, lambda f: width(f, 8)),
        Target("verify 16 rows against 1, 8B", 1.08, False, lambda f: width(f, 16)),
        Target("verify 32 rows against 1, 8B", 1.35, False, lambda f: width(f, 32)),
        Target("context 8000 against 512, 1 row, 8B", 1.05, False, lambda f: further(f, 1)),
        Target("context 8000 against 512, 8 rows, 8B", 1.10, False, lambda f: further(f, 8))]
    for model in ("8b", "1b"):
        rows += [
            Target(f"draft step {model.upper()}, share of what reading alone reaches, worst exit", 0.85, True,
                   lambda f, m=model: draft_share(f, m)),
            Target(f"time outside kernels of a round {model.upper()}, worst exit", 0.03, False,
                   lambda f, m=model: max(s["outside_share_of_round"] for s in decoding(f, m)["draft_steps"])),
            Target(f"layerskip {model.upper()}, speedup against tokens/(γc+v), worst exit", 0.97, True,
                   lambda f, m=model: lowest(s["speedup_against_prediction"]["median"] for s in decoding(f, m)["layerskip"]))]
    for model, compiled in (("8b", 1.55), ("1b", 2.2), ("demo", 1.1)):
        rows += [
            Target(f"vanilla {model} against transformers eager", 3, True,
                   lambda f, m=model: against_baseline(f, m, "eager")),
            Target(f"vanilla {model} against a compiled static cache", compiled, True,
                   lambda f, m=model: against_baseline(f, m, "compiled"))]
    rows += [Target("recording phases, cost in tokens/s", 0.01, False, lambda f: recorded(f, "phases")),
             Target("recording with a device trace, cost in tokens/s", 0.03, False, lambda f: recorded(f, "launches"))]
    return rows


def compare(figures: dict) -> list[dict]:
    rows = []
    for target in targets():
        try:
            value = target.measured(figures)
        except (ArithmeticError, LookupError, StopIteration, TypeError, ValueError):
            value = None  # its step failed, was skipped, or the dry mode does not measure it
        rows.append({"what": target.what, "target": target.text(), "measured": value,
                     "reached": None if value is None else target.reached(value)})
    return rows
