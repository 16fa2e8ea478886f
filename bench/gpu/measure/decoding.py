# SPDX-License-Identifier: GPL-3.0-or-later
"""bench_gpu: vanilla decode, verify widths, draft steps, rounds, speculation; and clocks and power meanwhile."""
import shutil
import statistics
import subprocess
import threading
from pathlib import Path

from . import build
from .runner import Runner, StepSkipped
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


class Sampler:
    """Reads clocks, power and temperature while something runs."""
    FIELDS = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")
    PERIOD_MS = 200

    def __enter__(self):
        self.rows = []
        # Lines must not wait in the pipe until the sampler ends.
        unbuffered = ["stdbuf", "-oL"] if shutil.which("stdbuf") else []
        self.process = subprocess.Popen(
            [*unbuffered, "nvidia-smi", f"--query-gpu={','.join(self.FIELDS)}", "--format=csv,noheader,nounits",
             f"--loop-ms={self.PERIOD_MS}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        return self

    def _read(self):
        for line in self.process.stdout:
            try:
                self.rows.append([float(value) for value in line.split(",")])
            except ValueError:
                continue  # a field that this card does not tell

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.reader.join()

    def figures(self) -> dict | None:
        # The model is made and uploaded first: only samples with the card at work count.
        if not self.rows:
            return None
        most = max(row[2] for row in self.rows)
        busy = [row for row in self.rows if row[2] > 0.6 * most]
        columns = {name: [row[i] for row in busy] for i, name in enumerate(self.FIELDS)}
        return {"samples": len(busy),
                **{name.replace(".", "_"): {"lowest": min(values), "median": statistics.median(values), "highest": max(values)}
                   for name, values in columns.items()}}


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
