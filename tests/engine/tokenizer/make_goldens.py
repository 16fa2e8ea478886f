# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes goldens/: small tokenizers of every kind, and what Hugging Face tokenizers makes of a nasty corpus.

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

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT4 = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]"
        r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
# The ranges end at characters that every font shows; U+9FA5 and so on in Hugging Face's files.
DEEPSEEK = [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"]

UNIGRAM_SPACE = "\u2581"


def corpus():
    yield from [
        "", " ", "  ", "   ", "\n", "\r\n", "\t", "a", "A", "0", "~", "\x00", "\x00\x01\x1f\x7f", "\u0080\u009f",
        "Hello, world!", " Hello, world! ", "  leading and trailing  ", "one  two   three    four     five",
        "tabs\tand\t\ttabs\t \t mixed", "line\nline\r\nline\rline\n\n\r\n\r\r\n end", "\n\n\n  \n\t\n x\n \n",
        "x \n y", "x\n ", "x \n", "x  \n\n  ", "\r\n" * 5 + "a" + "\n\r" * 3, " \u00a0 \u2003\u2009\u3000x\u202f\u205f",
        "\u0085\u2028\u2029a\u0085b\u2028c\u2029", "\u180e\u200b\ufeffa\u180eb\u200bc\ufeff", "\u1680x\u2000y\u200az",
        "\x0b\x0ca\x0bb\x0cc", "\x1c\x1d\x1e\x1fa\x1cb",
        "1 12 123 1234 12345 1234567890 00 3.14159 1,000,000 0x1F 1e-9", "١٢٣٤ ५६७ ½¾ ² ³ ⅷ Ⅻ ① ㊿ 𝟘𝟙𝟚 四",
        "don't DON'T won'T it's IT'S we've WE'VE they're THEY'RE I'm I'M she'll SHE'LL he'd HE'D y'all'd've",
        "it\u2019s we\u2019ve 's 't 're 've 'm 'll 'd 'S 'T 'RE 'VE 'M 'LL 'D", "x'\u017f x'\u017fa '\u017f \u017f '\u212a",
        "''s ''t '' ' 'x 'sx 'tx s's'", "a'b'c 'sd'm", "rock'n'roll o'clock",
        "e\u0301 \u00e9 e\u0301\u0323 e\u0323\u0301 \u1ec7 a\u0308\u0304 q\u0307\u0323 \u0301alone",
        "Z\u0351\u036b\u0343a\u0321\u034el\u0353g\u030ao\u0334", "\u0344 \u0958 \u2126 \u212b \ufb01 \ufdfa \u1e9b\u0323",
        "\u1100\u1161\u11a8 \uac01 \uac00\u11a8 한국어 조선말", "\u09c7\u09be \u0bc6\u0bbe বাংলা தமிழ் हिन्दी क्षत्रिय",
        "👨\u200d👩\u200d👧\u200d👦 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 🇩🇪🇫🇷 ☝🏿 ❤\ufe0f 1\ufe0f\u20e3", "🙂🚀🐛" * 3, "a🙂b 🙂c🙂 d",
        "שלום עולם! مرحبا بالعالم؟ \u202eRTL\u202c \u200fmark\u200e", "漢字とかな交じり文。カタカナ・ひらがな", "中文，没有空格的句子！",
        "你好world你好 world 你好", "ไทยไม่มีช่องว่าง ລາວ ខ្មែរ မြန်မာ", "Ελληνικά ΚΑΙ Ёжик İstanbul ıI ŒUVRE straße ẞ ǅ ʰ ª º",
        "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒮𝒸𝓇𝒾𝓅𝓉 𐌰𐌱 𓀀𓀁 \U00020000\U0002a6d6", "\u0378\u0379 \ufdd0\ufdef \ufffe\uffff \U000e0fff \U0010ffff",
        "\ue000\uf8ff\U000f0000\U0010fffd", "\ud7ff\ue000 \u07ff\u0800 \uffff\U00010000", "\ufffd\ufffd \ufffd",
        UNIGRAM_SPACE, UNIGRAM_SPACE * 3, f"a{UNIGRAM_SPACE}b", f" {UNIGRAM_SPACE} ", f"{UNIGRAM_SPACE}lone {UNIGRAM_SPACE}x",
        "<0x41> <0x0A> <0xE4> <0xFF>", "<unk> <s> </s>", "a<s>b</s>c", "<s>", "<s><s>", " <s> ", "<s>a", "a<s>", "<s",
        "<|begin_of_text|>a<|end_of_text|>", "x <|begin_of_text|> y", "<|begin_of_text", "<|begin_of_text|><|begin_of_text|>",
        "<|im_start|>user\nhi<|im_end|>\n", "a <mask> b", "a<mask>b", "  <mask>  ", "<mask><mask>", "x\n<mask>\ny",
        "a <right> b", "<right>  <right>x", "a <word> b", "a<word>b", "<word>", "_<word>", "(<word>)", "é<word>é", "\u0301<word>",
        "\u24b6<word>", "\u200d<word>", "<words>", "<word><word>", "<long> <long><er> <long><er", "caf\u00e9 cafe\u0301 CAFE",
        "naive na\u00efve nai\u0308ve", "  \u00a0<mask>\u3000 ", "a  keep  b", "keep", " keep ", "x keepsake keep",
        "```python\ndef f(x):\n    return x**2  # comment\n```", "if (a != b && c <= d) { ++i; } // done\n\t\t}\n",
        "#include <vector>\nstd::map<int, std::string> m{{1, \"a\"}};", "SELECT * FROM t WHERE a='b' AND c=\"d\"; -- x",
        "https://example.org/a?b=c&d=%20e#f user@example.org C:\\path\\to /usr/lib", "!!! ??? ... --- === *** ((([[[{{{}}}]]])))",
        "«quoted» “curly” ‘single’ „low“ –—―…·•‣", "$5 €10 £20 ¥30 50% 2+2=4 3×4÷2≠1 ∑∏∫√∞", "→←↑↓⇒∀∃∈∅ ♠♥♦♣ ✓✗ ░▒▓█",
        "a\u0000b\u0000\u0000c", "  " * 20 + "x", " " * 257, "\t" * 33 + "y", "a" * 300, "ab" * 120, "=" * 100,
        "the the the thethethe THE The tHE", "accepted_length(draft, target)", "supercalifragilisticexpialidocious",
        "MixedCaseIdentifiersAndSnake_case_ones__init__", "x1y2z3 a1b22c333 1a2b", "e\u0301" * 40,
        "\u0316\u0301" * 30, "\U0001f1e9" * 7,
    ]
    yield from [line for line in TRAINING.split("\n") if line][:12]
    yield TRAINING[-900:]
    # Random mixtures: every kind of character next to every other.
    chooser = random.Random(20240607)
    pool = (list(" \n\t\r'\"") * 3 + list("aAsStTzZ0159_-.!(") + ["\u00a0", "\u3000", "\u2028", "\u0301", "\u200d", "é", "ſ", "½",
            "中", "あ", "가", "ا", "ש", "Ж", "🙂", "🏽", "\u0378", "\uffff", "\x00", "\x7f", UNIGRAM_SPACE, "<s>", "<mask>",
            "<right>", "<word>", "keep", "'s", "'LL", "  ", "<|begin_of_text|>"])
    for length in [3, 5, 8, 13, 21, 34] * 8:
        yield "".join(chooser.choice(pool) for _ in range(length))


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


def cases(tokenizer, texts):
    for text in texts:
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
    goldens.mkdir(exist_ok=True)
    texts = list(corpus())
    write(goldens / "corpus.json", texts)
    for number, (name, make) in enumerate(KINDS.items()):
        text = tokenizer_json(make(), legacy_merges=name in ("gpt2", "llama2"))
        (goldens / f"{name}.tokenizer.json").write_text(text + "\n")
        tokenizer = Tokenizer.from_str(text)
        write(goldens / f"{name}.expected.json", {
            "vocab_size": tokenizer.get_vocab_size(), "encode": list(cases(tokenizer, texts)),
            "decode": list(decodings(tokenizer, random.Random(number)))})


if __name__ == "__main__":
    main()
