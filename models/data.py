# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokenized documents and the fixed order in which training sees them."""
import json
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

KINDS = ("code", "prose")


def load_documents(corpus: Path, split: str, kind: str):
    with open(corpus / f"{split}.jsonl") as lines:
        return [d for d in map(json.loads, lines) if d["kind"] == kind]


def token_stream(corpus: Path, split: str, kind: str, tokenizer: Tokenizer) -> np.ndarray:
    """All documents of a kind, one after another, each between its begin and end tokens."""
    cache = corpus / f"{split}.{kind}.npy"
    if not cache.exists():
        texts = [d["text"] for d in load_documents(corpus, split, kind)]
        end = tokenizer.token_to_id("<|end_of_text|>")
        ids = [np.array([*e.ids, end], dtype=np.uint16) for e in tokenizer.encode_batch(texts)]
        # Neighbours in the stream should not be neighbours in the file system.
        np.random.default_rng(0).shuffle(ids)
        np.save(cache, np.concatenate(ids))
    return np.load(cache)


def windows(stream: np.ndarray, length: int, bos: int) -> np.ndarray:
    """Cuts a stream into rows of length + 1 tokens: a begin token, then text from anywhere.

    Prompts start in the middle of documents too, so the model must know text that follows a begin token.
    """
    rows = stream[: len(stream) // length * length].reshape(-1, length)
    return np.concatenate([np.full((len(rows), 1), bos, dtype=stream.dtype), rows], axis=1)


def batches(streams: dict, length: int, rows: int, bos: int, seed: int):
    """Endless batches [rows, length + 1], half code and half prose, in an order that only the seed decides."""
    generator = np.random.default_rng(seed)
    tables = {kind: windows(stream, length, bos) for kind, stream in streams.items()}
    orders = {kind: [] for kind in tables}
    share = rows // len(tables)
    while True:
        parts = []
        for kind, table in tables.items():
            if len(orders[kind]) < share:
                orders[kind] = list(generator.permutation(len(table)))
            parts.append(table[[orders[kind].pop() for _ in range(share)]])
        yield torch.from_numpy(np.concatenate(parts).astype(np.int64))
