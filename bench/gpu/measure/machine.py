# SPDX-License-Identifier: GPL-3.0-or-later
"""What the figures were measured on: GPU, driver, toolkit, clocks, date."""
import json
import platform
import shutil
import subprocess
from datetime import datetime, timezone
from pathlib import Path

PACKED = Path("packed.json")   # in what bench/gpu/pack made: the commit and what the programs were built with

QUERIES = {
    "gpu": "name", "driver": "driver_version", "memory_total": "memory.total",
    "sm_clock_now": "clocks.sm", "sm_clock_max": "clocks.max.sm", "memory_clock_now": "clocks.mem",
    "memory_clock_max": "clocks.max.mem", "power_limit": "power.limit", "temperature": "temperature.gpu",
    "ecc": "ecc.mode.current"}


def output_of(command: list[str]) -> str:
    """Empty where the program is missing or fails: a fact that is not known is null, no error."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def nvidia_smi(fields: dict[str, str]) -> dict[str, str | None]:
    together = output_of(["nvidia-smi", f"--query-gpu={','.join(fields.values())}", "--format=csv,noheader"])
    values = [value.strip() for value in together.split("\n")[0].split(",")]
    if len(values) == len(fields):
        return dict(zip(fields, values))
    # One by one, for a field that a driver does not know makes the whole query fail.
    return {name: output_of(["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader"]).split("\n")[0] or None
            for name, field in fields.items()}


def nvcc() -> str:
    return shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def describe() -> dict:
    packed = json.loads(PACKED.read_text()) if PACKED.exists() else {}
    release = [line for line in output_of([nvcc(), "--version"]).splitlines() if "release" in line]
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC"),
        **nvidia_smi(QUERIES),
        "cuda_toolkit": packed.get("cuda_toolkit") or (release[0].split("release ")[-1] if release else None),
        "host": platform.platform(), "python": platform.python_version(),
        "packed": bool(packed),
        "commit": packed.get("commit") or output_of(["git", "rev-parse", "--short", "HEAD"]) or None,
        "uncommitted_changes": packed.get("uncommitted_changes", bool(output_of(["git", "status", "--porcelain"])))}
