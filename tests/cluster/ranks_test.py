#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shares a model among the processes of a real MPI job: what they decode and record, and how they end.

    tests/cluster/ranks_test.py DRAFTSCOPE SOURCE     (77 = skipped: no mpirun, or a build without MPI)
"""
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

from rank_job import LAUNCHER, STRATEGIES, RecordingJob, lines_of, mpirun, skip_without_mpi
from recordings import expect, expect_one_text, first_prompts, options_of, told


def check_killed_rank(program, model, folder, rank):
    with RecordingJob(LAUNCHER, program, model, folder, f"killed-{rank}") as job:
        os.kill(job.ranks[rank], signal.SIGKILL)
        job.expect_end(f"rank {rank} was killed")


def main():
    program, source = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    skip_without_mpi(program)
    model, draft = source / "models/demo-layerskip", source / "models/demo-draft"
    generate = [program, "generate", "--quiet", "--threads", "1", "--max-tokens", "24", "--prompt", "def read_file(path):"]
    shared = [*generate, "--tensor-parallel", "2", "--model", model]
    first = mpirun(2, *shared)
    expect(first.returncode == 0 and first.stdout.strip(), first.stderr)
    expect(lines_of(first.stderr) == [], first.stderr)
    for strategy in STRATEGIES:
        again = mpirun(2, *shared, "--strategy", strategy)
        expect(again.stdout == first.stdout, f"{strategy} decodes another text: {again.stdout}\n{again.stderr}")

    # What can't be done is one line, of rank 0 alone, and ends every rank.
    for ranks, command, words in (
            (3, [*generate, "--tensor-parallel", "2", "--model", model], "found a job of size 3, expected 2"),
            (4, [*generate, "--tensor-parallel", "4", "--model", model], "n_kv_heads is 2, expected a multiple of 4 ranks"),
            (2, [*shared, "--strategy", "layerskip:exit=99"], "exit"),
            (2, [*generate, "--tensor-parallel", "2", "--model", source / "absent"], "absent")):
        refused = mpirun(ranks, *command)
        expect(refused.returncode != 0, f"{command} ended well")
        lines = set(lines_of(refused.stderr))
        expect(len(lines) == 1 and words in lines.pop(), refused.stderr)
    differ = subprocess.run([*LAUNCHER, "-n", "1", *map(str, shared), ":", "-n", "1", *map(str, generate), "--tensor-parallel", "2",
                             "--model", draft], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    expect(differ.returncode != 0, "two models were decoded as one")
    expect("rank 1: found model" in differ.stderr and len(lines_of(differ.stderr)) == 1, differ.stderr)

    with tempfile.TemporaryDirectory(prefix="draftscope-ranks-") as name:
        folder = Path(name)
        settings = ["--quiet", "--tensor-parallel", "2", "--model", model, "--prompts", first_prompts(source, folder, 3), "--max-tokens",
                    "16", "--repeats", "1", "--threads", "1", "--level", "ops", *options_of(STRATEGIES)]
        recordings = [folder / f"{i}.dstrace" for i in range(2)]
        for recording in recordings:
            done = mpirun(2, program, "record", *settings, "--output", recording)
            expect(done.returncode == 0, done.stdout + done.stderr)
        expect(told(recordings[0]) == told(recordings[1]), "two recordings tell different things")
        expect_one_text(told(recordings[0]), "two ranks")
        valid = subprocess.run([program, "inspect", str(recordings[0]), "--validate"], capture_output=True, text=True)
        expect(valid.returncode == 0, valid.stdout + valid.stderr)
        connection = sqlite3.connect(f"file:{recordings[0]}?mode=ro", uri=True)
        expect(connection.execute("SELECT value FROM meta WHERE key = 'ranks'").fetchone() == ("2",), "meta.ranks")
        # Every product of a layer that rank 0 timed, rank 1 timed within the same span of rank 0.
        counts = connection.execute("""
            SELECT (SELECT count(*) FROM spans s JOIN strings n ON n.id = s.name WHERE n.text = 'all-reduce'),
                   (SELECT count(*) FROM kernels k JOIN strings n ON n.id = k.short_name JOIN tracks t ON t.id = k.track
                    WHERE n.text = 'all-reduce' AND t.kind = 'rank' AND t.name = 'rank 1'),
                   (SELECT count(*) FROM kernels k JOIN spans s ON s.id = k.span
                    WHERE k.start_ns < s.start_ns OR k.request IS NOT s.request OR k.round IS NOT s.round)""").fetchone()
        expect(counts[0] > 100 and counts[0] == counts[1] and counts[2] == 0, f"all-reduces of rank 0, of rank 1, misplaced: {counts}")
        for rank in (0, 1):
            check_killed_rank(program, model, folder, rank)
    print(f"{len(STRATEGIES)} strategies decode one text on two ranks; a killed rank ends the other")


if __name__ == "__main__":
    main()
