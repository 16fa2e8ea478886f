#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records in shards as a real Slurm's array and under a real MPI launcher, and holds what is put together of
them to what one process gives.

    tests/cluster/cluster_test.py DRAFTSCOPE SOURCE     (77 = skipped: what scripts/packages-cluster lists is not there, or nobody is root)

Slurm runs in a folder of its own, with its own keys, ports and files, and is gone afterwards. One task is killed while it
records, and submitted again.
"""
import json
import os
import sys
import tempfile
from pathlib import Path

from recordings import expect, options_of, told
from slurm import NotStarted, Slurm, missing_programs, run, run_or_skip

SHARDS = 3
PROMPTS = 7
STRATEGIES = ("vanilla", "layerskip:exit=7,gamma=4", "prompt-lookup")
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts/cluster"
BATCH, RANKS = SCRIPTS / "shards.sbatch", SCRIPTS / "shards.mpirun"


def killed_once(folder: Path, program: str, shard: str) -> Path:
    """A program that is `program`, but whose first recording of the shard is killed once its file is there."""
    path = folder / "killed-once"
    path.write_text(f"""#!/usr/bin/env bash
case " $* " in
*" --shard {shard} "*) if [ ! -e {folder}/was-killed ]; then
  touch {folder}/was-killed
  {program} "$@" &
  while kill -0 $! 2>/dev/null && ! compgen -G "$(dirname "$0")/scratch/*/*.partial" >/dev/null; do sleep 0.01; done
  kill -9 $!
  wait $!
  exit $?
fi ;;
esac
exec {program} "$@"
""")
    path.chmod(0o755)
    return path


def sources_of(source: Path):
    return "--model", str(source / "models/demo-layerskip"), "--prompts", str(source / "traces/prompts/mixed.jsonl")


def records(program, source: Path, folder: Path, slurm: Slurm, launched: dict):
    settings = ["--quiet", *sources_of(source), "--limit", str(PROMPTS), "--max-tokens", "16", "--repeats", "2", "--threads", "1",
                "--shadow", *options_of(STRATEGIES)]
    whole = run(program, "record", "--output", folder / "whole.dstrace", *settings)
    expect(whole.returncode == 0, whole.stderr)
    expected = told(folder / "whole.dstrace")

    (folder / "scratch").mkdir()
    environment = {"DRAFTSCOPE": str(killed_once(folder, program, f"2/{SHARDS}")), "TMPDIR": str(folder / "scratch")}
    first = slurm.submit(f"--array=1-{SHARDS}", BATCH, "record", "run.dstrace", *settings, **environment)
    expect(first.returncode != 0, "the array ended well, though a task was killed")
    shards = [folder / f"run.{i}-of-{SHARDS}.dstrace" for i in range(1, SHARDS + 1)]
    there = [shard.exists() for shard in shards]
    expect(there == [True, False, True], f"shards that are there: {there}\n{first.stderr}\n{slurm.logs()}")
    refused = run(program, "merge", shards[0], shards[2], "--output", folder / "run.dstrace")
    expect(refused.returncode == 1 and "expected 2/3 too" in refused.stderr, refused.stderr)

    before = shards[0].stat().st_mtime_ns
    again = slurm.submit("--array=1-2", BATCH, "record", "run.dstrace", *settings, SHARDS=str(SHARDS), **environment)
    expect(again.returncode == 0, again.stderr + slurm.logs())
    expect(shards[0].stat().st_mtime_ns == before, "a shard that was there was recorded again")
    merged = run(program, "merge", *shards, "--output", folder / "run.dstrace")
    expect(merged.returncode == 0, merged.stderr)
    expect(told(folder / "run.dstrace") == expected, "Slurm's shards tell something else than one process")
    valid = run(program, "inspect", folder / "run.dstrace", "--validate")
    expect(valid.returncode == 0, valid.stdout + valid.stderr)

    ranks = run(RANKS, "2", "record", folder / "ranks.dstrace", *settings, env=launched)
    expect(ranks.returncode == 0, ranks.stdout + ranks.stderr)
    expect(told(folder / "ranks.dstrace") == expected, "MPI's shards tell something else than one process")
    return f"{len(expected)} rounds"


def main():
    program, source = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    if missing := missing_programs("mpirun"):
        raise NotStarted(missing)
    launcher = "mpirun --allow-run-as-root --oversubscribe"
    if run(*launcher.split(), "-n", "2", "true").returncode != 0:
        raise NotStarted("mpirun does not start two processes on this machine")
    launched = {**os.environ, "MPIRUN": launcher, "DRAFTSCOPE": program}
    with tempfile.TemporaryDirectory(prefix="draftscope-cluster-") as name, Slurm(Path(name)) as slurm:
        folder = Path(name)
        done = records(program, source, folder, slurm, launched)
    print(f"{done} are the same from one process, {SHARDS} Slurm tasks and 2 MPI ranks")


if __name__ == "__main__":
    run_or_skip(main)
