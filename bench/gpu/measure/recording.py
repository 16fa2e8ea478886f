# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings: of every strategy, what recording costs, and two small traces to look at. Every mode of recording is a process
of its own, for CUPTI serves one session a process; the modes take turns, so that a drift of the card hits all of them."""
import contextlib
import json
import sqlite3
import statistics
from pathlib import Path

from . import build, decoding
from .runner import Runner, StepFailed
from .scale import Scale

QUESTIONS = "traces/prompts/demo.jsonl"
TEXTS = "traces/prompts/mixed.jsonl"
STRATEGIES = (
    "vanilla", "layerskip:exit={exit},gamma=4", "fs:exit={exit}", "dv:exit={exit}",
    "draft-verify:skip-attention=every-2,skip-mlp=none", "swift", "clasp", "knapspec", "conflayers", "del",
    "quantised:weights=q8_0", "prompt-lookup", "suffix-decoding", "token-recycling", "jacobi", "lookahead", "cascade", "auto")
MODES = {  # rounds: the least that a recording holds
    "off": ["--level", "rounds", "--device-trace", "off"],
    "phases": ["--level", "phases", "--device-trace", "off"],
    "launches": ["--level", "phases", "--device-trace", "launches"]}
HOST_MODES = ("off", "phases")
SAMPLES = {"program": MODES["launches"], "plain": [*MODES["launches"], "--cuda-pass", "plain"]}
LARGEST_SAMPLE = 1 << 20


def record(runner: Runner, scale: Scale, model: str, trace: Path, options: list, questions: str = QUESTIONS) -> None:
    runner.run([build.DRAFTSCOPE, "record", "--model", model, "--device", scale.device, "--prompts", questions,
                "--overwrite", "--quiet", "--output", trace, *options])


def report(runner: Runner, trace: Path) -> dict:
    return runner.run_json([build.DRAFTSCOPE, "report", trace, "--json"])


def strategies(runner: Runner, scale: Scale, name: str, model: str, exit: int, also: tuple = ()) -> list[dict]:
    """Every strategy on the same questions: speed, costs in vanilla's steps, and whether the text is vanilla's."""
    trace = runner.out / f"strategies-{name}.dstrace"
    chosen = [strategy.format(exit=exit) for strategy in (*STRATEGIES, *also)]
    record(runner, scale, model, trace, [
        *(word for strategy in chosen for word in ("--strategy", strategy)), "--level", "phases", "--device-trace", "off",
        "--repeats", 1, "--limit", scale.questions, "--max-tokens", scale.recorded_tokens], TEXTS)
    rows = [of_strategy(run) for run in report(runner, trace)["runs"]]
    for row in rows:
        runner.say("  " + line_of(row))
    other = [row["specification"] for row in rows if row["same_text"] is False]
    if other:
        raise StepFailed(f"another text than vanilla's under {', '.join(other)}", rows)
    return rows


def of_strategy(run: dict) -> dict:
    """What a report says of a run; control is what lies outside draft and verification, in vanilla's steps per round."""
    parts = run["breakdown"]
    control = sum(parts[f"{part}_ns"] for part in ("accept", "optimise", "control", "sync"))
    step = run["target_step_ns"]
    return {"specification": run["specification"], "tokens_per_s": run["decode_tokens_per_second"],
            "speedup": run["speedup"]["decode_value"] if run["speedup"] else None,
            "acceptance_rate": run["acceptance_rate"], "tokens_per_round": run["tokens_per_round"],
            "draft_cost": run["draft_cost"], "verify_cost": run["verify_cost"],
            "control_steps_per_round": control / run["rounds"] / step if run["rounds"] and step else None,
            "same_text": run["identity"]["same_text"] if run["identity"] else None}


def line_of(row: dict) -> str:
    words = [f"{row['specification']}: {row['tokens_per_s']:.0f} tokens/s"]
    for name, key, form in (("", "speedup", "{:.2f}x"), ("accepted ", "acceptance_rate", "{:.0%}"),
                            ("c ", "draft_cost", "{:.2f}"), ("v ", "verify_cost", "{:.2f}"),
                            ("control ", "control_steps_per_round", "{:.2f}")):
        if row[key] is not None:
            words.append(name + form.format(row[key]))
    return ", ".join(words) + (", ANOTHER TEXT" if row["same_text"] is False else "")


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
                if mode not in HOST_MODES and found != mode:
                    raise StepFailed(f"the recording's device trace is {found}, expected {mode}; see log.txt")
                for run in measured["runs"]:
                    rates.setdefault(run["specification"], {}).setdefault(mode, []).append(run["decode_tokens_per_second"])
                if mode not in HOST_MODES:
                    figures["rounds"][mode] = device_share_of_rounds(trace)
    finally:
        for name in ("", "-wal", "-shm"):
            trace.with_name(trace.name + name).unlink(missing_ok=True)
    for specification, by_mode in rates.items():
        costs = figures["strategies"][specification] = {
            mode: {"tokens_per_s": spread(values),
                   "overhead": spread([off / on - 1 for off, on in zip(by_mode["off"], values)])}
            for mode, values in by_mode.items()}
        runner.say(f"  {specification}: " + ", ".join(
            f"{mode} costs {cost['overhead']['median']:.1%}" for mode, cost in costs.items() if mode != "off"))
    return figures


def spread(values: list[float]) -> dict:
    values = sorted(values)
    at = lambda quarter: values[(len(values) - 1) * quarter // 4]
    return {"median": statistics.median(values), "low": at(1), "high": at(3), "repeats": len(values)}


def device_share_of_rounds(trace: Path) -> list[dict]:
    """Share of the rounds' time in which the device did nothing, a row a strategy: what lies outside kernels. A program holds
    what its blocks wait for each other; of plain passes rows are operations."""
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
            # Where kernels overlap, time counts once.
            busy[strategy] = busy.get(strategy, 0) + max(0, end - max(start, until))
            until = max(until, end)
    return [{"strategy": strategy, "rounds": len(rounds), "round_microseconds": sum(rounds.values()) / len(rounds) * 1e-3,
             "outside_kernels": 1 - busy[strategy] / sum(rounds.values())}
            for strategy, rounds in walls.items()]


def samples(runner: Runner, scale: Scale, folder: Path) -> list[dict]:
    folder.mkdir(exist_ok=True)
    exit = decoding.DEMO_EXITS[-1]
    found = []
    for name, mode in {"phases": MODES["phases"]}.items() if scale.device == "cpu" else SAMPLES.items():
        trace = folder / f"demo-layerskip-{name}.dstrace"
        record(runner, scale, decoding.DEMO, trace, [
            *mode, "--strategy", "vanilla", "--strategy", f"layerskip:exit={exit},gamma=4", "--repeats", 1,
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
