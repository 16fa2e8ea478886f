# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes next_token_golden.json: what a next-token layer predicts, computed by PyTorch in fp32 from the checkpoint's tensors.

    python make_next_token_golden.py ../../../models/demo-mtp > next_token_golden.json

Positions whose two best tokens lie closer than 0.2 are left out: bf16 may order them otherwise.
"""
import json
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file

TOKENS = [4094] + [(17 * i * i + 5 * i + 300) % 4000 for i in range(20)]
PREFIX = "model.mtp_layers.0."
HEADS, KV_HEADS, WIDTH, EPS, THETA = 8, 2, 32, 1e-5, 10000.0


def norm(x, weight):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS) * weight


def turned(x):
    """x: [positions][heads][width]; Hugging Face's halves."""
    positions = x.shape[0]
    frequency = THETA ** (-torch.arange(0, WIDTH, 2).float() / WIDTH)
    angle = torch.outer(torch.arange(positions).float(), frequency)[:, None]
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * angle.cos() - second * angle.sin(), second * angle.cos() + first * angle.sin()), dim=-1)


def layer(x, t, prefix):
    positions = x.shape[0]
    y = norm(x, t[prefix + "input_layernorm.weight"])
    q, k, v = ((y @ t[f"{prefix}self_attn.{name}_proj.weight"].T).view(positions, -1, WIDTH) for name in "qkv")
    q, k = turned(q), turned(k)
    k, v = (one.repeat_interleave(HEADS // KV_HEADS, dim=1) for one in (k, v))
    scores = torch.einsum("qhd,khd->hqk", q, k) / WIDTH ** 0.5
    scores.masked_fill_(~torch.ones(positions, positions, dtype=torch.bool).tril(), float("-inf"))
    mixed = torch.einsum("hqk,khd->qhd", scores.softmax(-1), v).reshape(positions, -1)
    x = x + mixed @ t[prefix + "self_attn.o_proj.weight"].T
    y = norm(x, t[prefix + "post_attention_layernorm.weight"])
    gated = F.silu(y @ t[prefix + "mlp.gate_proj.weight"].T) * (y @ t[prefix + "mlp.up_proj.weight"].T)
    return x + gated @ t[prefix + "mlp.down_proj.weight"].T


def main():
    folder = Path(sys.argv[1])
    t = {name: value.float() for file in sorted(folder.glob("*.safetensors")) for name, value in load_file(file).items()}
    embedding = t["model.embed_tokens.weight"]
    x = embedding[torch.tensor(TOKENS)]
    for index in range(12):
        x = layer(x, t, f"model.layers.{index}.")
    states = norm(x, t["model.norm.weight"])[:-1]
    tokens = embedding[torch.tensor(TOKENS[1:])]
    joined = torch.cat((norm(states, t[PREFIX + "hidden_layernorm.weight"]), norm(tokens, t[PREFIX + "token_layernorm.weight"])), dim=-1)
    out = layer(joined @ t[PREFIX + "input_proj.weight"].T, t, PREFIX)
    logits = norm(out, t[PREFIX + "final_layernorm.weight"]) @ embedding.T
    best = logits.topk(2, dim=-1)
    rows = [{"row": i, "token": int(best.indices[i, 0]), "logit": round(float(best.values[i, 0]), 4)}
            for i in range(len(logits)) if best.values[i, 0] - best.values[i, 1] > 0.2]
    json.dump({"tokens": TOKENS, "rows": rows}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
