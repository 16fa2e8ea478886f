#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shares one model among two and among four real MPI ranks: every strategy, every run and both numbers of ranks give one text.

    tests/cluster/four_ranks_test.py DRAFTSCOPE SOURCE     (77 = skipped: no mpirun, or a build without MPI)

The shipped models have two K/V heads. Here models/demo-layerskip has each of them twice, for half as many query heads, which is
the same function: four ranks of it decode what two ranks decode of the shipped one.
"""
import json
import shutil
import struct
import sys
import tempfile
from pathlib import Path

from rank_job import STRATEGIES, mpirun, skip_without_mpi
from recordings import expect, expect_one_text, first_prompts, options_of, told


def with_more_kv_heads(model, folder, times):
    """The model with each K/V head `times` times."""
    shutil.copytree(model, folder)
    config = json.loads((folder / "config.json").read_text())
    head_dim, heads = config["head_dim"], config["num_key_value_heads"]
    config["num_key_value_heads"] = heads * times
    (folder / "config.json").write_text(json.dumps(config))
    data = (model / "model.safetensors").read_bytes()
    length = struct.unpack_from("<Q", data)[0]
    header, begin = json.loads(data[8:8 + length]), 8 + length
    parts, at = [], 0
    for name, tensor in header.items():
        if name == "__metadata__":
            continue
        first, last = (begin + offset for offset in tensor["data_offsets"])
        part = data[first:last]
        if name.endswith((".k_proj.weight", ".v_proj.weight")):
            head_bytes = len(part) // heads
            expect(tensor["shape"][0] == heads * head_dim, f"{name} has {tensor['shape']}")
            part = b"".join(part[head * head_bytes:(head + 1) * head_bytes] * times for head in range(heads))
            tensor["shape"][0] *= times
        tensor["data_offsets"] = [at, at + len(part)]
        at += len(part)
        parts.append(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))
    return folder


def main():
    program, source = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    skip_without_mpi(program)
    shipped = source / "models/demo-layerskip"
    with tempfile.TemporaryDirectory(prefix="draftscope-four-ranks-") as name:
        folder = Path(name)
        model = with_more_kv_heads(shipped, folder / "four-kv-heads", 2)
        settings = ["--quiet", "--prompts", first_prompts(source, folder, 1), "--max-tokens", "12", "--repeats", "1", "--threads", "1",
                    "--level", "phases", *options_of(STRATEGIES)]

        def recorded(ranks, path, label):
            trace = folder / f"{label}.dstrace"
            done = mpirun(ranks, program, "record", *settings, "--tensor-parallel", ranks, "--model", path, "--output", trace)
            expect(done.returncode == 0, done.stdout + done.stderr)
            rows = told(trace)
            expect_one_text(rows, label)
            return rows

        two = recorded(2, shipped, "two")
        first, again = (recorded(4, model, f"four-{i}") for i in range(2))
        expect(first == again, "two runs of four ranks differ")
        expect(first == two, "four ranks decode another text than two")
        drafted = sum(row[5] for row in first)
        accepted = sum(row[6] for row in first)
        expect(accepted > 5 and drafted - accepted > 5, f"{accepted} of {drafted} drafts were accepted: equality says little")
    print(f"{len(first)} rounds of {len(STRATEGIES)} strategies are the same on two and on four ranks")


if __name__ == "__main__":
    main()
