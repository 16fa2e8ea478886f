# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes goldens/ with the package gguf (0.19; the tests read what it writes, and compare with what it computes).

    python make_goldens.py          (needs gguf, numpy)

blocks.gguf has a tensor of every readable type, of random bytes; blocks.f32 has their weights by gguf.quants, fp32,
one tensor after the other. NAME.gguf is the checkpoint tests/engine/cpu/goldens/NAME.
"""
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as Type, GGUFWriter
from gguf.quants import dequantize

from write_gguf import write

HERE = Path(__file__).resolve().parent
GOLDENS = HERE / "goldens"
WEIGHTS = 512
TYPES = [Type.F32, Type.F16, Type.BF16, Type.Q8_0, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q4_K, Type.Q5_K,
         Type.Q6_K, Type.IQ4_NL, Type.IQ4_XS, Type.MXFP4, Type.NVFP4, Type.Q2_K, Type.Q3_K]
# Where a block holds fp16 numbers: everything else may be any bytes.
HALVES = {Type.Q8_0: [0], Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q4_K: [0, 2],
          Type.Q5_K: [0, 2], Type.Q6_K: [208], Type.IQ4_NL: [0], Type.IQ4_XS: [0], Type.MXFP4: [],
          Type.NVFP4: [], Type.Q2_K: [80, 82], Type.Q3_K: [108]}


def finite_halves(random, shape):
    """Any finite fp16 number: large, small, subnormal, zeros of both signs."""
    bits = random.integers(0, 1 << 16, shape, dtype=np.uint16)
    return np.where(bits & 0x7C00 == 0x7C00, bits & 0x83FF, bits).astype(np.uint16)


def random_tensor(kind, random):
    if kind == Type.F32:
        return random.standard_normal((2, WEIGHTS // 2), np.float32)
    if kind == Type.F16:
        return finite_halves(random, (2, WEIGHTS // 2)).view(np.float16)
    if kind == Type.BF16:
        return random.standard_normal((2, WEIGHTS // 2), np.float32).view(np.uint32).__rshift__(16).astype(np.uint16).view(np.uint8)
    weights, size = GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (WEIGHTS // weights, size), dtype=np.uint8)
    for offset in HALVES[kind]:
        blocks[:, offset:offset + 2] = finite_halves(random, (len(blocks), 1)).view(np.uint8)
    if kind == Type.MXFP4:
        blocks[:, 0] %= 250  # beyond, 12 · 2^(e − 128) is infinite
        blocks[:3, 0] = [0, 1, 2]
    return blocks.reshape(2, -1)


def blocks():
    random = np.random.default_rng(20261123)
    writer = GGUFWriter(GOLDENS / "blocks.gguf", "blocks")
    expected = []
    for kind in TYPES:
        tensor = random_tensor(kind, random)
        writer.add_tensor(kind.name, tensor, raw_dtype=kind)
        expected.append(dequantize(tensor, kind).astype(np.float32).reshape(-1))
        assert expected[-1].size == WEIGHTS, kind
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    (GOLDENS / "blocks.f32").write_bytes(np.concatenate(expected).astype("<f4").tobytes())


if __name__ == "__main__":
    GOLDENS.mkdir(exist_ok=True)
    blocks()
    for name in ["llama-bf16", "llama-fp16", "tied-bias", "qwen2", "rope-llama3", "qwen3", "olmo2", "granite", "smollm3",
                 "phi3-short", "phi3-blocks", "gemma2", "gemma3", "exaone4", "hunyuan", "arcee",
                 "apertus", "ministral3"]:
        write(HERE.parents[1] / "cpu/goldens" / name, GOLDENS / f"{name}.gguf",
              Type.Q8_0 if name == "phi3-blocks" else None)
