# SPDX-License-Identifier: GPL-3.0-or-later
"""How large everything is: on a GPU, and in the dry mode, which shows that every step works where there is none."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    name: str                 # in results
    argument: str             # what bench_gpu and draftscope take
    published: str            # row of models/models.csv
    layers: int | None        # in place of the published number
    vocab: int | None
    weights: tuple[str, ...]
    exits: tuple[int, ...]
    contexts: tuple[int, ...]


@dataclass(frozen=True)
class Scale:
    device: str
    context: int
    tokens: int
    repeats: int
    widths: tuple[int, ...]
    probe_bytes: int
    sustain_seconds: float
    recordings: int           # of each mode
    questions: int            # that every strategy answers
    recorded_tokens: int      # of an answer
    baseline_repeats: int
    models: tuple[Model, ...]


def synthetic(published: str, layers: int | None = None, vocab: int | None = None) -> str:
    sizes = "".join(f",{key}={value}" for key, value in (("layers", layers), ("vocab", vocab)) if value)
    # Layers that add a tenth of what they would: an exit then agrees with the whole often enough to accept drafts.
    return f"synthetic:{published},redundancy=0.9{sizes}"


def on_gpu() -> Scale:
    return Scale(
        device="cuda", context=512, tokens=128, repeats=9, widths=(1, 2, 3, 4, 6, 8, 12, 16, 24, 32),
        probe_bytes=4 << 30, sustain_seconds=10, recordings=3, questions=8, recorded_tokens=48, baseline_repeats=3,
        models=(Model("8b", synthetic("llama-3-8b"), "llama-3-8b", None, None, ("as-stored", "fp8"), (4, 8, 16), (2048, 8000)),
                Model("1b", synthetic("llama-3.2-1b"), "llama-3.2-1b", None, None, ("as-stored", "fp8"), (2, 4, 8),
                      (2048, 8192, 32768))))


def dry() -> Scale:
    def model(name, published, layers):
        return Model(name, synthetic(published, layers, 1024), published, layers, 1024, ("as-stored",), (1,), (24,))
    return Scale(
        device="cpu", context=16, tokens=8, repeats=2, widths=(1, 2, 8), probe_bytes=64 << 20, sustain_seconds=0.5,
        recordings=1, questions=1, recorded_tokens=8, baseline_repeats=1,
        # Strategies that skip layers want some between the first and the last.
        models=(model("8b", "llama-3-8b", 2), model("1b", "llama-3.2-1b", 4)))
