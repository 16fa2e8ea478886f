# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains the byte-level BPE tokenizer that the demo models share, in Llama 3's form.

    python make_tokenizer.py --corpus corpus demo-plain demo-layerskip demo-draft

The first folder gets the files, the others get links to them.
"""
import argparse
import json
import os
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

VOCABULARY = 4096
BEGIN, END = "<|begin_of_text|>", "<|end_of_text|>"
FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json")

# Llama 3's split: words with their leading space, digits by threes, punctuation with its newlines.
SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
         r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def balanced_texts(corpus: Path):
    """Code and prose in equal bytes, so that neither owns the vocabulary."""
    with open(corpus / "train.jsonl") as lines:
        documents = [json.loads(line) for line in lines]
    size = {kind: sum(len(d["text"]) for d in documents if d["kind"] == kind) for kind in ("code", "prose")}
    limit = min(size.values())
    for kind in size:
        used = 0
        for document in documents:
            if document["kind"] == kind and used < limit:
                used += len(document["text"])
                yield document["text"]


def train(corpus: Path) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    # The special tokens come last, as in Llama 3, so that ids 0..255 are the bytes.
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY - 2, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(balanced_texts(corpus), trainer)
    tokenizer.add_special_tokens([BEGIN, END])
    tokenizer.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=True),
        processors.TemplateProcessing(single=f"{BEGIN} $A", pair=f"{BEGIN} $A {BEGIN}:1 $B:1",
                                      special_tokens=[(BEGIN, tokenizer.token_to_id(BEGIN))])])
    return tokenizer


def write_json(path: Path, value):
    path.write_text(json.dumps(value, indent=2) + "\n")


def save(tokenizer: Tokenizer, folder: Path):
    """The files that Hugging Face's AutoTokenizer looks for."""
    folder.mkdir(parents=True, exist_ok=True)
    begin, end = tokenizer.token_to_id(BEGIN), tokenizer.token_to_id(END)
    token = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    tokenizer.save(str(folder / "tokenizer.json"))
    write_json(folder / "tokenizer_config.json", {
        "added_tokens_decoder": {str(begin): {"content": BEGIN, **token}, str(end): {"content": END, **token}},
        "bos_token": BEGIN, "eos_token": END, "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"], "model_max_length": 2048,
        "tokenizer_class": "PreTrainedTokenizerFast"})
    plain = {k: v for k, v in token.items() if k != "special"}
    write_json(folder / "special_tokens_map.json", {
        "bos_token": {"content": BEGIN, **plain}, "eos_token": {"content": END, **plain}})
    write_json(folder / "generation_config.json", {
        "_from_model_config": True, "bos_token_id": begin, "eos_token_id": end, "do_sample": False})


def link(first: Path, folder: Path):
    """Links to the files that save() wrote into the first folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(os.path.relpath(first / name, folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("folders", type=Path, nargs="+")
    arguments = parser.parse_args()
    tokenizer = train(arguments.corpus)
    assert tokenizer.get_vocab_size() == VOCABULARY
    save(tokenizer, arguments.folders[0])
    for folder in arguments.folders[1:]:
        link(arguments.folders[0], folder)


if __name__ == "__main__":
    main()
