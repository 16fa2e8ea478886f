# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes goldens/: small tokenizers of every kind, and what Hugging Face tokenizers makes of the texts of corpus.json.

    python make_goldens.py          (needs the package tokenizers; the committed files were made with 0.23)

A case is {"text", "ids", "bare", "plain"}: the ids with special tokens added, without, and without reading
special tokens in the text ("bare" and "plain" only where they differ). "decode" holds random ids, many of which
are no valid UTF-8, with their texts when special tokens are skipped and when they are kept.
"""
import json
import random
from pathlib import Path

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

HERE = Path(__file__).resolve().parent
TRAINING = (HERE / "training.txt").read_text()
CORPUS = json.loads((HERE / "goldens/corpus.json").read_text())

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT4 = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"
        r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
# The ranges end at characters that every font shows; U+9FA5 and so on in Hugging Face's files.
DEEPSEEK = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"]

UNIGRAM_SPACE = "\u2581"


def byte_level(*splits, regex=False, prefix=False):
    steps = [split if isinstance(split, pre_tokenizers.PreTokenizer) else
             pre_tokenizers.Split(Regex(split), "isolated") for split in splits]
    steps.append(pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=regex))
    return pre_tokenizers.Sequence(steps) if len(steps) > 1 else steps[0]


def train_byte_level(pre_tokenizer, vocabulary, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(TRAINING.splitlines(keepends=True), trainers.BpeTrainer(
        vocab_size=vocabulary, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer


def template(tokenizer, begin, end=None):
    single = f"{begin} $A" + (f" {end}" if end else "")
    names = [begin] + ([end] if end else [])
    return processors.TemplateProcessing(single=single, pair=f"{single} {begin} $B",
                                         special_tokens=[(name, tokenizer.token_to_id(name)) for name in names])


def llama3():
    tokenizer = train_byte_level(byte_level(LLAMA3), 560, ignore_merges=True)
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=True), template(tokenizer, "<|begin_of_text|>")])
    return tokenizer


def gpt2():
    tokenizer = train_byte_level(byte_level(regex=True), 500)
    tokenizer.add_special_tokens(["<|begin_of_text|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def gpt4():
    tokenizer = train_byte_level(byte_level(GPT4), 500)
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>"])
    tokenizer.post_processor = template(tokenizer, "<|begin_of_text|>", "<|end_of_text|>")
    return tokenizer


def qwen2():
    tokenizer = train_byte_level(byte_level(QWEN2), 500)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens([AddedToken("caf\u00e9", normalized=True), AddedToken("nai\u0308ve", normalized=True)])
    return tokenizer


def deepseek_coder():
    steps = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in DEEPSEEK]
    tokenizer = train_byte_level(byte_level(*steps, pre_tokenizers.Digits(individual_digits=True)), 520)
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|end_of_text|>"])
    tokenizer.post_processor = template(tokenizer, "<|begin_of_text|>")
    return tokenizer


def prefix_space():
    """GPT-2's split with a prefix space, and a tokenizer of every added-token option."""
    tokenizer = train_byte_level(byte_level(regex=True, prefix=True), 420)
    tokenizer.add_special_tokens([AddedToken("<s>", special=True), AddedToken("<mask>", lstrip=True, special=True)])
    tokenizer.add_tokens([AddedToken("<right>", rstrip=True), AddedToken("<word>", single_word=True),
                          AddedToken("<long>", normalized=False), AddedToken("<long><er>", normalized=False),
                          AddedToken("keep", single_word=True, lstrip=True, rstrip=True, normalized=True)])
    return tokenizer


