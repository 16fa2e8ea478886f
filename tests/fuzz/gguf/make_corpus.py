# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeds for the fuzzer of this folder: small files of every kind that the readers tell apart: python make_corpus.py
(needs gguf, numpy)"""
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as Type, GGUFWriter, TokenType
from gguf.quants import quantize

HERE = Path(__file__).resolve().parent / "corpus"
MODEL, INNER, VOCAB = 32, 32, 12


def add_byte_level(writer):
    tokens = ["H", "e", "l", "o", "Ġ", "He", "ll", "Ã", "©", "<s>", "</s>", "keep"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.NORMAL] * 9 + [TokenType.CONTROL] * 2 + [TokenType.USER_DEFINED])
    writer.add_token_merges(["H e", "l l"])
    writer.add_bos_token_id(9)
    writer.add_eos_token_id(10)
    writer.add_add_bos_token(True)
    writer.add_chat_template("{% for m in messages %}{{ m.role + ': ' + m.content }}{% endfor %}")


def add_sentence_pieces(writer):
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(["<unk>", "<s>", "</s>", "<0x0A>", "▁", "H", "e", "▁H", "He", "▁He", "l", "ll"])
    writer.add_token_scores([0, 0, 0, 0, -6, -7, -8, -1, -2, -3, -9, -4])
    writer.add_token_types([TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL, TokenType.BYTE] + [TokenType.NORMAL] * 8)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_eot_token_id(2)


def model(name, architecture, kinds, tokenizer, rope=False, tied=False, split=None):
    writer = GGUFWriter(HERE / name, architecture)
    writer.add_block_count(1)
    writer.add_context_length(16)
    writer.add_embedding_length(MODEL)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(2)
    writer.add_head_count_kv([1] if rope else 1)
    writer.add_layer_norm_rms_eps(1e-5)
    if split is not None:
        writer.add_uint16("split.no", 0)
        writer.add_uint16("split.count", split)
    tokenizer(writer)
    random = np.random.default_rng(1)
    shapes = {"token_embd": (VOCAB, MODEL), "blk.0.attn_norm": (MODEL,), "blk.0.attn_q": (MODEL, MODEL),
              "blk.0.attn_k": (MODEL // 2, MODEL), "blk.0.attn_v": (MODEL // 2, MODEL), "blk.0.attn_output": (MODEL, MODEL),
              "blk.0.ffn_norm": (MODEL,), "blk.0.ffn_gate": (INNER, MODEL), "blk.0.ffn_up": (INNER, MODEL),
              "blk.0.ffn_down": (MODEL, INNER), "output_norm": (MODEL,)}
    if not tied:
        shapes["output"] = (VOCAB, MODEL)
    for index, (tensor, shape) in enumerate(shapes.items()):
        values = random.standard_normal(shape, np.float32)
        kind = kinds[index % len(kinds)]
        if len(shape) == 1:
            writer.add_tensor(f"{tensor}.weight", values)
        else:
            writer.add_tensor(f"{tensor}.weight", quantize(values, kind), raw_dtype=kind)
    if architecture == "qwen2":
        for part, width in [("q", MODEL), ("k", MODEL // 2), ("v", MODEL // 2)]:
            writer.add_tensor(f"blk.0.attn_{part}.bias", np.zeros(width, np.float32))
    if rope:
        writer.add_tensor("rope_freqs.weight", np.ones(MODEL // 4, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    model("llama", "llama", [Type.Q4_0, Type.Q8_0, Type.Q5_1], add_byte_level, rope=True)
    model("qwen2", "qwen2", [Type.BF16], add_sentence_pieces, tied=True)
    model("mixed", "llama", [Type.Q4_1, Type.Q5_0, Type.F16], add_sentence_pieces)
    model("first_of_two", "llama", [Type.Q8_0], add_byte_level, split=2)
    model("mamba", "mamba", [Type.Q8_0], add_byte_level)
    whole = (HERE / "llama").read_bytes()
    (HERE / "big_endian").write_bytes(whole[:4] + whole[7:3:-1] + whole[8:600])
    (HERE / "cut_off").write_bytes(whole[:700])
    (HERE / "nested").write_bytes(b"GGUF\3\0\0\0" + bytes(8) + b"\1" + bytes(7) + b"\1" + bytes(7) + b"x" + b"\x09\0\0\0" +
                                  (b"\x09\0\0\0\1" + bytes(7)) * 6)
