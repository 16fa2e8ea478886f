# SPDX-License-Identifier: GPL-3.0-or-later
"""Continues a Hugging Face Llama with the LayerSkip recipe, as a LoRA adapter in PEFT's format.

    python adapt.py --model smollm2 --replies replies --out adapter --minutes 60

The targets are what the model itself gave (`replies.py`), so that the full model stays what it was and the exits learn
to foretell it. A further call with the same --out goes on where the last one ended.
"""
import argparse
import csv
import json
import os
import random
import signal
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

from layerskip import dropout_rates, dropout_scale, exit_weights, gradual_exits, rotational_exits
from llama import Llama, Shape

WARMUP_STEPS = 10
WIND_DOWN = 0.5                # share of the time in which the rate falls to zero
HELD_OUT = 8                   # rows that the curve's agreement is of
BLOCK = 64                     # rows are padded to a multiple: what causal_attention wants
MODULES = {"qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), "o": ("self_attn.o_proj",),
           "gate_up": ("mlp.gate_proj", "mlp.up_proj"), "down": ("mlp.down_proj",)}


class Lora(nn.Module):
    """A frozen projection, or several fused ones, each with two matrices of its own: W + scale * B A."""

    def __init__(self, base: nn.Linear, parts: int, widths, rank: int, scale: float):
        super().__init__()
        self.weight, self.rank, self.scale = base.weight, rank, scale
        self.a = nn.Parameter(torch.empty(parts * rank, base.in_features))
        nn.init.normal_(self.a, std=base.in_features ** -0.5)
        self.b = nn.ParameterList(torch.zeros(width, rank) for width in widths)

    def forward(self, x):
        low = F.linear(x, self.a * self.scale).split(self.rank, dim=-1)
        return F.linear(x, self.weight) + torch.cat([F.linear(z, b) for z, b in zip(low, self.b)], dim=-1)


