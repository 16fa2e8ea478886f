# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipe of engine/checkpoint/synthetic_fill.h once more, in numpy: prints a 64-bit FNV-1a over the bits of
every tensor of the shapes in synthetic_test.cpp, as synthetic_golden.csv holds them. Run: python
synthetic_golden.py > synthetic_golden.csv"""
import math

import numpy as np

M64 = (1 << 64) - 1
KINDS = ["attention_norm", "q", "k", "v", "o", "mlp_norm", "gate", "up", "down", "q_bias", "k_bias", "v_bias",
         "o_bias", "gate_bias", "up_bias", "down_bias", "embedding", "final_norm", "head", "q_norm", "k_norm",
         "attention_output_norm", "mlp_output_norm"]


def key_of(seed, layer, kind):
    z = (seed + 0x9E3779B97F4A7C15 * (32 * (layer + 1) + KINDS.index(kind) + 1)) & M64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & M64
    return z ^ z >> 31


def bits_of(key, elements):
    e = np.arange(elements, dtype=np.uint64)
    low, high = (e & 0xFFFFFFFF).astype(np.uint32), (e >> np.uint64(32)).astype(np.uint32)
    x = low ^ np.uint32(key & 0xFFFFFFFF)
    x = (x ^ (x >> 16)) * np.uint32(0x7FEB352D)
    x ^= x >> 15
    x = (x + np.uint32(key >> 32) + high * np.uint32(0x9E3779B9)) * np.uint32(0x846CA68B)
    return x ^ (x >> 16)


def bf16(values):
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def tensor(seed, r, layer, kind, elements, shape):
    d, q, f, tied = shape["d"], shape["heads"] * shape["head_dim"], shape["ff"], shape["tied"]
    gemma = shape.get("gemma", False)
    embedding = 1 / math.sqrt(d) if gemma else 1.0
    scores = math.sqrt(1 / (0.3 * math.sqrt(shape["head_dim"]))) if gemma else 1.0
    logits = 0.5 if gemma else 1.0
    x = bits_of(key_of(seed, layer, kind), elements)
    if kind.endswith("norm"):
        scale = {"final_norm": (4 / math.sqrt(d) / embedding if tied else 4.0) / logits, "q_norm": 2 * scores,
                 "k_norm": 2 * scores, "attention_output_norm": 1 - r, "mlp_output_norm": 1 - r}.get(kind, 1.0)
        signs = np.where((x & 1) != 0, -1, 1) if kind == "final_norm" else np.ones(elements)
        return bf16(signs.astype(np.float32) * np.float32(scale) - np.float32(1 if gemma else 0))
    sigma = {"embedding": embedding, "q": 2 / math.sqrt(d) * scores, "k": 2 / math.sqrt(d) * scores,
             "o": (1 - r) / math.sqrt(q),
             "down": (1 - r) / math.sqrt(f), "o_bias": (1 - r) / 8, "down_bias": (1 - r) / 8}.get(
                 kind, 1 / 8 if kind.endswith("bias") else 1 / math.sqrt(d))
    total = sum(((x >> shift) & 0xFF).astype(np.int32) for shift in (0, 8, 16, 24))
    return bf16((total - 510).astype(np.float32) * np.float32(sigma / math.sqrt(21845)))


def fnv(values):
    digest = 0xCBF29CE484222325
    for byte in values.tobytes():
        digest = ((digest ^ byte) * 0x100000001B3) & M64
    return digest


def layer_tensors(s):
    q, kv = s["heads"] * s["head_dim"], s["kv_heads"] * s["head_dim"]
    d, f = s["d"], s["ff"]
    sizes = {"attention_norm": d, "q": q * d, "k": kv * d, "v": kv * d, "o": d * q, "mlp_norm": d, "gate": f * d,
             "up": f * d, "down": d * f}
    if s.get("gemma", False):
        sizes |= {"q_norm": s["head_dim"], "k_norm": s["head_dim"], "attention_output_norm": d, "mlp_output_norm": d}
    if s["biased"]:
        sizes |= {"q_bias": q, "k_bias": kv, "v_bias": kv, "o_bias": d, "gate_bias": f, "up_bias": f, "down_bias": d}
    return sizes


SHAPES = {
    "tied": dict(layers=2, d=16, heads=2, kv_heads=1, head_dim=8, ff=24, vocab=50, tied=True, biased=False),
    "gemma": dict(layers=2, d=20, heads=4, kv_heads=2, head_dim=8, ff=28, vocab=31, tied=True, biased=False, gemma=True),
    "biased": dict(layers=3, d=24, heads=3, kv_heads=3, head_dim=6, ff=40, vocab=33, tied=False, biased=True),
}
RUNS = [("tied", 1, 0.0), ("tied", 3, 0.75), ("biased", 0xDEADBEEFCAFEF00D, 0.2),
        ("gemma", 5, 0.25)]

print("shape,seed,redundancy,layer,kind,fnv1a")
for name, seed, redundancy in RUNS:
    s = SHAPES[name]
    wanted = [(-1, "embedding", s["vocab"] * s["d"]), (-1, "final_norm", s["d"])]
    if not s["tied"]:
        wanted.append((-1, "head", s["vocab"] * s["d"]))
    for layer in range(s["layers"]):
        wanted += [(layer, kind, elements) for kind, elements in layer_tensors(s).items()]
    for layer, kind, elements in wanted:
        digest = fnv(tensor(seed, redundancy, layer, kind, elements, s))
        print(f"{name},{seed},{redundancy},{layer},{KINDS.index(kind)},{digest:016x}")
