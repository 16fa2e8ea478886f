#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pass of a program should take on an H200: MODELLED, no measurement.

    bench/gpu/modelled.py --model llama-3-8b --weights bf16 --rows 1 --context 512     operation by operation
    bench/gpu/modelled.py --targets       what is to be reached, and what the model says of it
    bench/gpu/modelled.py --json          the same figures

A pass is a launch, and its operations one after the other as engine/cuda/program_runner.cpp writes them. An operation takes
- its bytes at a share of the rate that reading alone reaches: weights as pieces (piece_layout.h), and what its blocks ask the
  second cache for, rows of activations above all, each block or each tile for itself;
- attention: its busiest block's splits of 256 keys, or its busiest warp's runs of 32 where a context is short, which are taken to
  last as long; or its K/V's bytes, if they take longer. Then half as long to put them together; less what the ring hides;
- a barrier, which the last one lacks.
Share, launch and what a ring hides are fitted to a prototype that streamed whole passes' weights (measured/h200_stream.csv). It
had no attention: how long a split or a run takes is given beside every figure. Not in it: what norms and the ends of tiles take
beside their bytes, numbers made of codes, blocks with more tiles than others, the host."""
import argparse
import csv
import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean

HERE = Path(__file__).resolve().parent
BLOCKS, SHARED_BYTES = 132, 227 * 1024
TILE, SPLIT_KEYS, SPLIT_GROUP, TILE_QUERIES, MAX_RUN_TILES, MAX_STAGED_ROWS = 32, 256, 4, 16, 4, 16
PARTIAL_BYTES = 18432   # a block's sums of slices, ahead of its staged rows
RING_BYTES = 64 * 1024 + 6272   # rings that are left beside staged rows at least, and what a block knows of its program
RUNS = {"bf16": (32, 0), "fp8": (64, 0), "q8_0": (64, 1), "fp8_block": (64, 1), "q4_0": (128, 2), "q4_k": (128, 3),
        "int4": (128, 1)}   # values of a row's run, words of its scales
# Of Hugging Face's config.json; models/models.csv has the others.
SMOLLM2 = dict(name="smollm2-135m", n_layers=30, d_model=576, n_heads=9, n_kv_heads=3, head_dim=64, d_ff=1536, vocab=49152)
SPUN = 3e-6, 6e-6   # seconds a split or a run: what the prototype waited in attention's place


def rows_of(name: str) -> list[dict]:
    with open(HERE / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True)
class Law:
    """Seconds, and bytes a second."""
    launch: float
    rate: float
    barrier: float
    not_hidden: float   # share of attention's time
    read_rate: float    # of reading alone


def fitted() -> Law:
    """To passes whose operations end in barriers, over rings as large as a program has."""
    alone, *stream = ({key: float(row[key] or 0) for key in ("bytes", "layers", "barriers", "ring_kb", "attention_us", "ms")}
                      | {"model": row["model"]} for row in rows_of("measured/h200_stream.csv"))
    barrier = alone["ms"] * 1e-3
    large, small = ({row["attention_us"]: row for row in stream
                     if row["model"] == model and row["barriers"] > 0 and row["ring_kb"] == 192}
                    for model in ("llama-3-8b", "llama-3.2-1b"))
    times = [of[0]["ms"] * 1e-3 - of[0]["barriers"] * barrier for of in (large, small)]
    rate = (large[0]["bytes"] - small[0]["bytes"]) / (times[0] - times[1])
    not_hidden = mean((of[us]["ms"] - of[0]["ms"]) * 1e3 / (of[0]["layers"] * us) for of in (large, small) for us in (3, 6))
    probe = next(row for row in rows_of("measured/h200_probes.csv") if row["bytes"] == "4294967296")
    read_rate = float(probe["bytes"]) / float(probe["microseconds"]) * 1e6
    return Law(times[1] - small[0]["bytes"] / rate, rate, barrier, not_hidden, read_rate)


@dataclass(frozen=True)
class Operation:
    name: str
    weights: float = 0.0     # bytes of pieces
    cache: float = 0.0       # of K/V
    others: float = 0.0
    attention: float = 0.0   # seconds of the busiest block
    is_last: bool = False

    def streamed(self, law: Law) -> float:
        return (self.weights + self.others) / law.rate

    def attended(self, law: Law) -> float:
        return max(self.attention, self.cache / law.rate) * law.not_hidden

    def seconds(self, law: Law) -> float:
        return self.streamed(law) + self.attended(law) + (0.0 if self.is_last else law.barrier)


def shape_of(name: str) -> dict:
    found = [row for row in (SMOLLM2, *rows_of("../../models/models.csv")) if row["name"].lower() == name.lower()]
    if not found:
        raise SystemExit(f"bench/gpu/modelled.py: found model {name!r}, expected smollm2-135m or a name of models/models.csv")
    return {"name": found[0]["name"], **{key: int(found[0][key]) for key in SMOLLM2 if key != "name"}}


def busiest_splits(rows: int, group: int, keys: int, kv_heads: int) -> int:
    """Of a chain's attention, as attention_plan.h cuts it and blocks take it; of an item the splits, whatever its queries. Of a
    short context the busiest warp's runs."""
    up = lambda a, b: -(-a // b)   # noqa: E731
    splits, tiles = up(keys, SPLIT_KEYS), up(rows * group, TILE_QUERIES)
    if splits <= SPLIT_GROUP and tiles <= MAX_RUN_TILES:
        return up(splits * tiles * kv_heads, BLOCKS)
    groups = splits // SPLIT_GROUP if tiles > 1 and splits > 2 * SPLIT_GROUP else 0
    units = splits - (SPLIT_GROUP - 1) * groups
    together = 2 if tiles > 1 and units * up(tiles, 2) >= 12 else 1
    items = [SPLIT_GROUP] * (groups * up(tiles, together)) + [1] * ((splits - SPLIT_GROUP * groups) * up(tiles, together))
    items *= kv_heads
    return max(sum(items[block::BLOCKS]) for block in range(BLOCKS))


def operations(shape: dict, weights: str, rows: int, context: int, split: float) -> list[Operation]:
    d, ff = shape["d_model"], shape["d_ff"]
    q, kv = (shape[heads] * shape["head_dim"] for heads in ("n_heads", "n_kv_heads"))
    residual, keys, group = 4 * rows * d, context + rows, shape["n_heads"] // shape["n_kv_heads"]
    row_bytes = (2 * d + 127) // 128 * 128 + 64
    stages = rows <= MAX_STAGED_ROWS and PARTIAL_BYTES + rows * row_bytes + RING_BYTES <= SHARED_BYTES

    def product(name, outputs, depth, form, written, normalises):
        values, words = RUNS[form]
        tiles = -(-outputs // TILE)
        pieces = tiles * -(-depth // values) * (2048 + 128 * words) + (4 * outputs if form == "fp8" else 0)
        asked = BLOCKS * 4 * d * (rows + 1) if normalises and stages else tiles * rows * 2 * depth
        return Operation(name, pieces, 0, asked + written)

    norm = lambda name: [] if stages else [Operation(name, 0, 0, residual * 3 // 2 + 4 * d)]   # noqa: E731
    kept = -(-keys // SPLIT_KEYS)   # sums of a query
    if kept <= SPLIT_GROUP and rows * group <= MAX_RUN_TILES * TILE_QUERIES:
        kept = -(-keys // 32)
    sums = 4 * rows * kept * (q + 2 * shape["n_heads"])
    layer = [*norm("attention norm"), product("qkv", q + 2 * kv, d, weights, 2 * rows * (q + 2 * kv), True),
             Operation("attention", 0, 4 * kv * keys, 2 * rows * q + sums,
                       split * busiest_splits(rows, group, keys, shape["n_kv_heads"])),
             Operation("combine attention", 0, 0, 2 * rows * q + sums, split / 2 * -(-rows * shape["n_heads"] // (8 * BLOCKS))),
             product("output projection", d, q, weights, 2 * residual, False), *norm("mlp norm"),
             product("gate up", 2 * ff, d, weights, 2 * rows * ff, True), product("down", d, ff, weights, 2 * residual, False)]
    partials = 16 * rows * (shape["vocab"] // TILE)
    return [Operation("embedding", 0, 0, residual * 3 // 2), *layer * shape["n_layers"], *norm("head norm"),
            product("head", shape["vocab"], d, "bf16", partials, True), Operation("finish head", 0, 0, partials, is_last=True)]


@dataclass(frozen=True)
class Pass:
    law: Law
    operations: list[Operation]

    def bytes(self) -> float:
        """That it must read: weights and K/V."""
        return sum(op.weights + op.cache for op in self.operations)

    def parts(self) -> Counter:
        """Seconds by what takes them."""
        found = Counter(launch=self.law.launch, barriers=sum(self.law.barrier for op in self.operations if not op.is_last))
        for op in self.operations:
            found[op.name] += op.streamed(self.law) + op.attended(self.law)
        return found

    def seconds(self) -> float:
        return self.parts().total()

    def reading(self) -> Counter:
        """Seconds of its bytes alone at the rate of reading, by operation."""
        found = Counter()
        for op in self.operations:
            found[op.name] += (op.weights + op.cache) / self.law.read_rate
        return found

    def share(self) -> float:
        return self.reading().total() / self.seconds()


def model(name: str, weights="bf16", rows=1, context=512, split=SPUN[1]) -> Pass:
    return Pass(fitted(), operations(shape_of(name), weights, rows, context, split))


def targets(split: float) -> list[dict]:
    """What the model says of each, and what takes most of the time beyond the bound's unit where it is missed."""
    large, small, tiny = (model(name, split=split) for name in ("llama-3-8b", "llama-3.2-1b", SMOLLM2["name"]))
    found = []

    def add(what, bound, value, of: Pass, unit: Counter):
        over = of.parts()
        over.subtract(unit)
        reached = value >= float(bound[2:]) if bound[0] == "≥" else value <= float(bound[2:])
        found.append({"what": what, "target": bound, "modelled": value, "reached": reached,
                      "missed_by": None if reached else max(over, key=over.get)})

    for of, name, share, compiled, over in ((large, "8B", "≥ 0.91", 173.8, "≥ 1.55"),
                                            (small, "1B", "≥ 0.75", 627.8, "≥ 2.2")):
        add(f"{name} vanilla, share of reading alone", share, of.share(), of, of.reading())
        add(f"{name} vanilla over transformers compiled", over, 1 / of.seconds() / compiled, of, of.reading())
    for rows, bound in ((8, "≤ 1.03"), (16, "≤ 1.08"), (32, "≤ 1.35")):
        wide = model("llama-3-8b", rows=rows, split=split)
        add(f"8B verify {rows} rows over one", bound, wide.seconds() / large.seconds(), wide, large.parts())
    add("SmolLM2-135M step, ms", "≤ 0.25", tiny.seconds() * 1e3, tiny, tiny.reading())
    for rows, bound in ((1, "≤ 1.05"), (8, "≤ 1.10")):
        near, far = (model("llama-3-8b", rows=rows, context=context, split=split) for context in (512, 8192))
        add(f"8B context 8192 over 512, rows: {rows}", bound, far.seconds() / near.seconds(), far, near.parts())
    return found


def print_pass(of: Pass):
    print(f"{'operation':18} {'times':>5} {'weights MB':>11} {'K/V MB':>8} {'others MB':>10} {'µs, modelled':>13}")
    for op, times in Counter(of.operations).items():
        print(f"{op.name:18} {times:>5} {op.weights / 1e6:>11.3f} {op.cache / 1e6:>8.3f} {op.others / 1e6:>10.3f} "
              f"{op.seconds(of.law) * 1e6:>13.2f}")
    print(f"modelled: {of.seconds() * 1e3:.3f} ms (its launch {of.law.launch * 1e6:.0f} µs), {1 / of.seconds():.0f} passes/s, "
          f"{of.bytes() / 1e9:.3f} GB, {of.share():.3f} of reading alone")


def print_targets(by_split: dict):
    print("H200, bf16, batch 1, context 512; a split or a run of attention taken to last "
          + " / ".join(f"{us:.1f} µs" for us in by_split))
    for rows in zip(*by_split.values()):
        said = (f"{row['modelled']:.3f}" + ("" if row["reached"] else f" missed ({row['missed_by']})") for row in rows)
        print(f"{rows[0]['what']:40} {rows[0]['target']:7} modelled {' / '.join(said)}")


def main():
    parser = argparse.ArgumentParser(prog="bench/gpu/modelled.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="llama-3-8b")
    parser.add_argument("--weights", choices=RUNS, default="bf16", help="of the layers' matrices")
    parser.add_argument("--rows", type=int, choices=range(1, 65), metavar="1…64", default=1)
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--split-us", type=float, nargs="+", default=[us * 1e6 for us in SPUN],
                        help="of attention, or a run; a pass takes the last")
    parser.add_argument("--targets", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.targets:
        found = {us: targets(us * 1e-6) for us in args.split_us}
        return print(json.dumps(found, indent=1, ensure_ascii=False)) if args.json else print_targets(found)
    of = model(args.model, args.weights, args.rows, args.context, args.split_us[-1] * 1e-6)
    if not args.json:
        return print_pass(of)
    figures = {"pass_ms": of.seconds() * 1e3, "tokens_per_s": 1 / of.seconds(), "bytes": of.bytes(),
               "share_of_reading": of.share()}
    print(json.dumps({"modelled": figures, "law": asdict(of.law), "operations": [
        asdict(op) | {"modelled_us": op.seconds(of.law) * 1e6} for op in of.operations]}, indent=1))


if __name__ == "__main__":
    main()
