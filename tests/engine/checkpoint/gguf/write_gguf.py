# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a Hugging Face folder of the families llama, qwen2, qwen3 and olmo2 as a GGUF file, as llama.cpp's converter lays it out.

    python write_gguf.py FOLDER FILE.gguf [--type Q8_0] [--pre llama-bpe]        (needs the packages gguf, numpy)

Matrices keep their type unless --type names another that the package gguf quantises to; norms and biases are F32.
"""
import argparse
import json
import math
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType
from gguf.quants import quantize

NAMES = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
         "lm_head.weight": "output.weight"}
PARTS = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
         "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "self_attn.q_norm": "attn_q_norm",
         "self_attn.k_norm": "attn_k_norm"}
# Norms behind a sublayer in place of those before it.
OLMO2_PARTS = {**PARTS, "post_attention_layernorm": "post_attention_norm", "post_feedforward_layernorm": "post_ffw_norm"}
STORED = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}


def read_safetensors(path):
    """Name → (type, array; BF16 as its bits)."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = entry["dtype"], np.frombuffer(data[begin:end], STORED[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def wide(kind, values):
    if kind == "BF16":
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values.astype(np.float32)


def gguf_name(name, parts):
    if name in NAMES:
        return NAMES[name]
    layer, part, kind = name.removeprefix("model.layers.").split(".", 1)[0], name.split(".", 3)[3].rsplit(".", 1)[0], name.rsplit(".", 1)[1]
    return f"blk.{layer}.{parts[part]}.{kind}"


def in_pairs(values, heads):
    """Rows that rotate together side by side, as architecture llama has them."""
    return values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)


def add_matrix(writer, name, kind, values, wanted):
    if wanted is not None:
        writer.add_tensor(name, quantize(wide(kind, values), wanted), raw_dtype=wanted)
    elif kind == "BF16":
        writer.add_tensor(name, np.ascontiguousarray(values).view(np.uint8), raw_dtype=GGMLQuantizationType.BF16)
    else:
        writer.add_tensor(name, np.ascontiguousarray(values))


def llama3_divisors(rope, head_dim):
    """Hugging Face's formula (modeling_rope_utils.py): what a frequency is divided by."""
    low = rope["original_max_position_embeddings"] / rope["low_freq_factor"]
    high = rope["original_max_position_embeddings"] / rope["high_freq_factor"]
    divisors = []
    for pair in range(head_dim // 2):
        length = 2 * math.pi * rope["rope_theta"] ** (2 * pair / head_dim)
        smooth = (rope["original_max_position_embeddings"] / length - rope["low_freq_factor"]) / (
            rope["high_freq_factor"] - rope["low_freq_factor"])
        divisors.append(1 if length < high else rope["factor"] if length > low else
                        1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(divisors, np.float32)


def add_rope(writer, config, head_dim):
    rope = config.get("rope_scaling") or config.get("rope_parameters") or {}
    rope = {"rope_theta": config.get("rope_theta", 10000.0), **rope}
    kind = rope.get("rope_type", rope.get("type", "default"))
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(head_dim)
    if kind == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(rope, head_dim))
    elif kind in ("linear", "yarn"):
        from gguf import RopeScalingType
        writer.add_rope_scaling_type(RopeScalingType(kind))
        writer.add_rope_scaling_factor(rope["factor"])
        if kind == "yarn":
            writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    elif kind != "default":
        raise SystemExit(f"rope {kind} has no place in a GGUF file")


def add_tokenizer(writer, folder, pre):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    added = {token["id"]: token for token in tokenizer["added_tokens"]}
    tokens = {index: text for text, index in tokenizer["model"]["vocab"].items()}
    tokens.update((index, token["content"]) for index, token in added.items())
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list([tokens[index] for index in range(len(tokens))])
    writer.add_token_types([TokenType.NORMAL if index not in added else
                            TokenType.CONTROL if added[index]["special"] else TokenType.USER_DEFINED
                            for index in range(len(tokens))])
    writer.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in tokenizer["model"]["merges"]])


def write(folder, out, wanted=None, pre=None):
    folder = Path(folder)
    config = json.loads((folder / "config.json").read_text())
    architecture = {"LlamaForCausalLM": "llama", "Qwen2ForCausalLM": "qwen2", "Qwen3ForCausalLM": "qwen3",
                    "Olmo2ForCausalLM": "olmo2"}[config["architectures"][0]]
    parts = OLMO2_PARTS if architecture == "olmo2" else PARTS
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    writer = GGUFWriter(out, architecture)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    if isinstance(config.get("bos_token_id"), int):
        writer.add_bos_token_id(config["bos_token_id"])
    if isinstance(config.get("eos_token_id"), int):
        writer.add_eos_token_id(config["eos_token_id"])
    if pre is not None:
        add_tokenizer(writer, folder, pre)
    add_rope(writer, config, head_dim)
    for name, (kind, values) in read_safetensors(folder / "model.safetensors").items():
        if architecture == "llama" and ".q_proj." in name:
            values = in_pairs(values, heads)
        if architecture == "llama" and ".k_proj." in name:
            values = in_pairs(values, kv_heads)
        if values.ndim == 1:
            writer.add_tensor(gguf_name(name, parts), np.ascontiguousarray(wide(kind, values)))
        else:
            add_matrix(writer, gguf_name(name, parts), kind, values, wanted)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("out")
    parser.add_argument("--type", type=lambda name: GGMLQuantizationType[name])
    parser.add_argument("--pre")
    arguments = parser.parse_args()
    write(arguments.folder, arguments.out, arguments.type, arguments.pre)
