# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the demo models on held-out text and prints the README's tables.

    python evaluate.py --corpus corpus --prompts ../traces/prompts demo-layerskip demo-plain

Runs through transformers' own Llama, not through the training code, so that it also checks the
exported files. Exit E means: the first E layers, then the final norm and the head.
"""
import argparse
import json
import math
from pathlib import Path

import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, AutoTokenizer

from data import KINDS, load_documents

WINDOW = 512
NEW_TOKENS = 128


@torch.no_grad()
def exit_logits(model, ids):
    """Logits of every exit 1..L; transformers hands out the last state already normalised."""
    states = model.model(ids, output_hidden_states=True).hidden_states[1:]
    for state in states[:-1]:
        yield model.lm_head(model.model.norm(state))
    yield model.lm_head(states[-1])


def held_out_windows(corpus: Path, kind: str, tokenizer, limit: int):
    """Documents cut to windows that start with a begin token; of all of them, `limit` evenly spread ones."""
    windows = []
    for document in load_documents(corpus, "heldout", kind):
        ids = tokenizer.encode(document["text"], add_special_tokens=False)
        windows += [ids[start:start + WINDOW - 1] for start in range(0, len(ids) - WINDOW + 1, WINDOW - 1)]
    for i in range(min(limit, len(windows))):
        yield torch.tensor([[tokenizer.bos_token_id, *windows[i * len(windows) // min(limit, len(windows))]]])


def score(model, windows, first=0):
    """Loss of the full model, and for every exit: accuracy, agreement with the full model, both in shares."""
    exits = model.config.num_hidden_layers
    loss, count, correct, agree = 0.0, 0, torch.zeros(exits), torch.zeros(exits)
    for ids in windows:
        logits = [l[0, first:-1] for l in exit_logits(model, ids)]
        targets, final = ids[0, first + 1:], logits[-1].argmax(-1)
        loss += F.cross_entropy(logits[-1], targets, reduction="sum").item()
        count += len(targets)
        best = torch.stack([l.argmax(-1) for l in logits])
        correct += (best == targets).sum(-1)
        agree += (best == final).sum(-1)
    return {"perplexity": math.exp(loss / count), "tokens": count,
            "accuracy": (correct / count).tolist(), "agreement": (agree / count).tolist()}


def greedy_agreement(model, tokenizer, prompts: Path, kind: str):
    """What greedy decoding meets: agreement on the model's own text, and how varied that text is."""
    agree, count, grams, distinct = torch.zeros(model.config.num_hidden_layers), 0, 0, 0
    for line in open(prompts / f"{kind}.jsonl"):
        prompt = torch.tensor([tokenizer.encode(json.loads(line)["turns"][0])])
        text = model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False,
                              max_new_tokens=NEW_TOKENS, pad_token_id=tokenizer.eos_token_id)
        first = prompt.shape[1] - 1
        best = torch.stack([l[0, first:-1].argmax(-1) for l in exit_logits(model, text)])
        agree += (best == best[-1]).sum(-1)
        new = text[0, first + 1:].tolist()
        count += len(new)
        grams += max(0, len(new) - 3)
        distinct += len({tuple(new[i:i + 4]) for i in range(len(new) - 3)})
    return {"agreement": (agree / count).tolist(), "tokens": count, "distinct": distinct / grams}


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(map(str, row)) + " |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--prompts", type=Path, required=True)
    parser.add_argument("--windows", type=int, default=80, help="of 512 tokens, a kind")
    parser.add_argument("folders", type=Path, nargs=2)
    arguments = parser.parse_args()
    results = {}
    for folder in arguments.folders:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        for kind in KINDS:
            windows = held_out_windows(arguments.corpus, kind, tokenizer, arguments.windows)
            results[folder.name, kind] = (score(model, windows),
                                          greedy_agreement(model, tokenizer, arguments.prompts, kind))
    table(["model", "text", "held-out tokens", "perplexity", "next-token accuracy %", "distinct 4-grams in greedy text %"],
          [[name, kind, held["tokens"], f"{held['perplexity']:.2f}", percent(held["accuracy"][-1]),
            percent(greedy["distinct"])] for (name, kind), (held, greedy) in results.items()])
    for kind in KINDS:
        columns = [results[folder.name, kind] for folder in arguments.folders]
        exits = len(columns[0][0]["accuracy"])
        print(f"{kind.capitalize()}, in %:\n")
        table(["exit E", *(f"{folder.name}: {what}" for folder in arguments.folders
                           for what in ("accuracy", "agreement", "agreement on greedy text"))],
              [[e + 1, *(percent(v[e]) for held, greedy in columns
                         for v in (held["accuracy"], held["agreement"], greedy["agreement"]))] for e in range(exits)])


if __name__ == "__main__":
    main()
