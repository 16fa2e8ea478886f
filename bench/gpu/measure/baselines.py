# SPDX-License-Identifier: GPL-3.0-or-later
"""Hugging Face transformers beside our own decoding of the same shapes, and of the same checkpoint."""
import json
import sys
from pathlib import Path

from . import decoding
from .runner import Runner, StepFailed, StepSkipped
from .scale import Model, Scale

HERE = Path(__file__).resolve().parents[1]
QUESTIONS = "traces/prompts/demo.jsonl"


def prompt(runner: Runner, scale: Scale, path: Path) -> None:
    path.write_text(runner.run([sys.executable, HERE / "prompt_tokens.py", decoding.DEMO, QUESTIONS, scale.context]))


def transformers(runner: Runner, scale: Scale, options: list) -> dict:
    [ended] = runner.run_all([[
        sys.executable, HERE / "transformers_baselines.py", "--device", scale.device, "--context", scale.context,
        "--tokens", scale.tokens, "--repeats", scale.baseline_repeats, *options]])
    lines = [line for line in ended.output.splitlines() if line.startswith("{")]
    if not lines:
        raise StepFailed(ended.reason())
    result = json.loads(lines[-1])
    for name, way in result["ways"].items():
        runner.say(f"  {name}: " + (way["error"] if "error" in way else f"{way['tokens_per_s']['median']:.1f} tokens/s"))
    errors = [f"{name}: {way['error']}" for name, way in result["ways"].items() if "error" in way]
    if ended.status is None:
        errors.append(ended.reason())
    if errors:
        raise StepFailed("; ".join(errors), result)
    return result


def model(runner: Runner, scale: Scale, which: Model) -> dict:
    options = ["--model", which.published, "--exit", which.exits[len(which.exits) // 2]]
    options += ["--layers", which.layers] if which.layers else []
    options += ["--vocab", which.vocab] if which.vocab else []
    return transformers(runner, scale, options)


def demo(runner: Runner, scale: Scale, prompt_path: Path) -> dict:
    if not prompt_path.exists():
        raise StepSkipped("there is no prompt: the step that makes it failed")
    return transformers(runner, scale, ["--model", decoding.DEMO, "--prompt", prompt_path, "--exit", decoding.DEMO_EXITS[-1]])
