#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shares a model among emulated GPUs, a process of a real MPI job each: what they decode and record, and how they end.

    tests/cluster/devices_test.py DRAFTSCOPE_EMULATED SOURCE     (77 = skipped: no mpirun, or a build without MPI)
"""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
STRATEGIES = ("vanilla", "layerskip:exit=1,gamma=2")


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def mpirun(ranks, *command, **environment):
    return subprocess.run([*LAUNCHER, "-n", str(ranks), *map(str, command)], capture_output=True, text=True, timeout=600,
                          stdin=subprocess.DEVNULL, env={**os.environ, "DRAFTSCOPE_EMULATED_DEVICES": "2", **environment})


def lines_of(stderr):
    """Those of draftscope."""
    return [line for line in stderr.splitlines() if line.startswith("draftscope")]


def main():
    program, source = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    if shutil.which("mpirun") is None or mpirun(2, "true").returncode != 0:
        print("skipped: mpirun does not start two processes on this machine")
        sys.exit(SKIPPED)
    model = source / "models/demo-draft"
    settings = ["--model", model, "--device", "cuda", "--context", "128", "--tensor-parallel", "2", "--quiet"]
    generate = [program, "generate", *settings, "--max-tokens", "6", "--prompt", "Once upon a time"]
    first = mpirun(2, *generate)
    if "build without MPI" in first.stderr:
        print("skipped: " + first.stderr.strip())
        sys.exit(SKIPPED)
    expect(first.returncode == 0 and first.stdout.strip(), first.stderr)
    expect(lines_of(first.stderr) == [], first.stderr)
    again = mpirun(2, *generate, "--strategy", STRATEGIES[1])
    expect(again.stdout == first.stdout, f"{STRATEGIES[1]} decodes another text: {again.stdout}\n{again.stderr}")

    # What can't be done, or ends amid the work, is a line, and ends every rank.
    for environment, device, words in (({"DRAFTSCOPE_EMULATED_DEVICES": "1"}, "cuda", "rank 1: cuda backend: "),
                                       ({"DRAFTSCOPE_EMULATED_MEMORY": "100000000"}, "cuda", "of device memory"),
                                       ({"DRAFTSCOPE_EMULATED_FAIL": "cudaGraphLaunch:2"}, "cuda", "injected failure"),
                                       ({}, "cuda:7", "cuda backend: ")):
        refused = mpirun(2, *["cuda:7" if part == "cuda" and device == "cuda:7" else part for part in generate], **environment)
        expect(refused.returncode != 0, f"{environment} {device} ended well")
        lines = lines_of(refused.stderr)
        expect(lines and any(words in line for line in lines), refused.stderr)

    with tempfile.TemporaryDirectory(prefix="draftscope-devices-") as name:
        trace = Path(name) / "run.dstrace"
        prompts = Path(name) / "prompts.jsonl"
        prompts.write_text((source / "traces/prompts/demo.jsonl").read_text().splitlines()[0] + "\n")
        done = mpirun(2, program, "record", *settings, "--prompts", prompts, "--max-tokens", "6", "--repeats", "1",
                      *(part for strategy in STRATEGIES for part in ("--strategy", strategy)), "--output", trace)
        expect(done.returncode == 0, done.stdout + done.stderr)
        valid = subprocess.run([program, "inspect", str(trace), "--validate"], capture_output=True, text=True)
        expect(valid.returncode == 0, valid.stdout + valid.stderr)
        connection = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
        meta = dict(connection.execute("SELECT key, value FROM meta"))
        expect(meta["ranks"] == "2" and "emulated" in meta["processor"], str(meta))
        texts = connection.execute("SELECT DISTINCT text FROM requests").fetchall()
        expect(len(texts) == 1, f"strategies decode different texts: {texts}")
        lane = connection.execute("""
            SELECT count(*) FROM kernels k JOIN tracks t ON t.id = k.track WHERE t.kind = 'rank' AND t.name = 'rank 1'
            """).fetchone()[0]
        expect(lane > 5, f"rank 1 has {lane} rows of its own")
    print(f"{len(STRATEGIES)} strategies decode one text on two emulated devices; a rank that fails ends the other")


if __name__ == "__main__":
    main()
