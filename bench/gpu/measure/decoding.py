# SPDX-License-Identifier: GPL-3.0-or-later
"""bench_gpu: vanilla decode, verify widths, draft steps, rounds, speculation; and clocks and power meanwhile."""
from pathlib import Path

from . import build
from .runner import Runner, StepSkipped
from .sampler import Sampler
from .scale import Model, Scale

DEMO = "models/demo-layerskip"
DEMO_EXITS = (3, 7)


def common(scale: Scale) -> list:
    return [build.PROGRAMS / "bench_gpu", "--json", "--device", scale.device, "--context", scale.context,
            "--tokens", scale.tokens, "--probe-bytes", scale.probe_bytes]


def model(runner: Runner, scale: Scale, which: Model) -> list:
    return runner.run_json([
        *common(scale), "--model", which.argument, "--weights", *which.weights, "--repeats", scale.repeats,
        "--widths", *scale.widths, "--exits", *which.exits, "--contexts", *which.contexts])


def demo(runner: Runner, scale: Scale, prompt: Path) -> list:
    """The checkpoint that ships, on the prompt that the baselines get too."""
    if not prompt.exists():
        raise StepSkipped("there is no prompt: the step that makes it failed")
    return runner.run_json([*common(scale), "--model", DEMO, "--prompt", prompt, "--repeats", scale.repeats,
                            "--exits", *DEMO_EXITS])


def sustained(runner: Runner, scale: Scale, which: Model) -> dict:
    command = [*common(scale), "--model", which.argument, "--sustain", scale.sustain_seconds]
    if scale.device == "cpu":
        return {"decode": runner.run_json(command), "card": None}
    with Sampler() as sampler:
        decode = runner.run_json(command)
    return {"decode": decode, "card": sampler.figures()}


def primitive(runner: Runner, name: str):
    if runner.dry:
        raise StepSkipped("needs a device")
    return runner.run_json([build.PROGRAMS / f"bench_gpu_{name}"])
