# SPDX-License-Identifier: GPL-3.0-or-later
"""Gathers what a chat model says of its own accord, for `adapt.py` to train on: its greedy replies to prompts made from
the corpus, and windows of the corpus itself, with the model's most likely next tokens at every place.

    python replies.py --model smollm2 --corpus corpus --out replies --minutes 10

Each file of the output folder holds a batch, a list of rows: {"tokens": [n], "first": the first position whose next
token counts, "ids" and "shares": [n - 1 - first, KEPT], the model's most likely next tokens and their probabilities}.
"""
import argparse
import ast
import json
import os
import random
import time
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LogitsProcessor, LogitsProcessorList

KEPT = 32                      # next tokens kept for each position
BATCH = 48
NEW_TOKENS = 128
WINDOW = 256
LANGUAGES = ["French", "German", "Spanish", "Italian", "Portuguese"]
PLACES = ["a mountain railway", "an island school", "a night market", "a desert town", "a glass workshop", "an old theatre",
          "a river ferry", "a snowed-in inn", "a botanical garden", "a second-hand bookshop", "a space station", "a bakery"]
PEOPLE = ["a retired teacher", "a young carpenter", "a nurse", "twin sisters", "a clockmaker", "a shy musician",
          "a postman", "an astronomer", "a cook", "a lost traveller", "a grandfather", "a student of chemistry"]
THINGS = ["a broken compass", "a red umbrella", "an unpaid bill", "a map without names", "a stray cat", "an old radio",
          "a forgotten recipe", "a silver key", "a photograph", "a promise", "a strange sound", "a wooden boat"]


def functions_of(source: str):
    """Short functions with a docstring: (name, its first line, the function's text)."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            text = ast.get_source_segment(source, node)
            if text and 100 < len(text) < 700:
                yield node.name, ast.get_docstring(node).split("\n")[0], text


def paragraphs_of(text: str):
    for paragraph in text.split("\n\n"):
        flat = " ".join(paragraph.split())
        letters = sum(c.isalpha() or c.isspace() for c in flat)
        if 250 < len(flat) < 700 and flat.count(". ") >= 2 and letters > 0.9 * len(flat):
            yield flat


def docstrings_of(source: str):
    """The prose in code, for a corpus with little other prose."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node):
            yield from paragraphs_of(ast.get_docstring(node))


def code_prompt(choose, function, _):
    name, line, text = function
    return choose([
        f"I need `{name}` in Python: {line}",
        f"Explain what this Python function does:\n\n{text}",
        f"{text}\n\nGive the names in this code a clearer form, and show all of it.",
        f"{text}\n\nMake this code check its arguments, and show all of it.",
        f"Write a test for this Python function:\n\n{text}"])


def summary_prompt(choose, _, paragraph):
    return choose(["In short, what does the following say?\n\n", "What is this text about?\n\n", "List the main points:\n\n",
                   "Rewrite this text in simpler words:\n\n", "Continue this text:\n\n"]) + paragraph


def translation_prompt(choose, _, paragraph):
    sentences = paragraph.split(". ")
    start = choose(range(max(1, len(sentences) - 2)))
    return (f"How do you say this in {choose(LANGUAGES)}? {choose(['', 'Go sentence by sentence, with the original beside it.'])}"
            f"\n\n{'. '.join(sentences[start:start + 2])}.")


def prose_prompt(choose, *_):
    place, person, thing = choose(PLACES), choose(PEOPLE), choose(THINGS)
    return choose([f"Tell a tale of {person} and {thing}.", f"Describe {place} at dawn.",
                   f"Write a letter from {person} in {place} about {thing}.", f"Describe {person} who works in {place}.",
                   f"Begin a novel in {place}, with {thing} on its first page.",
                   f"What would {person} say about {thing}? Write a short dialogue."])


PROMPTS = [code_prompt, summary_prompt, translation_prompt, prose_prompt]


class Recorder(LogitsProcessor):
    """Changes no logit; keeps each step's most likely tokens."""

    def __init__(self):
        self.ids, self.shares = [], []

    def __call__(self, input_ids, scores):
        shares, ids = scores.float().softmax(-1).topk(KEPT)
        self.ids.append(ids.int())
        self.shares.append(shares.half())
        return scores


