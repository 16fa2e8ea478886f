#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast Hugging Face transformers decodes the same shape on the same device: greedy, batch 1.

    transformers_baselines.py --model llama-3-8b --exit 8        # random weights of a shape in models/models.csv
    transformers_baselines.py --model models/demo-layerskip --prompt tokens.txt --exit 7   # a checkpoint

Three ways, each after a warm-up, timed from the first new token to the last:
  eager       generate(), as people run it (SDPA attention, a dynamic cache, no compilation)
  early_exit  generate(assistant_early_exit=E) with a fixed draft length
  compiled    a loop of one compiled step over a static cache, replayed as CUDA graphs: the strong baseline
Prints a line of JSON after each way, with all results so far. A way that fails has "error" in place of figures.
"""
import argparse
import csv
import inspect
import json
import statistics
import sys
import time
import warnings
from pathlib import Path

import torch
import transformers
from transformers import LlamaConfig, LlamaForCausalLM, StaticCache

MODELS_CSV = Path(__file__).resolve().parents[2] / "models" / "models.csv"
PROMPT_MULTIPLIER = 48271      # bench_gpu's prompt is the same


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a name in models/models.csv, or a checkpoint's folder")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--layers", type=int, help="of a random model, in place of the published number")
    parser.add_argument("--vocab", type=int, help="of a random model, likewise")
    parser.add_argument("--redundancy", type=float, default=0.9,
                        help="of a random model: what a layer adds is scaled by 1 - redundancy, so that early exits agree")
    parser.add_argument("--prompt", type=Path, help="token ids in a file; default: ids that no pattern favours")
    parser.add_argument("--context", type=int, default=512, help="tokens of the prompt")
    parser.add_argument("--tokens", type=int, default=128, help="new tokens")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--exit", type=int, required=True, help="layers of the early exit's drafts")
    parser.add_argument("--gamma", type=int, default=4, help="draft tokens per round")
    parser.add_argument("--ways", nargs="+", default=["eager", "early_exit", "compiled"],
                        choices=["eager", "early_exit", "compiled"])
    return parser.parse_args()


def published_config(args: argparse.Namespace) -> LlamaConfig:
    with MODELS_CSV.open(newline="") as file:
        rows = {row["name"].lower(): row for row in csv.DictReader(file)}
    row = rows.get(args.model.lower())
    if row is None:
        sys.exit(f"transformers_baselines: model is {args.model!r}, expected a folder or one of {', '.join(rows)}")
    return LlamaConfig(
        vocab_size=args.vocab or int(row["vocab"]), hidden_size=int(row["d_model"]),
        intermediate_size=int(row["d_ff"]), num_hidden_layers=args.layers or int(row["n_layers"]),
        num_attention_heads=int(row["n_heads"]), num_key_value_heads=int(row["n_kv_heads"]),
        head_dim=int(row["head_dim"]), max_position_embeddings=8192, tie_word_embeddings=row["tied_embeddings"] == "1")


def load_model(args: argparse.Namespace) -> LlamaForCausalLM:
    if Path(args.model).is_dir():
        model = LlamaForCausalLM.from_pretrained(args.model, dtype=torch.bfloat16).to(args.device)
    else:
        torch.manual_seed(1)
        torch.set_default_dtype(torch.bfloat16)
        with torch.device(args.device):
            model = LlamaForCausalLM(published_config(args))
        torch.set_default_dtype(torch.float32)
        with torch.no_grad():
            for layer in model.model.layers:
                for matrix in (layer.self_attn.o_proj.weight, layer.mlp.down_proj.weight):
                    matrix.mul_(1 - args.redundancy)
    model.eval()
    # Texts must be equally long, whatever the weights say.
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0
    return model


def prompt_tokens(args: argparse.Namespace, vocab: int) -> torch.Tensor:
    if args.prompt is None:
        ids = [PROMPT_MULTIPLIER * (i + 1) % vocab for i in range(args.context)]
    else:
        ids = [int(text) for text in args.prompt.read_text().split()][:args.context]
    if len(ids) < args.context:
        sys.exit(f"transformers_baselines: {args.prompt} has {len(ids)} tokens, expected at least {args.context}")
    return torch.tensor([ids], device=args.device)


class Stopwatch:
    """Device time between two points, by CUDA events where there are any."""

    def __init__(self, device: str):
        self.device = device

    def __enter__(self):
        if self.device == "cuda":
            self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            torch.cuda.synchronize()
            self.events[0].record()
        else:
            self.start = time.perf_counter()
        return self

    def __exit__(self, *_):
        if self.device == "cuda":
            self.events[1].record()
            torch.cuda.synchronize()
            self.seconds = self.events[0].elapsed_time(self.events[1]) * 1e-3
        else:
            self.seconds = time.perf_counter() - self.start


def spread(values: list[float]) -> dict:
    values = sorted(values)
    at = lambda quarter: values[(len(values) - 1) * quarter // 4]
    return {"median": statistics.median(values), "low": at(1), "high": at(3), "repeats": len(values)}


def generate_decode_rates(args, model, prompt, **options) -> tuple[dict, list[int]]:
    """Tokens/s after the first token: a text's time less the time of a text of one token, of the same repeat."""
    def text(count: int, **also):
        with Stopwatch(args.device) as watch:
            output = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False,
                                    max_new_tokens=count, min_new_tokens=count, **also)
        return watch.seconds, output[0, prompt.shape[1]:].tolist()

    text(min(16, args.tokens), **options)
    rates = []
    for _ in range(args.repeats):
        first, _ = text(1)          # prefill alone; drafts have no part in it
        whole, tokens = text(args.tokens, **options)
        rates.append((len(tokens) - 1) / (whole - first))
    return {"tokens_per_s": spread(rates)}, tokens


