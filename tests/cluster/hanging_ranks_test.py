#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets ranks of a real MPI job hang, and rest, and be slow: what hangs ends all, what does not goes on.

    tests/cluster/hanging_ranks_test.py DRAFTSCOPE SOURCE     (77 = skipped: no mpirun, or a build without MPI)
"""
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rank_job import LAUNCHER, Job, RecordingJob, is_alive, lines_of, mpirun, skip_without_mpi, stop_main_thread, wait_until
from recordings import expect, first_prompts


def check_hang(program, model, folder, rank, how, words, *arguments, ranks=2):
    with RecordingJob(LAUNCHER, program, model, folder, f"{words.replace(' ', '-')}-{rank}", *arguments, ranks=ranks) as job:
        how(job.ranks[rank])
        job.expect_end(f"rank {rank} hangs")
        lines = lines_of(job.text())
        expect(len(lines) == 1 and lines[0].startswith(f"draftscope: rank {rank}: found {words}"),
               f"rank {rank} hangs, and the job says {job.text()}")
    kept = subprocess.run([program, "inspect", job.trace], capture_output=True, text=True)
    expect(kept.returncode == 0, f"what was recorded before rank {rank} hung can't be read: {kept.stderr}")


def check_slow_rank(program, model, folder):
    """A rank that gets little of its processor is slow, not dead."""
    with RecordingJob(LAUNCHER, program, model, folder, "slow", "--rank-timeout", "3") as job:
        for _ in range(8):
            os.kill(job.ranks[1], signal.SIGSTOP)
            time.sleep(1)
            os.kill(job.ranks[1], signal.SIGCONT)
            time.sleep(0.02)
        expect(job.process.poll() is None and not lines_of(job.text()), f"a slow rank was ended: {job.text()}")


def check_job_that_was_stopped(program, model, folder):
    with RecordingJob(LAUNCHER, program, model, folder, "stopped", "--rank-timeout", "2") as job:
        for pid in job.ranks.values():
            os.kill(pid, signal.SIGSTOP)
        time.sleep(5)
        for pid in job.ranks.values():
            os.kill(pid, signal.SIGCONT)
        time.sleep(3)
        expect(job.process.poll() is None and not lines_of(job.text()), f"a job that went on was ended: {job.text()}")


def check_user_who_thinks(program, model, expected, folder):
    """Rank 0 waits for its prompt far beyond the limit."""
    arguments = ("generate", "--quiet", "--threads", "1", "--max-tokens", "24", "--tensor-parallel", "2", "--rank-timeout", "1", "--model",
                 model, "--prompt-file", "-")
    with Job(LAUNCHER, program, *arguments, log=folder / "thinks.log", stdin=subprocess.PIPE) as job:
        time.sleep(5)
        expect(all(is_alive(pid) for pid in job.ranks.values()), f"the job did not wait for its prompt: {job.text()}")
        job.process.stdin.write(b"def read_file(path):")
        job.process.stdin.close()
        wait_until(lambda: job.process.poll() is not None, 60, lambda: "the job did not end")
        expect(job.process.returncode == 0 and job.text() == expected, f"expected {expected}, found {job.text()}")


def main():
    program, source = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    skip_without_mpi(program)
    model = source / "models/demo-layerskip"
    with tempfile.TemporaryDirectory(prefix="draftscope-hanging-") as name:
        folder = Path(name)
        first_prompts(source, folder, 3)
        for rank in (0, 1):
            check_hang(program, model, folder, rank, lambda pid: os.kill(pid, signal.SIGSTOP), "no sign of life")
            check_hang(program, model, folder, rank, stop_main_thread, "no work done")
        check_slow_rank(program, model, folder)
        check_job_that_was_stopped(program, model, folder)
        plain = mpirun(2, program, "generate", "--quiet", "--threads", "1", "--max-tokens", "24", "--tensor-parallel", "2", "--model", model,
                       "--prompt", "def read_file(path):", "--rank-timeout", "0")
        expect(plain.returncode == 0, plain.stderr)
        check_user_who_thinks(program, model, plain.stdout, folder)
    print("a rank that was stopped, or whose work was, ends the job; a slow one, a job that was stopped, and a user who thinks do not")


if __name__ == "__main__":
    main()
