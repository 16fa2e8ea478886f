# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains a demo model from scratch on a CPU: plain, with the LayerSkip recipe, or the small draft model.

    python train.py --recipe layerskip --corpus corpus --out demo-layerskip --steps 6000
    python train.py --recipe plain     --corpus corpus --out demo-plain     --steps 6000
    python train.py --recipe draft     --corpus corpus --out demo-draft     --steps 6000

All recipes see the same tokens in the same order, and the two large ones start from the same weights. LayerSkip
(Elhoushi et al., arXiv 2404.16710) adds layer dropout that grows with depth, and a loss at early
exits that share the final norm and the head. The draft is plain and small: what another model drafts
with, in classic speculative decoding.
"""
import argparse
import csv
import math
import os
import time
from datetime import datetime
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

from data import KINDS, batches, token_stream, windows
from layerskip import dropout_rates, exit_weights, rotational_exits
from llama import Llama, Shape, save_checkpoint

TOKENS_PER_STEP = 2048
SHORT, LONG = 256, 512         # context in the steady phase and in the decay phase
STEADY = 0.65                  # share of the steps at the full learning rate
WARMUP_STEPS = 150
PEAK_RATE = 3e-3
WIND_DOWN_SECONDS = 240        # the decay that a deadline forces
MAX_DROPOUT = 0.1              # LayerSkip's p_max
EXIT_SCALE = 1.0               # LayerSkip's e_scale
EXITS_PER_STEP = 2             # the rotational curriculum: each exit gets its turn
SHAPES = {"layerskip": Shape(), "plain": Shape(),
          "draft": Shape(hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4)}


def learning_rate(peak: float, step: int, steps: int, seconds_left: float) -> float:
    """Warm-up, plateau, linear decay to zero; a near deadline brings the decay forward."""
    planned = min(1.0, (steps - step) / (steps * (1 - STEADY)))
    return peak * min(1.0, (step + 1) / WARMUP_STEPS, planned, seconds_left / WIND_DOWN_SECONDS)


@torch.compile(dynamic=False)
def cross_entropy(model, state, targets):
    return F.cross_entropy(model.logits(state).float().flatten(0, 1), targets.flatten())


def plain_loss(model, rows):
    return cross_entropy(model, model.hidden_states(rows[:, :-1])[-1], rows[:, 1:])[None], None


def layerskip_loss(model, rows, kept, exits, weights):
    """Losses of the chosen exits (last: the full model) and their weighted mean."""
    chosen = torch.stack(model.hidden_states(rows[:, :-1], kept))[exits]
    losses = torch.stack([cross_entropy(model, chosen[i], rows[:, 1:]) for i in range(EXITS_PER_STEP + 1)])
    return losses, (losses * weights).sum() / weights.sum()


@torch.no_grad()
def held_out_loss(model, samples):
    model_losses = {}
    for kind, rows in samples.items():
        with torch.autocast(rows.device.type, torch.bfloat16):
            model_losses[kind] = plain_loss(model, rows)[0].item()
    return model_losses


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recipe", choices=list(SHAPES), required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="Hugging Face folder, with tokenizer.json in it")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--continue-from", type=Path, help="folder whose weights a further stage of training starts from")
    parser.add_argument("--peak-rate", type=float, default=PEAK_RATE)
    parser.add_argument("--plan", type=Path, help="file that may hold another number of steps while training runs")
    parser.add_argument("--stop-at", type=datetime.fromisoformat, help="deadline, e.g. 2026-11-21T02:50")
    parser.add_argument("--curve", type=Path, required=True, help="CSV of the loss")
    parser.add_argument("--save-every", type=float, default=300, help="seconds between checkpoints")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    device = torch.device(arguments.device)
    tokenizer = Tokenizer.from_file(str(arguments.out / "tokenizer.json"))
    bos, eos = (tokenizer.token_to_id(t) for t in ("<|begin_of_text|>", "<|end_of_text|>"))
    streams = {kind: token_stream(arguments.corpus, "train", kind, tokenizer) for kind in KINDS}
    samples = {kind: torch.from_numpy(windows(token_stream(arguments.corpus, "heldout", kind, tokenizer),
                                              SHORT, bos)[:16].astype("int64")).to(device) for kind in KINDS}
    model = Llama(SHAPES[arguments.recipe])
    if arguments.continue_from:
        model.load_checkpoint(arguments.continue_from)
    model.to(device)
    layers = model.shape.num_hidden_layers
    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                                  betas=(0.9, 0.95), fused=True)
    # One compiled layer serves all of them, which keeps compilation short.
    for layer in model.layers:
        layer.compile(dynamic=False)
    loss_of = layerskip_loss if arguments.recipe == "layerskip" else plain_loss
    # Layers count from one here, not from zero as in the paper: among twelve layers the first exit matters.
    rates = dropout_rates(layers, MAX_DROPOUT).to(device)
    weights = exit_weights(layers, EXIT_SCALE, first=1).to(device)
    dropout = torch.Generator(device).manual_seed(arguments.seed)

    curve = open(arguments.curve, "w", buffering=1, newline="")
    writer = csv.writer(curve)
    writer.writerow(["step", "tokens", "seconds", "learning_rate", "train_loss", "held_out_code", "held_out_prose"])
    begun, saved, recent = time.time(), time.time(), []
    steps, length, source, step = arguments.steps, 0, None, 0
    while True:
        if arguments.plan and arguments.plan.exists() and step % 20 == 0:
            steps = int(arguments.plan.read_text())
        seconds_left = arguments.stop_at.timestamp() - time.time() if arguments.stop_at else math.inf
        rate = learning_rate(arguments.peak_rate, step, steps, seconds_left)
        if rate <= 0:
            break
        wanted = SHORT if step < STEADY * steps else LONG
        if wanted != length:
            length = wanted
            source = batches(streams, length, TOKENS_PER_STEP // length, bos, arguments.seed + length)
        rows = next(source).to(device)

        with torch.autocast(device.type, torch.bfloat16):
            if arguments.recipe == "layerskip":
                # A plain gate per layer and sample; a dropped layer leaves the sample's stream untouched.
                kept = torch.rand(layers, len(rows), generator=dropout, device=device) >= rates[:, None]
                early = rotational_exits(step, list(range(layers - 1)), EXITS_PER_STEP)
                exits = torch.tensor([*early, layers - 1]).to(device)
                losses, loss = loss_of(model, rows, kept, exits, weights[exits])
            else:
                losses, _ = loss_of(model, rows)
                loss = losses[0]
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()
        recent.append(losses[-1].item())
        step += 1

        if step % 50 == 0:
            held_out = held_out_loss(model, samples) if step % 250 == 0 else {}
            writer.writerow([step, step * TOKENS_PER_STEP, round(time.time() - begun, 1), f"{rate:.2e}",
                             round(sum(recent) / len(recent), 4),
                             *(round(held_out[kind], 4) if held_out else "" for kind in KINDS)])
            recent = []
        if time.time() - saved > arguments.save_every:
            save_checkpoint(model, arguments.out, bos, eos)
            saved = time.time()
    save_checkpoint(model, arguments.out, bos, eos)
    print(f"{arguments.recipe}: {step} steps, {step * TOKENS_PER_STEP} tokens, {time.time() - begun:.0f} s")


if __name__ == "__main__":
    main()
