# SPDX-License-Identifier: GPL-3.0-or-later
"""Configures and builds what the other steps run, and the tests that need a device."""
import os
from pathlib import Path

from . import machine
from .runner import Runner, StepFailed, StepSkipped

CARRIED = Path("build/gpu-node")     # what bench/gpu/pack gathered
FOLDER = Path("build/gpu")
DRAFTSCOPE = FOLDER / "cli/draftscope"
PROGRAMS = FOLDER / "bench/gpu"
TESTS = FOLDER / "tests/gpu/tests_gpu"


def build(runner: Runner) -> dict:
    options = []
    if CARRIED.is_dir():
        options.append(f"-DCMAKE_PREFIX_PATH={CARRIED.resolve()}")
    if runner.dry:
        options.append("-DDRAFTSCOPE_CUDA=AUTO")
    compiler = {} if "CUDACXX" in os.environ or not Path(machine.nvcc()).exists() else {"CUDACXX": machine.nvcc()}
    runner.run(["cmake", "--preset", "gpu", *options], environment=compiler)
    runner.run(["cmake", "--build", FOLDER, "--target", "draftscope", "tests_gpu", "bench_gpu_all"])
    return {"carried_packages": CARRIED.joinpath("packages.txt").read_text().splitlines() if CARRIED.is_dir() else None}


def test(runner: Runner) -> dict:
    output = runner.run(["ctest", "--test-dir", FOLDER, "-L", "gpu", "--output-on-failure", "-V"], accept=(0, 8))
    if "Skipped" in output or "skipped:" in output:
        why = [line for line in output.splitlines() if "skipped:" in line]
        reason = why[0].split("skipped: ")[-1] if why else "no device"
        if runner.dry:
            raise StepSkipped(reason)
        raise StepFailed(reason)
    failed = [line.split("]")[-1].strip() for line in output.splitlines() if "[  FAILED  ]" in line]
    if failed or "100% tests passed" not in output:
        raise StepFailed(f"failed tests: {', '.join(dict.fromkeys(failed[:4])) or 'see log.txt'}")
    passed = [line for line in output.splitlines() if "[  PASSED  ]" in line]
    return {"passed": passed[0].split("]")[-1].strip() if passed else "all"}
