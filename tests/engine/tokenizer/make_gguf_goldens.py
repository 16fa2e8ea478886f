# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes goldens/gguf.json: vocabularies as GGUF files hold them, and what Hugging Face's tokenizers makes of texts.

    python make_gguf_goldens.py      (needs tokenizers, sentencepiece, transformers; made with 0.23, 0.2.1, 5.x)

"byte_level": tokens and merges of one vocabulary, whose pieces cross whatever a rule may split, and by the names in
tokenizer.ggml.pre the ids of every text under that rule, as the tokenizer.json of a model of that name has it.
"sentence_pieces": tokens, scores and types of a SentencePiece model; its ids, those of tokenizers and of
transformers' conversion agree. "runs": the same of one in which runs of spaces and line ends are defined by the user, as
in Gemma's, without a space before a text. "fused_replace": texts of a decoder that replaces in the joined text.
"""
import io
import json
import random
import sys

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers.convert_slow_tokenizer import generate_merges

from make_goldens import CORPUS, DEEPSEEK, HERE, LLAMA3, QWEN2, TRAINING, UNIGRAM_SPACE, byte_level, write

CONTROL = ["<|begin|>", "<|end|>", "<|im_start|>"]
# Tokens that no merge makes: only a rule that takes whole pieces finds them.
UNMERGED = ["ĠHugging", "rocket"]

CASED = "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]%s[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]%s"
REST = r" ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = CASED % ("*", "+") + "|" + CASED % ("+", "*") + r"|\p{N}|" + REST
SUFFIX = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
GPT4O = CASED % ("*", "+") + SUFFIX + "|" + CASED % ("+", "*") + SUFFIX + r"|\p{N}{1,3}|" + REST
DEEPSEEK_V3 = [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
               r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
               r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]
# Ranges by code points, so that no editor composes them.
CASED_RANGES = """41-5A 61-7A B5 C0-D6 D8-F6 F8-1BA 1BC-1BF 1C4-293 295-2AF 370-373 376 377 37B-37D 37F 386 388-38A 38C
38E-3A1 3A3-3F5 3F7-481 48A-52F 531-556 10A0-10C5 13A0-13F5 13F8-13FD 1C90-1CBA 1CBD-1CBF 1D00-1D2B 1D6B-1D77
1D79-1D9A 1E00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D 1F50-1F57 1F59 1F5B 1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FBC 1FBE 1FC2-1FC4
1FC6-1FCC 1FD0-1FD3 1FD6-1FDB 1FE0-1FEC 1FF2-1FF4 1FF6-1FFC 2102 2107 210A-2113 2115 2119-211D 2124 2126 2128 212A-212D
212F-2134 2139 213C-213F 2145-2149 214E 2183 2184 2C00-2C7B 2C7E-2CE4 2CEB-2CEE 2CF2 2CF3 A640-A66D A680-A69B A722-A76F
A771-A787 A78B-A78E AB70-ABBF FB00-FB06 FB13-FB17 FF21-FF3A FF41-FF5A 10400-1044F 104B0-104D3 104D8-104FB 10C80-10CB2
10CC0-10CF2 118A0-118DF 1E900-1E943"""
CASED_LETTERS = "".join("-".join(chr(int(end, 16)) for end in part.split("-")) for part in CASED_RANGES.split())
DEEPSEEK_LLM = [r"[\r\n]", rf"\s?[{CASED_LETTERS}]+", "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
                r"\s+$", DEEPSEEK[3]]
LLAMA_CPP = [r"[\p{P}\$\+<=>\^~\|]+", r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)", r"\p{N}+",
             r"[0-9][0-9][0-9]"]
SEED_CODER = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+"
              r"|\s+(?!\S)|\s+")
DIGITS = pre_tokenizers.Digits(individual_digits=True)

# (pre-tokenizer, normalizer, ignore_merges)
RULES = {
    "gpt-2": (byte_level(regex=True), None, False),
    "smollm": (byte_level(DIGITS, regex=True), None, False),
    "llama-bpe": (byte_level(LLAMA3), None, True),
    "dbrx": (byte_level(LLAMA3), None, False),
    "qwen2": (byte_level(QWEN2), normalizers.NFC(), False),
    "tekken": (byte_level(TEKKEN), None, True),
    "gpt-4o": (byte_level(GPT4O), None, False),
    "deepseek-llm": (byte_level(*DEEPSEEK_LLM, DIGITS), None, False),
    "deepseek-coder": (byte_level(*DEEPSEEK, DIGITS), None, False),
    "deepseek-v3": (byte_level(*DEEPSEEK_V3), None, False),
    "seed-coder": (byte_level(SEED_CODER), None, False),
    "default": (byte_level(*LLAMA_CPP), None, False),
}


def texts():
    """The nasty corpus, its long runs cut; and mixtures in which every kind stands beside every other."""
    nasty = [text[:90] for text in CORPUS if "mask" not in text and "word" not in text]
    yield from dict.fromkeys(nasty)
    yield from ["a Hugging rocket", "rocket Hugging\nHugging rockets", "<|begin|> a<|end|><|begin|>"]
    chooser = random.Random(20261123)
    pool = list("  \n\t\r'aSzÉß1٣½.,!$`(“中かо가\u0301\u3000\u2028ǅʰªﬁ🙂\u1f7d\u2126\U00010400") + ["'s", "'LL", "Don't", "HTTPServer", "12345"]
    for length in [4, 9, 16] * 12:
        yield "".join(chooser.choice(pool) for _ in range(length))


def byte_level_goldens(samples):
    """Trained without a split, so that pieces hold spaces, digits, signs and line ends beside letters."""
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    lines = TRAINING.splitlines(keepends=True) + list(samples)
    trained.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=700, show_progress=False,
                                                           initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    model = json.loads(trained.to_str())["model"]
    merges = [pair if isinstance(pair, str) else " ".join(pair) for pair in model["merges"]]
    tokens = sorted(model["vocab"], key=model["vocab"].get) + UNMERGED
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokens += CONTROL
    assert len(set(tokens)) == len(tokens)
    rules = {}
    for name, (splits, normalizer, ignore_merges) in RULES.items():
        tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[tuple(merge.split(" ")) for merge in merges],
                                         ignore_merges=ignore_merges))
        tokenizer.pre_tokenizer = splits
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in CONTROL])
        rules[name] = [tokenizer.encode(text).ids for text in samples]
    return {"tokens": tokens, "merges": merges, "control": CONTROL, "rules": rules}


def train_sentence_pieces():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TRAINING.splitlines()), model_writer=model, model_type="bpe", vocab_size=620,
        byte_fallback=True, normalization_rule_name="identity", add_dummy_prefix=True, remove_extra_whitespaces=False,
        character_coverage=0.98, split_digits=True, user_defined_symbols=["<tool>"], minloglevel=2)
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def converted(tokens, scores, types, prefix=True):
    """As transformers makes a fast tokenizer of a SentencePiece model: Llama 2's stages, or Gemma's without the prefix."""
    vocabulary = {token: index for index, token in enumerate(tokens)}
    merges = generate_merges(vocabulary, {token: scores[index] for token, index in vocabulary.items()})
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(UNIGRAM_SPACE)] * prefix +
                                                [normalizers.Replace(" ", UNIGRAM_SPACE)])
    tokenizer.decoder = decoders.Sequence([decoders.Replace(UNIGRAM_SPACE, " "), decoders.ByteFallback(), decoders.Fuse()] +
                                          [decoders.Strip(" ", 1, 0)] * prefix)
    tokenizer.add_special_tokens([AddedToken(tokens[i], special=True, normalized=False) for i, kind in enumerate(types) if kind in (2, 3)])
    tokenizer.add_tokens([AddedToken(tokens[i], special=False, normalized=False) for i, kind in enumerate(types) if kind == 4])
    return tokenizer


def sentence_piece_goldens(samples):
    pieces = train_sentence_pieces()
    size = pieces.get_piece_size()
    tokens = [pieces.id_to_piece(i) for i in range(size)]
    scores = [pieces.get_score(i) for i in range(size)]
    # gguf's numbers: unknown 2, control 3, user-defined 4, byte 6.
    types = [2 if pieces.is_unknown(i) else 3 if pieces.is_control(i) else 6 if pieces.is_byte(i) else
             4 if tokens[i] == "<tool>" else 1 for i in range(size)]
    tokenizer = converted(tokens, scores, types)
    ids, decoded = [], []
    for text in samples:
        found = tokenizer.encode(text).ids
        # SentencePiece has no word for special tokens in a text, and reads a zero byte and its own mark in its own way.
        if not any(mark in text for mark in ("<s>", "</s>", "<unk>", "<tool>", "\0")):
            expected = pieces.encode(text)
            if expected != found:
                print("differs from sentencepiece:", ascii(text), file=sys.stderr)
        ids.append(found)
        decoded.append(tokenizer.decode(found))
    return {"tokens": tokens, "scores": scores, "types": types, "ids": ids, "decoded": decoded}


RUNS = ["\n" * n for n in range(1, 5)] + [UNIGRAM_SPACE * n for n in range(2, 7)]


def run_goldens():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TRAINING.splitlines()), model_writer=model, model_type="bpe", vocab_size=480,
        byte_fallback=True, normalization_rule_name="identity", add_dummy_prefix=False, remove_extra_whitespaces=False,
        character_coverage=0.98, split_digits=True, user_defined_symbols=RUNS, minloglevel=2)
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    size = pieces.get_piece_size()
    tokens = [pieces.id_to_piece(i) for i in range(size)]
    scores = [pieces.get_score(i) for i in range(size)]
    types = [2 if pieces.is_unknown(i) else 3 if pieces.is_control(i) else 6 if pieces.is_byte(i) else
             4 if tokens[i] in RUNS else 1 for i in range(size)]
    tokenizer = converted(tokens, scores, types, prefix=False)
    samples = ["the file", " the file", "a  b", "if a:\n    return b\n\n\nend", "\n\n  x\n\t y", "a" + " " * 6 + "b"]
    samples += [" " * n + "return" for n in range(2, 15)] + ["x" + "\n" * n + "y" for n in range(3, 11)]
    for text in samples:
        if pieces.encode(text) != tokenizer.encode(text).ids:
            print("differs from sentencepiece:", ascii(text), file=sys.stderr)
    ids = [tokenizer.encode(text).ids for text in samples]
    assert all(tokenizer.decode(each) == text for each, text in zip(ids, samples))
    return {"tokens": tokens, "scores": scores, "types": types, "texts": samples, "ids": ids}


def fused_replace_goldens():
    """Llama 2's tokenizer with the decoder that transformers gives tokenizers that it reads from GGUF files."""
    fields = json.loads((HERE / "goldens/llama2.tokenizer.json").read_text())
    tokenizer = Tokenizer.from_str(json.dumps(fields))
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse(), decoders.Replace(UNIGRAM_SPACE, " "),
                                           decoders.Strip(" ", 1, 0)])
    chooser = random.Random(3)
    mark = [tokenizer.token_to_id(f"<0x{byte:02X}>") for byte in UNIGRAM_SPACE.encode()]
    cases = [mark + [300], [300] + mark + mark, mark[:2] + [300]]
    for length in [1, 2, 5, 9, 17] * 6:
        cases.append([chooser.randrange(tokenizer.get_vocab_size()) for _ in range(length)])
    return {"decoder": json.loads(tokenizer.to_str())["decoder"],
            "cases": [{"ids": ids, "text": tokenizer.decode(ids)} for ids in cases]}


if __name__ == "__main__":
    samples = list(texts())
    spm = samples + ["<tool>a <tool> b", "x<s>y </s>", "<tool><tool>"]
    write(HERE / "goldens/gguf.json", {"texts": samples, "byte_level": byte_level_goldens(samples),
                                       "sentence_piece_texts": spm, "sentence_pieces": sentence_piece_goldens(spm),
                                       "runs": run_goldens(), "fused_replace": fused_replace_goldens()})
