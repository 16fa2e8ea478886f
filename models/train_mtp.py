# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a next-token layer (MTP) for a demo model, whose own weights stay as they are, on a CPU.

    python train_mtp.py --model demo-plain --corpus corpus --out demo-mtp --steps 1000

The layer has MiMo-7B's form (arXiv 2505.07608): it joins the model's last state at i with the token at i + 1, and
predicts the token at i + 2 with the model's own embedding and head. Its targets are the model's own probabilities, since
they decide what a verification accepts. A second step goes on from the layer's own state, as a longer draft does. The folder
gets the layer, and links to the model's files.
"""
import argparse
import csv
import json
import os
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import nn

from data import KINDS, batches, token_stream, windows
from llama import Layer, Llama, Shape, rms_norm

TOKENS_PER_STEP = 2048
CONTEXT = 256
PEAK_RATE = 3e-3
WARMUP_STEPS = 50
STEADY = 0.5          # share of the steps at the full learning rate
SECOND_STEP = 0.5     # weight of the second step's loss
PREFIX = "model.mtp_layers.0."
MODEL_FILE, LAYER_FILE = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"


class NextTokenLayer(nn.Module):
    def __init__(self, target: Llama):
        super().__init__()
        self.target = [target]  # a list, so that the target's weights are no parameters of this module
        width = target.shape.hidden_size
        self.token_norm = nn.Parameter(torch.ones(width))
        self.state_norm = nn.Parameter(torch.ones(width))
        self.projection = nn.Linear(2 * width, width, bias=False)
        self.layer = Layer(target.shape)
        self.norm = nn.Parameter(target.norm.detach().clone())
        # It begins as the target's last layer on half the state and half the token.
        self.layer.load_state_dict(target.layers[-1].state_dict())
        with torch.no_grad():
            eye = torch.eye(width)
            self.projection.weight.copy_(torch.cat((eye, 0.1 * eye), dim=1))

    def forward(self, normed_states, tokens):
        """[batch][positions][width] normalised states and the next tokens → the layer's normalised states."""
        target, eps = self.target[0], self.target[0].shape.rms_norm_eps
        joined = torch.cat((rms_norm(normed_states, self.state_norm, eps),
                            rms_norm(target.embedding(tokens).to(normed_states.dtype), self.token_norm, eps)), dim=-1)
        positions = tokens.shape[1]
        x = self.projection(joined)
        x = self.layer(x, target.cosine[:positions].to(x.dtype), target.sine[:positions].to(x.dtype))
        return rms_norm(x, self.norm, eps)

    def tensors(self):
        layer = {name.replace("model.layers.0.", PREFIX): tensor for name, tensor in self.layer.tensors(0).items()}
        return layer | {PREFIX + "token_layernorm.weight": self.token_norm, PREFIX + "hidden_layernorm.weight": self.state_norm,
                        PREFIX + "input_proj.weight": self.projection.weight, PREFIX + "final_layernorm.weight": self.norm}


def losses_and_hits(layer: NextTokenLayer, rows):
    """Cross entropy to the target's probabilities, and how often the best tokens agree, for the first and second step."""
    target = layer.target[0]
    head = target.embedding.weight
    with torch.no_grad():
        states = rms_norm(target.hidden_states(rows)[-1], target.norm, target.shape.rms_norm_eps)
        logits = F.linear(states, head).float()
    losses, hits = [], []
    own = states
    for step in (1, 2):
        # Row i holds the state at i and the token at i + step; it is judged at i + step.
        own = layer(own[:, :-1], rows[:, step:])
        found = F.linear(own, head).float()
        wanted = logits[:, step:]
        losses.append(F.cross_entropy(found.flatten(0, 1), wanted.softmax(-1).flatten(0, 1)))
        hits.append((found.argmax(-1) == wanted.argmax(-1)).float().mean())
    return losses, hits


def save(layer: NextTokenLayer, model: Path, folder: Path):
    """The folder of model and layer; the model's files are links."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.detach().to(torch.bfloat16).contiguous() for name, tensor in layer.tensors().items()},
              folder / LAYER_FILE, metadata={"format": "pt"})
    links = {path.name: path.name for path in model.iterdir() if path.suffix == ".json"} | {MODEL_FILE: "model.safetensors"}
    for link, name in links.items():
        (folder / link).unlink(missing_ok=True)
        (folder / link).symlink_to(os.path.relpath(model / name, folder))
    with safe_open(model / "model.safetensors", "pt") as tensors:
        places = {name: MODEL_FILE for name in tensors.keys()}
    places |= {name: LAYER_FILE for name in layer.tensors()}
    size = sum((folder / name).stat().st_size for name in (MODEL_FILE, LAYER_FILE))
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {"total_size": size}, "weight_map": places}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--curve", type=Path, help="CSV of losses and agreement")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1)
    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    bos = tokenizer.token_to_id("<|begin_of_text|>")
    streams = {kind: token_stream(arguments.corpus, "train", kind, tokenizer) for kind in KINDS}
    held_out = {kind: torch.from_numpy(windows(token_stream(arguments.corpus, "heldout", kind, tokenizer), CONTEXT,
                                               bos)[:16].astype("int64")) for kind in KINDS}
    target = Llama(Shape())
    target.load_checkpoint(arguments.model)
    target.requires_grad_(False)
    layer = NextTokenLayer(target)
    optimizer = torch.optim.AdamW(layer.parameters(), betas=(0.9, 0.95), weight_decay=0.05, fused=True)
    source = batches(streams, CONTEXT, TOKENS_PER_STEP // CONTEXT, bos, 7)
    curve = open(arguments.curve, "w", buffering=1, newline="") if arguments.curve else None
    begun = time.time()
    for step in range(1, arguments.steps + 1):
        rate = PEAK_RATE * min(1.0, step / WARMUP_STEPS, (arguments.steps - step) / (arguments.steps * (1 - STEADY)))
        losses, hits = losses_and_hits(layer, next(source))
        (losses[0] + SECOND_STEP * losses[1]).backward()
        torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()
        if step % 25 == 0 or step == arguments.steps:
            line = [step, round(time.time() - begun, 1), *(round(x.item(), 4) for x in (*losses, *hits))]
            print(*line, flush=True)
            if curve:
                csv.writer(curve).writerow(line)
        if step % 100 == 0:
            save(layer, arguments.model, arguments.out)
    save(layer, arguments.model, arguments.out)
    with torch.no_grad():
        for kind, rows in held_out.items():
            _, hits = losses_and_hits(layer, rows)
            print(f"{kind}: agrees with the model on {hits[0]:.3f} of held-out tokens, in the second step on {hits[1]:.3f}")


if __name__ == "__main__":
    main()