def train_sentencepiece(vocabulary, bytes_too, text, **model):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=bytes_too, **model))
    special = ["<unk>", "<s>", "</s>"] + ([f"<0x{byte:02X}>" for byte in range(256)] if bytes_too else [])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.train_from_iterator(text.splitlines(), trainers.BpeTrainer(
        vocab_size=vocabulary, show_progress=False, special_tokens=special))
    fields = json.loads(tokenizer.to_str())
    # The trainer makes every byte an added token; in Llama's files only the first three are.
    fields["added_tokens"] = fields["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(fields))


def llama2():
    tokenizer = train_sentencepiece(700, True, TRAINING, fuse_unk=True)
    tokenizer.pre_tokenizer = None
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend(UNIGRAM_SPACE), normalizers.Replace(" ", UNIGRAM_SPACE)])
    tokenizer.decoder = decoders.Sequence([decoders.Replace(UNIGRAM_SPACE, " "), decoders.ByteFallback(),
                                           decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = template(tokenizer, "<s>")
    return tokenizer


def metaspace_first():
    """As newer conversions of Llama 2 and Mistral write it."""
    tokenizer = train_sentencepiece(640, True, TRAINING, fuse_unk=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence([decoders.Replace(UNIGRAM_SPACE, " "), decoders.ByteFallback(),
                                           decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = template(tokenizer, "<s>", "</s>")
    return tokenizer


def metaspace_unknown(fuse):
    """No byte fallback: what the Latin training text lacks is unknown, fused or one by one."""
    latin = "".join(c for c in TRAINING if ord(c) < 0x180)
    tokenizer = train_sentencepiece(330, False, latin, fuse_unk=fuse)
    tokenizer.normalizer = normalizers.NFKC() if fuse else normalizers.NFD()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always" if fuse else "never")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always" if fuse else "never")
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=True)])
    return tokenizer


def partial_bytes():
    """Some byte tokens are missing, so that byte fallback and the unknown token alternate; no decoder."""
    fields = json.loads(train_sentencepiece(560, True, TRAINING).to_str())
    model = fields["model"]
    absent = [f"<0x{byte:02X}>" for byte in range(0x9C, 0xA8)]
    vocabulary = {piece: index for index, piece in enumerate(p for p in model["vocab"] if p not in absent)}
    kept = sorted(vocabulary, key=lambda piece: model["vocab"][piece])
    model["vocab"] = {piece: index for index, piece in enumerate(kept)}
    fields["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "}, "behavior": "Removed", "invert": False}
    fields["decoder"] = None
    return Tokenizer.from_str(json.dumps(fields))


def split_behaviors():
    """Every way to treat what a split matches, one after the other."""
    steps = [pre_tokenizers.Split(" ", "merged_with_next"), pre_tokenizers.Split(Regex(r"\p{P}"), "merged_with_previous"),
             pre_tokenizers.Split(Regex(r"\d+|\s"), "contiguous"), pre_tokenizers.Split(Regex(r"[^A-Za-z\s]+"), "isolated", True),
             pre_tokenizers.Split("\t", "removed"), pre_tokenizers.Digits(individual_digits=False)]
    tokenizer = train_byte_level(byte_level(*steps), 380)
    # In each piece: its first letter, its last, and those of its lines.
    tokenizer.pre_tokenizer = byte_level(
        pre_tokenizers.Split(Regex(r"^[A-Za-z]|\s+$|[a-z]\z|\A\s|\n^|$"), "isolated"), *steps)
    tokenizer.add_special_tokens(["<s>"])
    return tokenizer


KINDS = {
    "llama3": llama3, "gpt2": gpt2, "gpt4": gpt4, "qwen2": qwen2, "deepseek_coder": deepseek_coder,
    "prefix_space": prefix_space, "llama2": llama2, "metaspace_first": metaspace_first,
    "metaspace_fused_unknown": lambda: metaspace_unknown(True), "metaspace_unknown": lambda: metaspace_unknown(False),
    "partial_bytes": partial_bytes, "split_behaviors": split_behaviors,
}


def tokenizer_json(tokenizer, legacy_merges):
    fields = json.loads(tokenizer.to_str())
    if legacy_merges:
        fields["model"]["merges"] = [" ".join(pair) for pair in fields["model"]["merges"]]
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def cases(tokenizer):
    for text in CORPUS:
        tokenizer.encode_special_tokens = False
        case = {"ids": tokenizer.encode(text).ids}
        bare = tokenizer.encode(text, add_special_tokens=False).ids
        tokenizer.encode_special_tokens = True
        plain = tokenizer.encode(text).ids
        tokenizer.encode_special_tokens = False
        if bare != case["ids"]:
            case["bare"] = bare
        if plain != case["ids"]:
            case["plain"] = plain
        yield case


def decodings(tokenizer, chooser):
    size = tokenizer.get_vocab_size()
    for length in [0, 1, 1, 2, 2, 3, 5, 8, 13, 30] * 3:
        ids = [chooser.randrange(size if chooser.random() < 0.3 else min(size, 300)) for _ in range(length)]
        yield {"ids": ids, "skip": tokenizer.decode(ids), "keep": tokenizer.decode(ids, skip_special_tokens=False)}


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def main():
    goldens = HERE / "goldens"
    for number, (name, make) in enumerate(KINDS.items()):
        text = tokenizer_json(make(), legacy_merges=name in ("gpt2", "llama2"))
        (goldens / f"{name}.tokenizer.json").write_text(text + "\n")
        tokenizer = Tokenizer.from_str(text)
        write(goldens / f"{name}.expected.json", {
            "vocab_size": tokenizer.get_vocab_size(), "encode": list(cases(tokenizer)),
            "decode": list(decodings(tokenizer, random.Random(number)))})


if __name__ == "__main__":
    main()
