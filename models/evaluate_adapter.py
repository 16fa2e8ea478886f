# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures a chat model without and with an adapter: perplexity on held-out text, and how often each exit agrees with the
full model on the text that the full model writes itself.

    python evaluate_adapter.py --model smollm2 --adapter adapter --corpus corpus --prompts ../traces/prompts/instruct.jsonl

Runs through transformers' own Llama and merges the adapter from its files, so that it also checks the export.
"""
import argparse
import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from data import KINDS
from evaluate import held_out_windows, percent, table


@torch.no_grad()
def merge(model, folder: Path):
    config = json.loads((folder / "adapter_config.json").read_text())
    tensors = load_file(folder / "adapter_model.safetensors")
    for name in [n for n in tensors if ".lora_A." in n]:
        low, high = tensors[name].float(), tensors[name.replace(".lora_A.", ".lora_B.")].float()
        weight = model.get_submodule(name.removeprefix("base_model.model.").split(".lora_A.")[0]).weight
        weight.copy_(weight.float() + config["lora_alpha"] / config["r"] * high @ low)


@torch.no_grad()
def own_texts(model, tokenizer, prompts: Path, limit: int, new_tokens: int):
    """Greedy replies: (tokens with the prompt, tokens of the prompt)."""
    turns = [json.loads(line)["turns"][0] for line in open(prompts)]
    for turn in turns[::-(-len(turns) // limit)]:
        text = tokenizer.apply_chat_template([{"role": "user", "content": turn}], tokenize=False, add_generation_prompt=True)
        prompt = tokenizer(text, return_tensors="pt", add_special_tokens=False)["input_ids"]
        yield model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=new_tokens,
                             pad_token_id=tokenizer.eos_token_id), prompt.shape[1]


@torch.no_grad()
def perplexity(model, windows):
    losses = [F.cross_entropy(model(ids).logits[0, :-1].float(), ids[0, 1:], reduction="none") for ids in windows]
    return math.exp(torch.cat(losses).mean().item())


@torch.no_grad()
def agreement(model, texts, exits):
    """Share of the replies' tokens that each exit foretells, and their count."""
    agree, count = torch.zeros(len(exits)), 0
    for ids, begin in texts:
        states = model.model(ids[:, :-1], output_hidden_states=True).hidden_states
        best = [model.lm_head(model.model.norm(states[e][0, begin - 1:])).argmax(-1) for e in exits]
        agree += (torch.stack(best) == ids[0, begin:]).sum(-1)
        count += ids.shape[1] - begin
    return agree / count, count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, help="none: the model as it is")
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--windows", type=int, default=8, help="of 512 tokens, per kind")
    parser.add_argument("--limit", type=int, default=24, help="prompts")
    parser.add_argument("--new-tokens", type=int, default=64)
    parser.add_argument("--exits", type=int, nargs="+", default=[6, 10, 15, 20, 24])
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    tokenizer = AutoTokenizer.from_pretrained(arguments.model)
    model = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.bfloat16).eval()
    if arguments.adapter:
        merge(model, arguments.adapter)
    for kind in KINDS if arguments.windows else ():
        windows = list(held_out_windows(arguments.corpus, kind, tokenizer, arguments.windows))
        print(f"{kind}: perplexity {perplexity(model, windows):.3f} on {len(windows)} windows", flush=True)
    texts = own_texts(model, tokenizer, arguments.prompts, arguments.limit, arguments.new_tokens)
    agree, count = agreement(model, texts, arguments.exits)
    print(f"agreement over {count} tokens of its own greedy replies, in %:\n")
    table(["exit", *map(str, arguments.exits)], [["agreement", *(percent(a.item()) for a in agree)]])


if __name__ == "__main__":
    main()
