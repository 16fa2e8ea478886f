# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeds for the fuzzers of checkpoints, small and of every kind the parsers tell apart: python make_safetensors_corpus.py"""
import json
import struct
from pathlib import Path

here = Path(__file__).parent / "corpus/safetensors"


def header(name, text, data=b""):
    encoded = text.encode()
    (here / "header" / name).write_bytes(struct.pack("<Q", len(encoded)) + encoded + data)


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


header("empty_object", "{}")
header("padded", "{}      ")
header("metadata", json.dumps({"__metadata__": {"format": "pt"}}))
header("one", json.dumps({"t": entry("BF16", [2, 2], 0, 8)}), bytes(8))
header("three", json.dumps({"__metadata__": {"format": "pt"}, "b": entry("F32", [1], 0, 4),
                            "a": entry("F16", [3], 4, 10), "c": entry("U8", [], 10, 11)}), bytes(11))
header("empty_tensor", json.dumps({"t": entry("I64", [0, 9], 0, 0)}))
header("overlap", json.dumps({"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 1, 3)}), bytes(3))
header("hole", json.dumps({"a": entry("U8", [1], 1, 2)}), bytes(2))
header("overflow", json.dumps({"a": entry("F32", [1 << 62, 8], 0, 4)}), bytes(4))
header("four_bits", json.dumps({"a": entry("F4", [4], 0, 2)}), bytes(2))
header("nested", '{"t":[[[[')
header("escapes", '{"\\u0000\\n\\ud83d\\ude00":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}', bytes(4))
(here / "header" / "length_too_large").write_bytes(b"\xff" * 8 + b"{}")
(here / "header" / "short").write_bytes(b"\x02\x00")

base = {"architectures": ["LlamaForCausalLM"], "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
        "num_key_value_heads": 1, "intermediate_size": 12, "vocab_size": 10}


def config(name, generation=None, **fields):
    text = json.dumps(base | fields).encode()
    (here / "config" / name).write_bytes(text if generation is None else text + b"\0" + generation.encode())


config("llama")
config("mistral", architectures=["MistralForCausalLM"], sliding_window=None)
config("qwen2", architectures=["Qwen2ForCausalLM"], use_sliding_window=True, max_window_layers=0,
       layer_types=["sliding_attention"] * 2)
config("llama3", rope_theta=5e5, rope_scaling={"rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
                                               "high_freq_factor": 4, "original_max_position_embeddings": 8})
config("yarn", rope_parameters={"rope_type": "yarn", "rope_theta": 1e4, "factor": None, "beta_fast": 32,
                                "beta_slow": 1, "mscale": 1, "mscale_all_dim": 1, "truncate": False,
                                "attention_factor": 1.2, "original_max_position_embeddings": 16})
config("linear", rope_scaling={"type": "linear", "factor": 4.0}, attention_bias=True, mlp_bias=True)
config("dynamic", rope_scaling={"type": "dynamic", "factor": 2.0}, head_dim=6, hidden_act="silu")
config("generation", '{"eos_token_id": [1, 2]}', eos_token_id=[2, 3], bos_token_id=1)
config("defaults_outside_vocabulary", vocab_size=1)
config("awq", quantization_config={"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm"})
config("gptq", quantization_config={"quant_method": "gptq", "bits": 8, "group_size": -1, "checkpoint_format": "gptq_v2"})
config("fp8", quantization_config={"quant_method": "fp8", "weight_block_size": [128, 128]})
config("compressed", quantization_config={
    "quant_method": "compressed-tensors", "format": "float-quantized",
    "config_groups": {"group_0": {"weights": {"type": "float", "num_bits": 8, "strategy": "channel"}}}})
config("pack_quantized", quantization_config={
    "quant_method": "compressed-tensors", "format": "pack-quantized",
    "config_groups": {"group_0": {"weights": {"type": "int", "num_bits": 4, "strategy": "group", "group_size": 32,
                                              "symmetric": False, "actorder": "group"}}}})
config("nvfp4", quantization_config={"quant_method": "modelopt", "quant_algo": "NVFP4", "group_size": 16})
config("auto_round", quantization_config={"quant_method": "auto-round", "bits": 4, "group_size": 128,
                                          "packing_format": "auto_round:auto_gptq",
                                          "extra_config": {"lm_head": {"bits": 16}}})
config("mlx", quantization={"group_size": 64, "bits": 4, "mode": "affine", "lm_head": {"bits": 8}, "model.norm": False})
config("repeated", '{"a": 1, "a": 2}')
