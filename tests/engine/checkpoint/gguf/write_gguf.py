# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a Hugging Face folder as a GGUF file, as llama.cpp's converter lays it out.

    python write_gguf.py FOLDER FILE.gguf [--type Q8_0] [--pre llama-bpe]        (needs the packages gguf, numpy)

Families: those of ARCHITECTURES. Names of tensors and keys are those of the package gguf. Matrices keep their type
unless --type names another that the package quantises to; norms and biases are F32.
"""
import argparse
import json
import math
from pathlib import Path

import numpy as np
from gguf import MODEL_ARCH, MODEL_ARCH_NAMES, GGMLQuantizationType, GGUFWriter, RopeScalingType, TokenType, get_tensor_name_map
from gguf.quants import quantize

ARCHITECTURES = {"LlamaForCausalLM": MODEL_ARCH.LLAMA, "Qwen2ForCausalLM": MODEL_ARCH.QWEN2, "Qwen3ForCausalLM": MODEL_ARCH.QWEN3,
                 "Olmo2ForCausalLM": MODEL_ARCH.OLMO2, "GraniteForCausalLM": MODEL_ARCH.GRANITE,
                 "SmolLM3ForCausalLM": MODEL_ARCH.SMOLLM3, "Phi3ForCausalLM": MODEL_ARCH.PHI3,
                 "Gemma2ForCausalLM": MODEL_ARCH.GEMMA2, "Gemma3ForCausalLM": MODEL_ARCH.GEMMA3,
                 "Exaone4ForCausalLM": MODEL_ARCH.EXAONE4, "HunYuanDenseV1ForCausalLM": MODEL_ARCH.HUNYUAN_DENSE,
                 "ArceeForCausalLM": MODEL_ARCH.ARCEE, "ApertusForCausalLM": MODEL_ARCH.APERTUS,
                 "Ministral3ForCausalLM": MODEL_ARCH.MISTRAL3}
PAIRED = {MODEL_ARCH.LLAMA, MODEL_ARCH.GRANITE, MODEL_ARCH.SMOLLM3, MODEL_ARCH.ARCEE, MODEL_ARCH.MISTRAL3}
ADDS_ONE = {MODEL_ARCH.GEMMA2, MODEL_ARCH.GEMMA3}  # to norms' weights
WINDOW_INTERVAL = {MODEL_ARCH.GEMMA2: 2, MODEL_ARCH.GEMMA3: 6}  # of readers, where a file says nothing
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


def add_longrope(writer, config, rope):
    original = rope["original_max_position_embeddings"]
    scale = config["max_position_embeddings"] / original
    writer.add_rope_scaling_orig_ctx_len(original)
    writer.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(scale) / math.log(original)) if scale > 1 else 1.0)
    for length in "long", "short":
        writer.add_tensor(f"rope_factors_{length}.weight", np.array(rope[f"{length}_factor"], np.float32))


def add_rope(writer, config, head_dim):
    rope = config.get("rope_scaling") or config.get("rope_parameters") or {}
    if "sliding_attention" in rope:
        writer.add_rope_freq_base_swa(rope["sliding_attention"]["rope_theta"])
    rope = {"rope_theta": config.get("rope_theta", 10000.0), **rope.get("full_attention", rope)}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if rope.get("alpha"):
        kind = "default"
        rope["rope_theta"] *= rope["alpha"] ** (head_dim / (head_dim - 2))
    writer.add_rope_freq_base(rope["rope_theta"])
    writer.add_rope_dimension_count(int(rope.get("partial_rotary_factor", 1.0) * head_dim))
    if kind == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_divisors(rope, head_dim))
    elif kind == "longrope":
        add_longrope(writer, config, rope)
    elif kind in ("linear", "yarn"):
        writer.add_rope_scaling_type(RopeScalingType(kind))
        writer.add_rope_scaling_factor(rope["factor"])
        if kind == "yarn":
            writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        if "mscale_all_dim" in rope:
            writer.add_rope_scaling_yarn_log_mul(rope["mscale_all_dim"])
        if "llama_4_scaling_beta" in rope:
            writer.add_attn_temperature_scale(rope["llama_4_scaling_beta"])
    elif kind != "default":
        raise SystemExit(f"rope {kind} has no place in a GGUF file")


def add_particulars(writer, config, architecture, head_dim):
    if architecture == MODEL_ARCH.GRANITE:
        writer.add_attention_scale(config["attention_multiplier"])
        writer.add_embedding_scale(config["embedding_multiplier"])
        writer.add_residual_scale(config["residual_multiplier"])
        writer.add_logit_scale(config["logits_scaling"])
    elif architecture == MODEL_ARCH.PHI3:
        writer.add_sliding_window(config["sliding_window"] or 0)
    elif architecture == MODEL_ARCH.EXAONE4:
        writer.add_sliding_window(config["sliding_window"])
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config["layer_types"]])
    elif architecture in ADDS_ONE:
        writer.add_sliding_window(config["sliding_window"])
        windows = [kind == "sliding_attention" for kind in config["layer_types"]]
        if windows != [(i + 1) % WINDOW_INTERVAL[architecture] != 0 for i in range(len(windows))]:
            writer.add_sliding_window_pattern(windows)
        if config["attn_logit_softcapping"]:
            writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        if config["final_logit_softcapping"]:
            writer.add_final_logit_softcapping(config["final_logit_softcapping"])
        # No published model needs the key, and converters write none.
        if config["query_pre_attn_scalar"] != head_dim:
            writer.add_attention_scale(config["query_pre_attn_scalar"] ** -0.5)


def add_xielu(writer, tensors, layers):
    """Moves the activations' numbers to the metadata."""
    for number, add in (("alpha_p", writer.add_xielu_alpha_p), ("alpha_n", writer.add_xielu_alpha_n),
                        ("beta", writer.add_xielu_beta), ("eps", writer.add_xielu_eps)):
        stored = (tensors.pop(f"model.layers.{layer}.mlp.act_fn.{number}") for layer in range(layers))
        add([float(wide(kind, values).reshape(())) for kind, values in stored])


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
    architecture = ARCHITECTURES[config["architectures"][0]]
    names = get_tensor_name_map(architecture, config["num_hidden_layers"])
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    writer = GGUFWriter(out, MODEL_ARCH_NAMES[architecture])
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
    add_particulars(writer, config, architecture, head_dim)
    add_rope(writer, config, head_dim)
    tensors = read_safetensors(folder / "model.safetensors")
    if architecture == MODEL_ARCH.APERTUS:
        add_xielu(writer, tensors, config["num_hidden_layers"])
    for name, (kind, values) in tensors.items():
        if architecture in PAIRED and ".q_proj." in name:
            values = in_pairs(values, heads)
        if architecture in PAIRED and ".k_proj." in name:
            values = in_pairs(values, kv_heads)
        stored_name = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if values.ndim == 1:
            one = np.float32(architecture in ADDS_ONE and name.endswith("norm.weight"))
            writer.add_tensor(stored_name, np.ascontiguousarray(wide(kind, values) + one))
        else:
            add_matrix(writer, stored_name, kind, values, wanted)
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
