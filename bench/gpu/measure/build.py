# SPDX-License-Identifier: GPL-3.0-or-later
"""Configures and builds what the other steps run, and the tests that need a device."""
import os
import re
from pathlib import Path

from . import machine
from .runner import Runner, StepFailed, StepSkipped

CARRIED = Path("build/gpu-node")     # what bench/gpu/pack gathered
FOLDER = Path("build/gpu")
DRAFTSCOPE = FOLDER / "cli/draftscope"
PROGRAMS = FOLDER / "bench/gpu"


def build(runner: Runner) -> dict:
    options = []
    if CARRIED.is_dir():
        options.append(f"-DCMAKE_PREFIX_PATH={CARRIED.resolve()}")
    if runner.dry:
        options.append("-DDRAFTSCOPE_CUDA=AUTO")
    compiler = {} if "CUDACXX" in os.environ or not Path(machine.nvcc()).exists() else {"CUDACXX": machine.nvcc()}
    runner.run(["cmake", "--preset", "gpu", *options], environment=compiler)
    runner.run(["cmake", "--build", FOLDER, "--target", "draftscope", "tests_gpu", "recorded_on_gpu", "bench_gpu_all"])
    return {"carried_packages": CARRIED.joinpath("packages.txt").read_text().splitlines() if CARRIED.is_dir() else None}


def test(runner: Runner) -> dict:
    output = ctest(runner, "-L", "gpu", "-LE", "sanitizer")
    reason = skipped(output)
    if reason:
        if runner.dry:
            raise StepSkipped(reason)
        raise StepFailed(reason)
    failed = [line.split("]")[-1].strip() for line in output.splitlines() if "[  FAILED  ]" in line]
    failed += [line.split("broken: ")[-1] for line in output.splitlines() if "broken: " in line]
    if failed or "100% tests passed" not in output:
        raise StepFailed(f"failed tests: {', '.join(dict.fromkeys(failed[:4])) or 'see log.txt'}")
    passed = [line for line in output.splitlines() if "[  PASSED  ]" in line]
    conserved = [line.split(": ", 1)[-1] for line in output.splitlines() if "worst round off by" in line]
    return {"passed": passed[0].split("]")[-1].strip() if passed else "all", "rounds": conserved}


def sanitize(runner: Runner, tool: str = r"\w+") -> dict:
    """compute-sanitizer's tools over a small model; each is a test of its own with a time limit of its own."""
    output = ctest(runner, "-R", rf"^gpu\.sanitizer\.{tool}$")
    if "100% tests passed" not in output:
        failed = re.findall(r"gpu\.sanitizer\.(\w+) \.*\**(Failed|Timeout|Exception)", output)
        raise StepFailed(f"not clean: {', '.join(f'{tool} ({how.lower()})' for tool, how in failed) or 'see log.txt'}")
    reason = skipped(output)
    if reason:
        raise StepSkipped(reason)
    return {"clean": re.findall(r"gpu\.sanitizer\.(\w+) \.+ +Passed", output)}


def ctest(runner: Runner, *labels: str) -> str:
    return runner.run(["ctest", "--test-dir", FOLDER, *labels, "--output-on-failure", "-V"], accept=(0, 8))


def skipped(output: str) -> str:
    """Why a test was skipped; nothing if none was."""
    why = [line for line in output.splitlines() if "skipped: " in line]
    if why:
        return why[0].split("skipped: ")[-1]
    return "no device" if "Skipped" in output else ""
