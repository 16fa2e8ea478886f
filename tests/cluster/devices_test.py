#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shares a model among emulated GPUs, a process of a real MPI job each: what they decode and record, and how they end.

    tests/cluster/devices_test.py DRAFTSCOPE_EMULATED SOURCE     (77 = skipped: no mpirun, or a build without MPI)
"""
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from rank_job import lines_of, mpirun, skip_without_mpi
from recordings import expect, expect_one_text, first_prompts, options_of, told

STRATEGIES = ("vanilla", "layerskip:exit=1,gamma=2")


def on_devices(*command, **environment):
    """Two ranks, with two emulated devices where `environment` says nothing else."""
    return mpirun(2, *command, env={**os.environ, "DRAFTSCOPE_EMULATED_DEVICES": "2", **environment})


def main():
    program, source = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    skip_without_mpi(program)
    model = source / "models/demo-draft"
    settings = ["--model", model, "--device", "cuda", "--context", "128", "--tensor-parallel", "2", "--quiet"]
    generate = [program, "generate", *settings, "--max-tokens", "6", "--prompt", "Once upon a time"]
    first = on_devices(*generate)
    expect(first.returncode == 0 and first.stdout.strip(), first.stderr)
    expect(lines_of(first.stderr) == [], first.stderr)
    again = on_devices(*generate, "--strategy", STRATEGIES[1])
    expect(again.stdout == first.stdout, f"{STRATEGIES[1]} decodes another text: {again.stdout}\n{again.stderr}")

    # What can't be done, or ends amid the work, is a line, and ends every rank.
    for environment, device, words in (({"DRAFTSCOPE_EMULATED_DEVICES": "1"}, "cuda", "rank 1: cuda backend: "),
                                       ({"DRAFTSCOPE_EMULATED_MEMORY": "100000000"}, "cuda", "of device memory"),
                                       ({"DRAFTSCOPE_EMULATED_FAIL": "cudaGraphLaunch:2"}, "cuda", "injected failure"),
                                       ({}, "cuda:7", "cuda backend: ")):
        refused = on_devices(*["cuda:7" if part == "cuda" and device == "cuda:7" else part for part in generate], **environment)
        expect(refused.returncode != 0, f"{environment} {device} ended well")
        lines = lines_of(refused.stderr)
        expect(lines and any(words in line for line in lines), refused.stderr)

    with tempfile.TemporaryDirectory(prefix="draftscope-devices-") as name:
        trace = Path(name) / "run.dstrace"
        prompts = first_prompts(source, Path(name), 1, "demo")
        done = on_devices(program, "record", *settings, "--prompts", prompts, "--max-tokens", "6", "--repeats", "1",
                          *options_of(STRATEGIES), "--output", trace)
        expect(done.returncode == 0, done.stdout + done.stderr)
        valid = subprocess.run([program, "inspect", str(trace), "--validate"], capture_output=True, text=True)
        expect(valid.returncode == 0, valid.stdout + valid.stderr)
        connection = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        expect(meta["ranks"] == "2" and "emulated" in meta["processor"], str(meta))
        expect_one_text(told(trace), "two devices")
        lane = connection.execute("""
            SELECT count(*) FROM kernels k JOIN tracks t ON t.id = k.track WHERE t.kind = 'rank' AND t.name = 'rank 1'
            """).fetchone()[0]
        expect(lane > 5, f"rank 1 has {lane} rows of its own")
    print(f"{len(STRATEGIES)} strategies decode one text on two emulated devices; a rank that fails ends the other")


if __name__ == "__main__":
    main()
