# SPDX-License-Identifier: GPL-3.0-or-later
"""What recording costs, and two small traces to look at. Every mode is a process of its own, for CUPTI serves one
session a process; the modes take turns, so that a drift of the card hits all of them."""
import contextlib
import json
import sqlite3
import statistics
from pathlib import Path

from . import build, decoding
from .runner import Runner, StepFailed
from .scale import Scale

QUESTIONS = "traces/prompts/demo.jsonl"
MODES = {  # rounds: the least that a recording holds
    "off": ["--level", "rounds", "--device-trace", "off"],
    "phases": ["--level", "phases", "--device-trace", "off"],
    "graph": ["--level", "phases", "--device-trace", "graph"],
    "node": ["--level", "phases", "--device-trace", "node", "--node-requests", "0"]}
HOST_MODES = ("off", "phases")
DEVICE_MODES = ("graph", "node")
LARGEST_SAMPLE = 1 << 20


def record(runner: Runner, scale: Scale, model: str, trace: Path, options: list) -> None:
    device = ["--device", scale.device]
    runner.run([build.DRAFTSCOPE, "record", "--model", model, *device, "--prompts", QUESTIONS, "--overwrite", "--quiet",
                "--output", trace, *options])


def report(runner: Runner, trace: Path) -> dict:
    return runner.run_json([build.DRAFTSCOPE, "report", trace, "--json"])


def overhead(runner: Runner, scale: Scale, model: str, exit: int) -> dict:
    """Tokens/s unrecorded (but for rounds) over tokens/s recorded, less one: medians over processes that took turns."""
    modes = HOST_MODES if scale.device == "cpu" else tuple(MODES)
    strategies = ["--strategy", "vanilla", "--strategy", f"layerskip:exit={exit},gamma=4"]
    rates: dict[str, dict[str, list[float]]] = {}
    figures: dict = {"model": model, "unit": "tokens/s after the first token", "strategies": {}, "rounds": {}}
    trace = runner.out / "overhead.dstrace"
    try:
        for turn in range(scale.recordings):
            for i in range(len(modes)):
                mode = modes[(i + turn) % len(modes)]
                record(runner, scale, model, trace, [
                    *strategies, *MODES[mode], "--repeats", 2, "--limit", 3, "--max-tokens", scale.tokens])
                measured = report(runner, trace)
                found = measured["recording"]["meta"].get("device_trace", "none")
                if mode in DEVICE_MODES and found != mode:
                    raise StepFailed(f"the recording's device trace is {found}, expected {mode}; see log.txt")
                for run in measured["runs"]:
                    rates.setdefault(run["specification"], {}).setdefault(mode, []).append(run["decode_tokens_per_second"])
                if mode in DEVICE_MODES:
                    figures["rounds"][mode] = device_share_of_rounds(trace)
    finally:
        for name in ("", "-wal", "-shm"):
            trace.with_name(trace.name + name).unlink(missing_ok=True)
    for specification, by_mode in rates.items():
        figures["strategies"][specification] = {
            mode: {"tokens_per_s": spread(values),
                   "overhead": spread([off / on - 1 for off, on in zip(by_mode["off"], values)])}
            for mode, values in by_mode.items()}
    return figures


def spread(values: list[float]) -> dict:
    values = sorted(values)
    at = lambda quarter: values[(len(values) - 1) * quarter // 4]
    return {"median": statistics.median(values), "low": at(1), "high": at(3), "repeats": len(values)}


def device_share_of_rounds(trace: Path) -> list[dict]:
    """Share of the rounds' time in which the device did nothing, a row a strategy: what lies outside kernels. In graph
    mode a row is a graph's launch and holds its gaps; in node mode rows are kernels, slowed by being traced."""
    query = """
        SELECT runs.specification, rounds.id, rounds.end_ns - rounds.start_ns, kernels.start_ns, kernels.end_ns
        FROM kernels JOIN rounds ON rounds.id = kernels.round JOIN tracks ON tracks.id = kernels.track
        JOIN requests ON requests.id = rounds.request JOIN runs ON runs.id = requests.run
        WHERE tracks.kind = 'stream' ORDER BY rounds.id, kernels.start_ns"""
    walls: dict[str, dict[int, int]] = {}
    busy: dict[str, int] = {}
    last_round, until = None, 0
    with contextlib.closing(sqlite3.connect(f"file:{trace}?mode=ro", uri=True)) as database:
        for strategy, round_id, wall, start, end in database.execute(query):
            walls.setdefault(strategy, {})[round_id] = wall
            if round_id != last_round:
                last_round, until = round_id, start
            # A kernel may start before the one ahead has ended: time counts once.
            busy[strategy] = busy.get(strategy, 0) + max(0, end - max(start, until))
            until = max(until, end)
    return [{"strategy": strategy, "rounds": len(rounds), "round_microseconds": sum(rounds.values()) / len(rounds) * 1e-3,
             "outside_kernels": 1 - busy[strategy] / sum(rounds.values())}
            for strategy, rounds in walls.items()]


def samples(runner: Runner, scale: Scale, folder: Path) -> list[dict]:
    folder.mkdir(exist_ok=True)
    exit = decoding.DEMO_EXITS[-1]
    found = []
    for mode in ("phases",) if scale.device == "cpu" else DEVICE_MODES:
        trace = folder / f"demo-layerskip-{mode}.dstrace"
        record(runner, scale, decoding.DEMO, trace, [
            *MODES[mode], "--strategy", "vanilla", "--strategy", f"layerskip:exit={exit},gamma=4", "--repeats", 1,
            "--limit", 1, "--max-tokens", 16])
        inspected = json.loads(runner.run([build.DRAFTSCOPE, "inspect", trace, "--validate", "--json"]))
        if inspected["violations"]:
            raise StepFailed(f"{trace.name}: {len(inspected['violations'])} broken rules, expected none")
        size = trace.stat().st_size
        if size > LARGEST_SAMPLE:
            raise StepFailed(f"{trace.name} has {size} bytes, expected at most {LARGEST_SAMPLE}")
        found.append({"trace": str(trace.relative_to(runner.out)), "bytes": size, "rows": inspected["rows"],
                      "rounds": device_share_of_rounds(trace)})
    return found
