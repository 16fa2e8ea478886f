#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shares a model among two ranks that a real Slurm's srun starts, holds what they tell to mpirun's, and kills and stops one.

    tests/cluster/srun_test.py DRAFTSCOPE SOURCE     (77 = skipped: what scripts/packages-cluster lists is not there, nobody is root,
                                                      or Slurm's MPI plugins have no PMIx)
"""
import os
import signal
import sys
import tempfile
from pathlib import Path

from rank_job import LAUNCHER, STRATEGIES, RecordingJob, lines_of, skip_without_mpi
from recordings import expect, first_prompts, options_of, told
from slurm import NotStarted, Slurm, missing_programs, run, run_or_skip

SRUN = ("srun", "--mpi=pmix", "--overcommit", "--kill-on-bad-exit")


def main():
    program, source = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    if missing := missing_programs():
        raise NotStarted(missing)
    skip_without_mpi(program)
    model = source / "models/demo-layerskip"
    with tempfile.TemporaryDirectory(prefix="draftscope-srun-") as name, Slurm(Path(name)) as slurm:
        if "pmix" not in (listed := run("srun", "--mpi=list", env=slurm.environment)).stdout + listed.stderr:
            raise NotStarted("this Slurm has no PMIx, by which Open MPI's ranks find each other")
        folder = slurm.folder
        # Ranks that share a processor must let each other have it; mpirun sees to that by itself.
        slurm.environment["OMPI_MCA_mpi_yield_when_idle"] = "1"
        settings = ["record", "--quiet", "--tensor-parallel", "2", "--model", model, "--prompts", first_prompts(source, folder, 2),
                    "--max-tokens", "8", "--repeats", "1", "--threads", "1", "--level", "phases", *options_of(STRATEGIES[:2])]
        rows = []
        for launcher in (SRUN, LAUNCHER):
            trace = folder / f"{launcher[0]}.dstrace"
            done = run(*launcher, "-n", "2", program, *settings, "--output", trace, env=slurm.environment, timeout=300)
            expect(done.returncode == 0, done.stdout + done.stderr)
            rows.append(told(trace))
        expect(rows[0] == rows[1], "srun's ranks tell something else than mpirun's")
        refused = run(*SRUN, "-n", "2", program, *settings[:2], "--tensor-parallel", "3", *settings[4:], "--output", folder / "none.dstrace",
                      env=slurm.environment, timeout=120)
        expect(refused.returncode != 0 and "found a job of size 2, expected 3" in refused.stderr, refused.stderr)
        for rank in (0, 1):
            for number, words in ((signal.SIGKILL, ""), (signal.SIGSTOP, f"rank {rank}: found no sign of life")):
                with RecordingJob(SRUN, program, model, folder, f"{number.name}-{rank}", env=slurm.environment) as job:
                    os.kill(job.ranks[rank], number)
                    job.expect_end(f"rank {rank} got {number.name}")
                    lines = lines_of(job.text())
                    expect(not words or (len(lines) == 1 and words in lines[0]), job.text())
    print(f"{len(rows[0])} rounds are the same from srun's ranks and mpirun's; a rank that is killed or stopped ends the other")


if __name__ == "__main__":
    run_or_skip(main)