def read_shape(folder: Path) -> Shape:
    config = json.loads((folder / "config.json").read_text())
    if config["model_type"] != "llama" or config.get("rope_scaling") or not config.get("tie_word_embeddings"):
        raise SystemExit(f"{folder}/config.json: expected a Llama with a tied head and plain rotary positions")
    config.setdefault("head_dim", config["hidden_size"] // config["num_attention_heads"])
    return Shape(**{field: config[field] for field in Shape.__dataclass_fields__})


def adapted_model(folder: Path, rank: int, alpha: float) -> Llama:
    """The checkpoint with its weights frozen, in bf16 but for the norms, and an untrained adapter in every layer."""
    model = Llama(read_shape(folder))
    model.load_checkpoint(folder)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
        if parameter.dim() == 2:
            parameter.data = parameter.data.bfloat16()
    for layer in model.layers:
        for name, parts in MODULES.items():
            base = getattr(layer, name)
            widths = layer.widths if name == "qkv" else [base.out_features // len(parts)] * len(parts)
            setattr(layer, name, Lora(base, len(parts), widths, rank, alpha / rank))
    return model


def save_adapter(model: Llama, folder: Path, rank: int, alpha: float, base_name: str):
    tensors = {}
    for index, layer in enumerate(model.layers):
        for name, parts in MODULES.items():
            lora = getattr(layer, name)
            for part, a, b in zip(parts, lora.a.split(rank), lora.b):
                module = f"base_model.model.model.layers.{index}.{part}"
                tensors[f"{module}.lora_A.weight"] = a.detach().bfloat16().contiguous().clone()
                tensors[f"{module}.lora_B.weight"] = b.detach().bfloat16().contiguous()
    save_file(tensors, folder / "partial", metadata={"format": "pt"})
    os.replace(folder / "partial", folder / "adapter_model.safetensors")
    modules = sorted(part.split(".")[1] for parts in MODULES.values() for part in parts)
    config = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "base_model_name_or_path": base_name, "r": rank,
              "lora_alpha": alpha, "lora_dropout": 0.0, "bias": "none", "inference_mode": True, "target_modules": modules}
    (folder / "partial").write_text(json.dumps(config, indent=2) + "\n")
    os.replace(folder / "partial", folder / "adapter_config.json")


def padded(rows, positions: int | None = None):
    """A batch: tokens [rows, length], and for some of the positions that count: index in the flattened batch, likely next
    tokens and their shares."""
    length = -(-max(len(r["tokens"]) for r in rows) // BLOCK) * BLOCK
    tokens = torch.zeros(len(rows), length, dtype=torch.long)
    places = []
    for i, row in enumerate(rows):
        tokens[i, :len(row["tokens"])] = row["tokens"]
        places.append(i * length + row["first"] + torch.arange(len(row["ids"])))
    places, ids, shares = torch.cat(places), torch.cat([r["ids"] for r in rows]), torch.cat([r["shares"] for r in rows])
    if positions and len(places) > positions:
        chosen = torch.randperm(len(places))[:positions]
        places, ids, shares = places[chosen], ids[chosen], shares[chosen]
    return tokens, places, ids.long(), shares.float()


def endless_batches(rows, size: int, seed: int):
    """Batches of rows of about one length, in random order."""
    generator = random.Random(seed)
    while True:
        order = generator.sample(rows, len(rows))
        for start in range(0, len(order) - 8 * size + 1, 8 * size):
            pool = sorted(order[start:start + 8 * size], key=lambda r: len(r["tokens"]))
            groups = [pool[i:i + size] for i in range(0, len(pool), size)]
            yield from generator.sample(groups, len(groups))


def distance(logits, ids, shares):
    """Cross-entropy to the kept part of the model's own distribution; without a gradient of its own from the rest."""
    logits = logits.float()
    likely = logits.gather(-1, ids) - torch.logsumexp(logits, -1, keepdim=True)
    return -(shares * likely).sum(-1).mean()


@torch.no_grad()
def agreement(model, rows, exits):
    """Share of positions on which each exit's best token is the unchanged model's."""
    tokens, places, ids, _ = padded(rows)
    with torch.autocast("cpu", torch.bfloat16):
        states = model.hidden_states(tokens)
        return [(model.logits(states[e].flatten(0, 1)[places]).argmax(-1) == ids[:, 0]).float().mean().item() for e in exits]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="Hugging Face folder")
    parser.add_argument("--base-name", default="HuggingFaceTB/SmolLM2-135M-Instruct", help="the base's name in the config")
    parser.add_argument("--replies", type=Path, required=True, help="folder that replies.py made")
    parser.add_argument("--out", type=Path, required=True, help="adapter, state.pt and curve.csv")
    parser.add_argument("--minutes", type=float, required=True, help="time that this call takes")
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--alpha", type=float, default=32)
    parser.add_argument("--peak-rate", type=float, default=1e-3)
    parser.add_argument("--max-dropout", type=float, default=0.1, help="the paper's p_max")
    parser.add_argument("--dropout-curriculum", choices=["constant", "exponential"], default="constant",
                        help="the paper's S(t)")
    parser.add_argument("--exit-scale", type=float, default=0.2, help="the paper's e_scale")
    parser.add_argument("--curriculum", choices=["rotational", "gradual"], default="rotational")
    parser.add_argument("--exits-per-step", type=int, default=2, help="of the rotational curriculum")
    parser.add_argument("--exits", type=int, nargs="+", help="layers per early exit (default: all); others are not trained")
    parser.add_argument("--targets", choices=["shares", "text"], default="shares",
                        help="the model's distribution, or its most likely token alone")
    parser.add_argument("--rows", type=int, default=8, help="per step")
    parser.add_argument("--positions", type=int, default=768, help="max per step and exit, drawn from those that count")
    parser.add_argument("--save-every", type=float, default=120, help="seconds between checkpoints")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    begun, seconds = time.time(), 60 * arguments.minutes
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(arguments.seed)
    arguments.out.mkdir(parents=True, exist_ok=True)
    files = sorted(arguments.replies.glob("*.pt"))
    rows = [row for file in files for row in torch.load(file)]
    held_out = rows[:4 * HELD_OUT:4]     # of the first batch
    del rows[:4 * HELD_OUT:4]
    model = adapted_model(arguments.model, arguments.rank, arguments.alpha)
    layers = model.shape.num_hidden_layers
    exits = [e - 1 for e in arguments.exits or range(1, layers)]
    watched = sorted({layers // 3, layers // 2, 2 * layers // 3, 4 * layers // 5})
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, betas=(0.9, 0.95), weight_decay=0.0, fused=True)
    rates, weights = dropout_rates(layers, arguments.max_dropout), exit_weights(layers, arguments.exit_scale)
    step, tokens, earlier = 0, 0, 0.0
    if (arguments.out / "state.pt").exists():
        state = torch.load(arguments.out / "state.pt")
        step, tokens, earlier = state["step"], state["tokens"], state["seconds"]
        optimizer.load_state_dict(state["optimizer"])
        with torch.no_grad():
            for parameter, value in zip(parameters, state["parameters"]):
                parameter.copy_(value)

    def save():
        torch.save({"step": step, "tokens": tokens, "seconds": earlier + time.time() - begun,
                    "optimizer": optimizer.state_dict(), "parameters": [p.detach() for p in parameters]},
                   arguments.out / "partial")
        os.replace(arguments.out / "partial", arguments.out / "state.pt")
        save_adapter(model, arguments.out, arguments.rank, arguments.alpha, arguments.base_name)

    curve = open(arguments.out / "curve.csv", "a", buffering=1, newline="")
    writer = csv.writer(curve)
    if step == 0:
        writer.writerow(["step", "tokens", "seconds", "learning_rate", "full_loss", "exit_loss",
                         *(f"agreement_{e}" for e in watched), "agreement_full"])
    source, saved, shown, recent = endless_batches(rows, arguments.rows, arguments.seed + step), time.time(), 0.0, []
    print(f"{len(rows)} rows, {sum(p.numel() for p in parameters) / 1e6:.1f} M parameters", flush=True)
    stopped = []                   # by SIGTERM, which ends training after a whole step
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    while True:
        left = begun + seconds - time.time()
        rate = arguments.peak_rate * min(1.0, (step + 1) / WARMUP_STEPS, left / (WIND_DOWN * seconds))
        if rate <= 0 or stopped:
            break
        if arguments.curriculum == "rotational":
            turn = rotational_exits(step, exits, arguments.exits_per_step)
        else:
            turn = gradual_exits(1 - left / seconds, exits)
        ids_rows, places, ids, shares = padded(next(source), arguments.positions)
        if arguments.targets == "text":
            ids, shares = ids[:, :1], torch.ones_like(shares[:, :1])
        dropped = rates * dropout_scale(1 - left / seconds, arguments.dropout_curriculum)
        kept = torch.rand(layers, len(ids_rows)) >= dropped[:, None]
        with torch.autocast("cpu", torch.bfloat16):
            states = model.hidden_states(ids_rows, kept)
            losses = torch.stack([distance(model.logits(states[e].flatten(0, 1)[places]), ids, shares)
                                  for e in [*turn, layers - 1]])
        share = weights[[*turn, layers - 1]]
        (losses * share).sum().div(share.sum()).backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()
        step, tokens = step + 1, tokens + ids_rows.numel()
        recent.append((losses[-1].item(), losses[:-1].mean().item() if turn else float("nan")))
        if step % 10 == 0 or step == 1:
            measured = []
            if time.time() - shown > 60:
                shown = time.time()
                measured = [round(a, 4) for a in agreement(model, held_out, [e - 1 for e in watched] + [layers - 1])]
            full, early = (sum(r[i] for r in recent) / len(recent) for i in (0, 1))
            recent = []
            writer.writerow([step, tokens, round(earlier + time.time() - begun, 1), f"{rate:.2e}", round(full, 4),
                             round(early, 4), *(measured or [""] * (len(watched) + 1))])
            print(f"step {step}, {left:.0f} s left, loss {full:.3f}, exits {early:.3f}, agreement {measured}", flush=True)
        if time.time() - saved > arguments.save_every:
            save()
            saved = time.time()
    save()
    print(f"{step} steps, {tokens} tokens", flush=True)


if __name__ == "__main__":
    main()
