# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that the other steps run: built here, or unpacked from what bench/gpu/pack made."""
import json
import os
import sys
from pathlib import Path

from . import machine
from .runner import Runner, StepFailed

FOLDER = Path("build/gpu")
DRAFTSCOPE = FOLDER / "cli/draftscope"
PROGRAMS = FOLDER / "bench/gpu"
DEVICE_TESTS = FOLDER / "tests/gpu/tests_gpu"
RECORDED = FOLDER / "tests/gpu/recorded_on_gpu"
PACKED_LIBRARIES = FOLDER / "lib"
# Where a toolkit, or the packages that torch brings, may have them; the driver's come with the driver.
CUBLAS = ("libcublas.so.13", "libcublasLt.so.13")
CUPTI = "libcupti.so.13"


def build(runner: Runner) -> None:
    options = ["-DDRAFTSCOPE_CUDA=AUTO"] if runner.dry else []
    compiler = {} if "CUDACXX" in os.environ or not Path(machine.nvcc()).exists() else {"CUDACXX": machine.nvcc()}
    runner.run(["cmake", "--preset", "gpu", *options], environment=compiler)
    runner.run(["cmake", "--build", FOLDER, "--target", "draftscope", "tests_gpu", "recorded_on_gpu", "bench_gpu_all"])


def start(runner: Runner, folders: list[Path] | None = None) -> dict:
    """In place of a build: finds the libraries that a packed program wants of the node, and starts one."""
    places = library_folders() if folders is None else folders
    found = {name: next((folder for folder in places if (folder / name).exists()), None) for name in (*CUBLAS, CUPTI)}
    for name in CUBLAS:
        if found[name] is None:
            raise StepFailed(f"{name} is in none of {len(places)} folders, expected that of CUDA 13: a toolkit's, or the one "
                             f"that torch for CUDA 13 brings to {sys.executable}; LD_LIBRARY_PATH may name its folder")
    if found[CUPTI] is None:
        runner.say(f"  {CUPTI} is not here: recordings will hold no device activity")
    wanted = [PACKED_LIBRARIES.resolve(), *(folder for folder in found.values() if folder)]
    runner.libraries = list(dict.fromkeys(wanted))
    version = runner.run([DRAFTSCOPE, "--version"]).strip()
    packed = json.loads(machine.PACKED.read_text())
    runner.say(f"  {version}, commit {packed['commit']}, kernels for {packed['architectures']}; cuBLAS in {found[CUBLAS[0]]}")
    return {**packed, "libraries": {name: str(folder) if folder else None for name, folder in found.items()}}


def library_folders() -> list[Path]:
    toolkits = [os.environ["CUDA_HOME"]] if "CUDA_HOME" in os.environ else []
    toolkits += ["/usr/local/cuda", *sorted(map(str, Path("/usr/local").glob("cuda-13*")), reverse=True)]
    folders = [Path(place) for place in os.environ.get("LD_LIBRARY_PATH", "").split(":") if place]
    folders += [Path(toolkit, part) for toolkit in toolkits for part in ("lib64", "extras/CUPTI/lib64")]
    folders += [Path("/usr/lib/x86_64-linux-gnu"), Path("/usr/lib64")]
    for place in sys.path:
        folders += [*sorted(Path(place).glob("nvidia/*/lib")), Path(place, "torch/lib")]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]
