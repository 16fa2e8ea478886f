# SPDX-License-Identifier: GPL-3.0-or-later
"""Cuts prompts for the demo models out of held-out documents, in Spec-Bench's question format.

    python prompts.py --corpus corpus --tokenizer demo-plain --out ../traces/prompts
"""
import argparse
import ast
import json
import re
import textwrap
from pathlib import Path

from tokenizers import Tokenizer

from data import load_documents

FEWEST_TOKENS, MOST_TOKENS = 40, 160
LEFT_TO_WRITE = 40             # tokens that must follow the cut, so that there is something to continue
COUNT, DEMO_COUNT = 20, 3      # a kind
CALIBRATION_COUNT = 8          # a kind, beside those: what settings are tuned on
SAMPLE_COUNT = 6               # of each kind in the prompts of the recording that ships
MIXED_FROM = 8                 # the mixed stream's prompts follow those that the demo takes of each kind
FIRST_ID = {"code": 1, "prose": 101}
CATEGORY = {"code": "coding", "prose": "prose"}


def code_prompts(text: str, tokens):
    """Functions cut after their docstring, or else after some lines of their body."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    lines = text.splitlines(keepends=True)
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        first = node.body[0]
        cuts = [statement.end_lineno for statement in node.body[:-1]]
        if not cuts or (ast.get_docstring(node) and first.end_lineno == cuts[-1]):
            continue
        for cut in cuts:
            prompt = textwrap.dedent("".join(lines[node.lineno - 1:cut]))
            rest = "".join(lines[cut:node.end_lineno])
            if FEWEST_TOKENS <= tokens(prompt) <= MOST_TOKENS and tokens(rest) >= LEFT_TO_WRITE:
                yield prompt
                break


def is_prose(paragraph: str) -> bool:
    text = " ".join(paragraph.split())
    letters = sum(c.isalpha() or c == " " for c in text)
    return letters > 0.88 * len(text) and text[:1].isupper() and text[-1] == "."


def prose_prompts(text: str, tokens):
    """One or more whole paragraphs, with more prose after them."""
    paragraphs = [p.strip("\n") for p in re.split(r"\n\s*\n", text)]
    start = 0
    while start < len(paragraphs) - 1:
        end = start
        while end < len(paragraphs) and paragraphs[end] and is_prose(paragraphs[end]):
            end += 1
        for cut in range(start + 1, end):
            prompt = "\n\n".join(paragraphs[start:cut])
            if FEWEST_TOKENS <= tokens(prompt) <= MOST_TOKENS and tokens(paragraphs[cut]) >= LEFT_TO_WRITE:
                yield prompt
                break
        start = max(end, start + 1)


def collect(corpus: Path, kind: str, tokens):
    """One prompt from each document in turn, so that no document dominates."""
    cut = code_prompts if kind == "code" else prose_prompts
    pending = [cut(d["text"], tokens) for d in load_documents(corpus, "heldout", kind)]
    found = []
    count = COUNT + CALIBRATION_COUNT
    while pending and len(found) < count:
        for prompts in list(pending):
            prompt = next(prompts, None)
            if prompt is None:
                pending.remove(prompts)
            elif prompt not in found:
                found.append(prompt)
    return found[:count]


def questions(kind: str, prompts):
    for index, prompt in enumerate(prompts):
        yield {"question_id": FIRST_ID[kind] + index, "category": CATEGORY[kind], "turns": [prompt]}


def write_lines(path: Path, records):
    path.write_text("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in records))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(arguments.tokenizer / "tokenizer.json"))
    tokens = lambda text: len(tokenizer.encode(text).ids)
    chosen = {kind: list(questions(kind, collect(arguments.corpus, kind, tokens))) for kind in FIRST_ID}
    calibration = [r for records in chosen.values() for r in records[COUNT:]]
    chosen = {kind: records[:COUNT] for kind, records in chosen.items()}
    write_lines(arguments.out / "calibration.jsonl", calibration)
    for kind, records in chosen.items():
        write_lines(arguments.out / f"{kind}.jsonl", records)
        lengths = [tokens(r["turns"][0]) for r in records]
        print(f"{kind}: {len(records)} prompts of {min(lengths)} to {max(lengths)} tokens")
    write_lines(arguments.out / "demo.jsonl", [r for records in chosen.values() for r in records[:DEMO_COUNT]])
    write_lines(arguments.out / "sample.jsonl", [r for records in chosen.values() for r in records[:SAMPLE_COUNT]])
    # One task, then the other: what a strategy learnt on the first meets the second.
    write_lines(arguments.out / "mixed.jsonl", [r for records in chosen.values() for r in records[MIXED_FROM:]])


if __name__ == "__main__":
    main()