def eager(args, model, prompt):
    return generate_decode_rates(args, model, prompt)


def early_exit(args, model, prompt):
    config = model.generation_config
    config.num_assistant_tokens = args.gamma
    config.num_assistant_tokens_schedule = "constant"
    config.assistant_confidence_threshold = 0.0
    return generate_decode_rates(args, model, prompt, assistant_early_exit=args.exit)


def compiled(args, model, prompt):
    """One step as a compiled function; tokens and positions stay on the device, the host only launches."""
    takes_position = "cache_position" in inspect.signature(model.forward).parameters
    length = args.context + args.tokens + 1
    cache = StaticCache(config=model.config, max_cache_len=length)

    def forward(tokens, positions):
        options = {"cache_position": positions} if takes_position else {}
        logits = model(tokens, position_ids=positions[None], past_key_values=cache, use_cache=True,
                       logits_to_keep=1, **options).logits
        return logits[:, -1].argmax(-1, keepdim=True)

    step = torch.compile(forward, mode="reduce-overhead", fullgraph=True)
    positions = torch.arange(args.context, device=args.device)
    rates = []
    with torch.no_grad():
        for repeat in range(-2, args.repeats):      # two warm up: compilation, then the capture of graphs
            cache.reset()
            token = forward(prompt, positions)
            position = torch.tensor([args.context], device=args.device)
            tokens = [token]
            with Stopwatch(args.device) as watch:
                for _ in range(args.tokens - 1):
                    torch.compiler.cudagraph_mark_step_begin()
                    # A replay writes where the last one did: what is kept is copied.
                    token = step(token, position).clone()
                    position = position + 1
                    tokens.append(token)
            if repeat >= 0:
                rates.append((args.tokens - 1) / watch.seconds)
    return {"tokens_per_s": spread(rates)}, torch.cat(tokens, dim=1)[0].tolist()


def main() -> int:
    args = arguments()
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    if args.device == "cuda" and not torch.cuda.is_available():
        sys.exit("transformers_baselines: found no CUDA device, expected one (or --device cpu)")
    model = load_model(args)
    prompt = prompt_tokens(args, model.config.vocab_size)
    result = {
        "model": args.model, "random_weights": not Path(args.model).is_dir(), "layers": model.config.num_hidden_layers,
        "dtype": "bfloat16", "context_tokens": args.context, "new_tokens": args.tokens, "exit": args.exit,
        "gamma": args.gamma, "torch": torch.__version__, "transformers": transformers.__version__,
        "device": torch.cuda.get_device_name() if args.device == "cuda" else "cpu", "ways": {}}
    ways = {"eager": eager, "early_exit": early_exit, "compiled": compiled}
    texts = {}
    for name in args.ways:
        try:
            result["ways"][name], texts[name] = ways[name](args, model, prompt)
        except Exception as error:  # another way may still work
            result["ways"][name] = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        if name != "eager" and name in texts and "eager" in texts:
            same = [a == b for a, b in zip(texts["eager"], texts[name])]
            result["ways"][name]["tokens_as_eager"] = same.index(False) if False in same else len(same)
        print(json.dumps(result), flush=True)
    return 1 if any("error" in way for way in result["ways"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
