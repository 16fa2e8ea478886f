#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the first COUNT token ids of a file of questions, joined: one prompt for every program that is compared.

    prompt_tokens.py models/demo-layerskip traces/prompts/demo.jsonl 512 > tokens.txt
"""
import json
import sys
from pathlib import Path

from tokenizers import Tokenizer


def main() -> int:
    if len(sys.argv) != 4:
        sys.exit("prompt_tokens: usage: prompt_tokens.py MODEL_FOLDER QUESTIONS COUNT")
    folder, questions, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    lines = [json.loads(line) for line in questions.read_text().splitlines() if line.strip()]
    text = "\n\n".join(turn for line in lines for turn in line["turns"])
    ids = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(text).ids
    if len(ids) < count:
        sys.exit(f"prompt_tokens: {questions} has {len(ids)} tokens, expected at least {count}")
    print(" ".join(str(i) for i in ids[:count]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
