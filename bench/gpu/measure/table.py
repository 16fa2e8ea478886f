# SPDX-License-Identifier: GPL-3.0-or-later
"""The short table: what could be wrong, targets beside what was measured, other figures, and the steps that failed."""
from . import targets


def aligned(rows: list[tuple]) -> list[str]:
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in texts) for i in range(len(texts[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in texts]


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def speeds(figures: dict) -> list[tuple]:
    rows = []
    for name in ("8b", "1b", "demo"):
        for result in figures.get(f"decode {name}", []):
            vanilla = result["vanilla"]
            rows.append((f"{name} {result['weights']}", "vanilla", number(vanilla["tokens_per_s"]["median"]),
                         number(vanilla["share_of_read_bandwidth"])))
            for run in result["layerskip"]:
                rows.append((f"{name} {result['weights']}",
                             f"layerskip E={run['exit']} γ={run['gamma']}, {run['acceptance_rate']:.0%} accepted",
                             number(run["tokens_per_s"]["median"]), ""))
        for way, measured in figures.get(f"transformers {name}", {}).get("ways", {}).items():
            rate = measured.get("tokens_per_s", {}).get("median")
            rows.append((name, f"transformers {way}", number(rate), ""))
    return rows


def lines(results: dict) -> list[str]:
    machine, figures = results["machine"], results["figures"]
    text = [f"{machine['gpu'] or 'no GPU'}, driver {machine['driver'] or '-'}, CUDA {machine['cuda_toolkit'] or '-'}, "
            f"{machine['date']}"]
    if results["mode"] == "dry":
        text.append("DRY RUN: small shapes on the processor; shows that the steps work, measures nothing")
    if "check" in figures:
        text += ["", *aligned([("what could be wrong", "")] + [
            (answer["asks"], answer["verdict"] + (f": {answer['why']}" if "why" in answer else ""))
            for answer in figures["check"].values()])]
    text += ["", *aligned([("target", "to reach", "measured", "")] + [
        (row["what"], row["target"], number(row["measured"]),
         "" if row["reached"] is None or results["mode"] == "dry" else "reached" if row["reached"] else "NOT REACHED")
        for row in results["targets"]])]
    rates = speeds(figures)
    if rates:
        text += ["", *aligned([("model", "way", "tokens/s", "of reading"), *rates])]
    rest = [step for step in results["steps"] if step["status"] != "ok"]
    if rest:
        text += ["", *aligned([("step", "", "why")] + [
            (step["name"], step["status"], step.get("error") or step.get("reason")) for step in rest])]
    return text


def summarise(results: dict) -> str:
    results["targets"] = targets.compare(results["figures"])
    return "\n".join(lines(results)) + "\n"