@torch.no_grad()
def reply_rows(model, tokenizer, prompts):
    chats = [tokenizer.apply_chat_template([{"role": "user", "content": p}], tokenize=False, add_generation_prompt=True)
             for p in prompts]
    encoded = tokenizer(chats, return_tensors="pt", padding=True, add_special_tokens=False)
    recorder = Recorder()
    texts = model.generate(**encoded, do_sample=False, max_new_tokens=NEW_TOKENS, pad_token_id=tokenizer.eos_token_id,
                           logits_processor=LogitsProcessorList([recorder]))
    ids, shares = torch.stack(recorder.ids, 1), torch.stack(recorder.shares, 1)
    begin = encoded["input_ids"].shape[1]
    for row, text in enumerate(texts):
        reply = text[begin:].tolist()
        count = reply.index(tokenizer.eos_token_id) + 1 if tokenizer.eos_token_id in reply else len(reply)
        prompt = encoded["input_ids"][row][encoded["attention_mask"][row].bool()]
        yield {"tokens": torch.cat([prompt, text[begin:begin + count]]).int(), "first": len(prompt) - 1,
               "ids": ids[row, :count].clone(), "shares": shares[row, :count].clone()}


@torch.no_grad()
def window_rows(model, tokenizer, texts):
    tokens = torch.tensor([tokenizer.encode(t, add_special_tokens=False)[:WINDOW] for t in texts])
    shares, ids = model(tokens).logits[:, :-1].float().softmax(-1).topk(KEPT)
    for row in range(len(tokens)):
        yield {"tokens": tokens[row].int(), "first": 0, "ids": ids[row].int(), "shares": shares[row].half()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="Hugging Face folder of a chat model")
    parser.add_argument("--corpus", type=Path, required=True, help="folder that corpus.py made")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--plain", type=float, default=0.25, help="share of batches that are windows of the corpus")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    tokenizer = AutoTokenizer.from_pretrained(arguments.model, padding_side="left")
    model = AutoModelForCausalLM.from_pretrained(arguments.model, dtype=torch.bfloat16).eval()
    with open(arguments.corpus / "train.jsonl") as lines:
        documents = [json.loads(line) for line in lines]
    arguments.out.mkdir(parents=True, exist_ok=True)
    batch = len(list(arguments.out.glob("*.pt")))     # a further call goes on with other prompts
    generator = random.Random(batch)
    generator.shuffle(documents)
    code = [d["text"] for d in documents if d["kind"] == "code"]
    functions = [f for text in code[:200] for f in functions_of(text)]
    paragraphs = [p for d in documents if d["kind"] == "prose" for p in paragraphs_of(d["text"])]
    paragraphs += [p for text in code[:200] for p in docstrings_of(text)]
    print(f"{len(functions)} functions, {len(paragraphs)} paragraphs", flush=True)
    deadline, tokens = time.time() + 60 * arguments.minutes, 0
    while time.time() < deadline:
        if generator.random() < arguments.plain:
            texts = [d["text"] for d in generator.sample(documents, 24) if len(d["text"]) > 8 * WINDOW]
            starts = [generator.randrange(len(t) - 8 * WINDOW + 1) for t in texts]
            rows = window_rows(model, tokenizer, [t[s:s + 8 * WINDOW] for t, s in zip(texts, starts)])
        else:
            prompts = [PROMPTS[i % len(PROMPTS)](generator.choice, generator.choice(functions), generator.choice(paragraphs))
                       for i in range(BATCH)]
            rows = reply_rows(model, tokenizer, prompts)
        rows = list(rows)
        partial = arguments.out / "batch.partial"
        torch.save(rows, partial)
        os.replace(partial, arguments.out / f"{batch:04}.pt")
        batch += 1
        tokens += sum(len(r["ids"]) for r in rows)
        print(f"{batch} batches, {tokens} tokens, {deadline - time.time():.0f} s left", flush=True)


if __name__ == "__main__":
    main()
