#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shares a model among the processes of a real MPI job: what they decode and record, and how they end.

    tests/cluster/ranks_test.py DRAFTSCOPE SOURCE     (77 = skipped: no mpirun, or a build without MPI)
"""
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED = 77
END_SECONDS = 10
LAUNCHER = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]
STRATEGIES = ("vanilla", "layerskip:exit=7,gamma=4,verify=above-exit", "mix:mask=exit,exit=5,shape=tree", "prompt-lookup")


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def mpirun(ranks, *command, **options):
    return subprocess.run([*LAUNCHER, "-n", str(ranks), *map(str, command)], capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL, **options)


def lines_of(stderr):
    """Those of draftscope."""
    return [line for line in stderr.splitlines() if line.startswith("draftscope:")]


def told(trace):
    connection = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
    return connection.execute("""
        SELECT ru.specification, p.question_id, q.repeat, q.text, r."index", r.drafted, r.accepted, r.emitted
        FROM rounds r JOIN requests q ON q.id = r.request JOIN runs ru ON ru.id = q.run JOIN prompts p ON p.id = q.prompt
        ORDER BY 1, 2, 3, 5""").fetchall()


def children(pid):
    return [int(child) for task in Path(f"/proc/{pid}/task").glob("*/children") for child in task.read_text().split()]


def started_ranks(job):
    """Ids of the job's processes once both are in their work, by rank."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        ranks = {}
        for pid in children(job.pid):
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            for entry in environment:
                if entry.startswith(b"OMPI_COMM_WORLD_RANK="):
                    ranks[int(entry.split(b"=")[1])] = pid
        if len(ranks) == 2:
            return ranks
        time.sleep(0.05)
    raise AssertionError("two ranks did not start within a minute")


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def check_killed_rank(program, model, folder, rank):
    log = folder / f"killed-{rank}.log"
    partial = folder / f"killed-{rank}.dstrace"
    with open(log, "w") as output:
        job = subprocess.Popen([*LAUNCHER, "-n", "2", program, "record", "--tensor-parallel", "2", "--model", model, "--prompts",
                                folder / "prompts.jsonl", "--repeats", "1000", "--max-tokens", "64", "--threads", "1", "--strategy",
                                "vanilla", "--output", partial], stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        try:
            ranks = started_ranks(job)
            until = time.monotonic() + 60
            while not partial.exists() and time.monotonic() < until:
                time.sleep(0.05)
            expect(partial.exists(), "nothing was recorded: " + log.read_text())
            time.sleep(0.5)  # it decodes
            os.kill(ranks[rank], signal.SIGKILL)
            try:
                code = job.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                raise AssertionError(f"rank {rank} was killed and the job still ran after {END_SECONDS} s: {log.read_text()}")
            expect(code != 0, f"rank {rank} was killed and the job ended well")
            # The launcher may be gone before the last of what it killed is.
            until = time.monotonic() + END_SECONDS
            while any(is_alive(pid) for pid in ranks.values()):
                expect(time.monotonic() < until, f"rank {rank} was killed and one of {sorted(ranks.values())} is left")
                time.sleep(0.05)
        finally:
            if job.poll() is None:
                job.kill()
                job.wait()


def main():
    program, source = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    if shutil.which("mpirun") is None or mpirun(2, "true").returncode != 0:
        print("skipped: mpirun does not start two processes on this machine")
        sys.exit(SKIPPED)
    model, draft = source / "models/demo-layerskip", source / "models/demo-draft"
    generate = [program, "generate", "--quiet", "--threads", "1", "--max-tokens", "24", "--prompt", "def read_file(path):"]
    shared = [*generate, "--tensor-parallel", "2", "--model", model]
    first = mpirun(2, *shared)
    if "build without MPI" in first.stderr:
        print("skipped: " + first.stderr.strip())
        sys.exit(SKIPPED)
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
        prompts = (source / "traces/prompts/mixed.jsonl").read_text().splitlines()[:3]
        (folder / "prompts.jsonl").write_text("\n".join(prompts) + "\n")
        settings = ["--quiet", "--tensor-parallel", "2", "--model", model, "--prompts", folder / "prompts.jsonl", "--max-tokens", "16",
                    "--repeats", "1", "--threads", "1", "--level", "ops",
                    *(part for strategy in STRATEGIES for part in ("--strategy", strategy))]
        recordings = [folder / f"{i}.dstrace" for i in range(2)]
        for recording in recordings:
            done = mpirun(2, program, "record", *settings, "--output", recording)
            expect(done.returncode == 0, done.stdout + done.stderr)
        expect(told(recordings[0]) and told(recordings[0]) == told(recordings[1]), "two recordings tell different things")
        texts = {}
        for _, question, repeat, text, *_ in told(recordings[0]):
            texts.setdefault((question, repeat), set()).add(text)
        expect(all(len(found) == 1 for found in texts.values()), "strategies decode different texts")
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
