# SPDX-License-Identifier: GPL-3.0-or-later
"""bench_gpu: vanilla decode, verify widths, draft steps, rounds, speculation; clocks and power while it decodes."""
from pathlib import Path

from . import build
from .runner import Runner, StepFailed, StepSkipped
from .sampler import Sampler
from .scale import Model, Scale

DEMO = "models/demo-layerskip"
DEMO_EXITS = (3, 7)


def common(scale: Scale) -> list:
    return [build.PROGRAMS / "bench_gpu", "--json", "--device", scale.device, "--context", scale.context,
            "--tokens", scale.tokens, "--probe-bytes", scale.probe_bytes]


def model(runner: Runner, scale: Scale, which: Model) -> list:
    """A program a weight format: one that fails, or for which there is no time, leaves the others' figures."""
    results, wrong = [], []
    for weights in which.weights:
        try:
            found = runner.run_json([
                *common(scale), "--model", which.argument, "--weights", weights, "--repeats", scale.repeats,
                "--widths", *scale.widths, "--exits", *which.exits, "--contexts", *which.contexts])
        except StepFailed as error:
            wrong.append(f"{weights}: {error}")
            found = error.figures or []
        say(runner, found)
        results += found
    if wrong:
        raise StepFailed("; ".join(wrong), results)
    return results


def say(runner: Runner, results: list) -> None:
    for result in results:
        widths = ", ".join(f"{width['rows']} rows {width['against_one_row']['median']:.2f}"
                           for width in result["verify_widths"] if width["rows"] > 1)
        share = result["vanilla"].get("share_of_read_bandwidth")
        runner.say(f"  {result['weights']}: vanilla {result['vanilla']['tokens_per_s']['median']:.1f} tokens/s"
                   + (f", {share:.2f} of the read rate" if share else "") + f"; against one row: {widths}")
        for run in result["layerskip"]:
            runner.say(f"  {result['weights']}: layerskip E={run['exit']}: {run['speedup']['median']:.2f}x, "
                       f"c {run['draft_cost_coefficient']:.2f}, v {run['verify_cost']:.2f}, "
                       f"{run['acceptance_rate']:.0%} accepted" + ("" if run["same_text_as_vanilla"] else ", ANOTHER TEXT"))


def plain(runner: Runner, scale: Scale, which: Model) -> list:
    """One row and eight with a launch an operation, beside programs."""
    found = runner.run_json([*common(scale), "--model", which.argument, "--pass", "plain", "--repeats", scale.repeats,
                             "--widths", 8])
    say(runner, found)
    return found


def demo(runner: Runner, scale: Scale, prompt: Path) -> list:
    """The checkpoint that ships, on the prompt that the baselines get too."""
    if not prompt.exists():
        raise StepSkipped("there is no prompt: the step that makes it failed")
    found = runner.run_json([*common(scale), "--model", DEMO, "--prompt", prompt, "--repeats", scale.repeats,
                             "--exits", *DEMO_EXITS])
    say(runner, found)
    return found


def sustained(runner: Runner, scale: Scale, which: Model) -> dict:
    command = [*common(scale), "--model", which.argument, "--sustain", scale.sustain_seconds]
    if scale.device == "cpu":
        return {"decode": runner.run_json(command), "card": None}
    with Sampler() as sampler:
        decode = runner.run_json(command)
    return {"decode": decode, "card": sampler.figures()}


def memory(runner: Runner) -> list:
    if runner.dry:
        raise StepSkipped("needs a device")
    return runner.run_json([build.PROGRAMS / "bench_gpu_memory"])
