# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeds for gguf_fuzz: small files of every kind that the readers tell apart: python make_gguf_corpus.py
(needs gguf, numpy)"""
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as Type, GGUFWriter, RopeScalingType, TokenType
from gguf.quants import quantize

HERE = Path(__file__).resolve().parent / "corpus/gguf"
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


def add_runs(writer):
    """As Gemma's vocabulary: runs of spaces, no space before a text."""
    writer.add_tokenizer_model("llama")
    writer.add_token_list(["<pad>", "<eos>", "<bos>", "<unk>", "  ", "▁▁", "▁", "H", "e", "▁H", "He", "\n"])
    writer.add_token_scores([0, 0, 0, 0, -1000, 0, -6, -7, -8, -1, -2, 0])
    writer.add_token_types([TokenType.CONTROL] * 3 + [TokenType.UNKNOWN] + [TokenType.USER_DEFINED] * 2 + [TokenType.NORMAL] * 5 +
                           [TokenType.USER_DEFINED])
    writer.add_bos_token_id(2)
    writer.add_eos_token_id(1)
    writer.add_add_space_prefix(False)


def add_particulars(writer, architecture):
    """The keys that only some architectures have, each with another value than the default."""
    if architecture == "granite":
        writer.add_attention_scale(0.125)
        writer.add_embedding_scale(12.0)
        writer.add_residual_scale(0.22)
        writer.add_logit_scale(8.0)
    elif architecture == "phi3":
        writer.add_sliding_window(7)
        writer.add_rope_dimension_count(8)
        writer.add_rope_scaling_orig_ctx_len(8)
        writer.add_rope_scaling_attn_factors(1.25)
        writer.add_tensor("rope_factors_long.weight", np.array([1, 2, 3, 4], np.float32))
        writer.add_tensor("rope_factors_short.weight", np.ones(4, np.float32))
    elif architecture == "gemma3":
        writer.add_sliding_window(6)
        writer.add_attn_logit_softcapping(40.0)
        writer.add_final_logit_softcapping(20.0)
        writer.add_sliding_window_pattern([True])
        writer.add_rope_freq_base(1e6)
        writer.add_rope_freq_base_swa(1e4)
        writer.add_rope_scaling_type(RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(8.0)


def own_shapes(architecture, shapes):
    """The tensors of an architecture, made of Llama's."""
    if architecture == "phi3":
        fused = {"blk.0.attn_q": ("blk.0.attn_qkv", (2 * MODEL, MODEL)), "blk.0.ffn_up": ("blk.0.ffn_up", (2 * INNER, MODEL))}
        left_out = {"blk.0.attn_k", "blk.0.attn_v", "blk.0.ffn_gate"}
        return dict(fused.get(name, (name, shape)) for name, shape in shapes.items() if name not in left_out)
    if architecture == "gemma3":
        return {**shapes, "blk.0.post_attention_norm": (MODEL,), "blk.0.post_ffw_norm": (MODEL,),
                "blk.0.attn_q_norm": (MODEL // 2,), "blk.0.attn_k_norm": (MODEL // 2,)}
    return shapes


def model(name, architecture, kinds, tokenizer=None, rope=False, tied=False, split=None):
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
    if tokenizer is not None:
        tokenizer(writer)
    add_particulars(writer, architecture)
    random = np.random.default_rng(1)
    shapes = {"token_embd": (VOCAB, MODEL), "blk.0.attn_norm": (MODEL,), "blk.0.attn_q": (MODEL, MODEL),
              "blk.0.attn_k": (MODEL // 2, MODEL), "blk.0.attn_v": (MODEL // 2, MODEL), "blk.0.attn_output": (MODEL, MODEL),
              "blk.0.ffn_norm": (MODEL,), "blk.0.ffn_gate": (INNER, MODEL), "blk.0.ffn_up": (INNER, MODEL),
              "blk.0.ffn_down": (MODEL, INNER), "output_norm": (MODEL,)}
    if not tied:
        shapes["output"] = (VOCAB, MODEL)
    for index, (tensor, shape) in enumerate(own_shapes(architecture, shapes).items()):
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
    model("granite", "granite", [Type.Q4_0])
    model("phi3", "phi3", [Type.Q4_0, Type.Q5_0])
    model("gemma3", "gemma3", [Type.Q4_0], add_runs, tied=True)
    whole = (HERE / "llama").read_bytes()
    (HERE / "big_endian").write_bytes(whole[:4] + whole[7:3:-1] + whole[8:600])
    (HERE / "cut_off").write_bytes(whole[:700])
    (HERE / "nested").write_bytes(b"GGUF\3\0\0\0" + bytes(8) + b"\1" + bytes(7) + b"\1" + bytes(7) + b"x" + b"\x09\0\0\0" +
                                  (b"\x09\0\0\0\1" + bytes(7)) * 6)
