# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes goldens/NAME, packed checkpoints of one small layer, and goldens/NAME/plain, the same weights as plain numbers.

    python make_goldens.py          (needs numpy, ml_dtypes, safetensors)

Integers, zero points and scales are drawn here and packed as the packers of AutoAWQ and AutoGPTQ pack them; what a
checkpoint stands for is computed from what was drawn, by numpy in fp64, and rounded by ml_dtypes. So the tests hold the
reading of words to their writing. fp8 codes are random bytes, read by ml_dtypes.
"""
import json
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

GOLDENS = Path(__file__).resolve().parent / "goldens"
MODEL, INNER, KEYS, VOCAB = 32, 48, 16, 8
LAYER = "model.layers.0."
MATRICES = {"self_attn.q_proj": (MODEL, MODEL), "self_attn.k_proj": (KEYS, MODEL), "self_attn.v_proj": (KEYS, MODEL),
            "self_attn.o_proj": (MODEL, MODEL), "mlp.gate_proj": (INNER, MODEL), "mlp.up_proj": (INNER, MODEL),
            "mlp.down_proj": (MODEL, INNER)}
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": MODEL, "num_hidden_layers": 1,
          "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": INNER, "vocab_size": VOCAB,
          "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0}
AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


def pack(numbers, bits, order=None):
    """Words of int32 along the last axis; `order[i]` is the number in a word's place i."""
    each = 32 // bits
    order = order or list(range(each))
    words = np.zeros((numbers.shape[0], numbers.shape[1] // each), np.uint32)
    for word in range(words.shape[1]):
        for place, number in enumerate(order):
            words[:, word] |= numbers[:, word * each + number].astype(np.uint32) << np.uint32(bits * place)
    return words.view(np.int32)


def half_scales(random, shape):
    return (random.uniform(0.25, 4, shape) / 64).astype(np.float16)


def awq(random, outputs, inputs, group):
    count = inputs // group
    numbers = random.integers(0, 16, (inputs, outputs))
    zeros = random.integers(0, 16, (count, outputs))
    scales = half_scales(random, (count, outputs))
    of = np.arange(inputs) // group
    weights = (numbers - zeros[of]) * scales[of].astype(np.float64)
    return {"qweight": pack(numbers, 4, AWQ_ORDER), "qzeros": pack(zeros, 4, AWQ_ORDER), "scales": scales}, weights.T


def gptq(random, outputs, inputs, group, bits, shift, shuffled):
    count = inputs // group
    largest = (1 << bits) - 1
    numbers = random.integers(0, largest + 1, (inputs, outputs))
    # A zero point of 0 spills over its neighbours in the first version: its packer subtracts one.
    zeros = random.integers(shift, largest + 1, (count, outputs))
    scales = half_scales(random, (count, outputs))
    of = np.arange(inputs) // group
    if shuffled:
        random.shuffle(of)
    weights = (numbers - zeros[of]) * scales[of].astype(np.float64)
    packed = {"qweight": np.ascontiguousarray(pack(numbers.T, bits).T), "qzeros": pack(zeros - shift, bits),
              "scales": scales, "g_idx": of.astype(np.int32)}
    return packed, weights.T


def fp8(random, outputs, inputs, block, scale_name, scale_dtype, scale_shape):
    codes = random.integers(0, 256, (outputs, inputs), dtype=np.uint8)
    codes[(codes & 0x7F) == 0x7F] = 0x38  # not a number
    rows, columns = block or scale_shape and (1, inputs) or (outputs, inputs)
    extents = (-(-outputs // rows), -(-inputs // columns))
    scales = (random.uniform(0.25, 4, extents) / 1024).astype(scale_dtype)
    wide = np.repeat(np.repeat(scales, rows, 0), columns, 1)[:outputs, :inputs].astype(np.float32)
    values = codes.view(ml_dtypes.float8_e4m3fn)
    weights = values.astype(np.float32) * wide  # a library multiplies in fp32
    stored = scales if block or scale_shape else scales.reshape(())
    return {"weight": values, scale_name: stored}, weights


def compressed(strategy):
    weights = {"num_bits": 8, "type": "float", "symmetric": True, "strategy": strategy}
    return {"quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head"],
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": None}}}


BF16 = ml_dtypes.bfloat16
# name: (numbers of the plain tensors, quantization_config, the packer of a matrix)
FORMS = {
    "awq": (np.float16, {"quant_method": "awq", "bits": 4, "group_size": 16, "version": "GEMM", "zero_point": True},
            lambda r, o, i: awq(r, o, i, 16)),
    "awq-bf16": (BF16, {"quant_method": "awq", "bits": 4, "group_size": -1, "version": "gemm", "zero_point": True},
                 lambda r, o, i: awq(r, o, i, i)),
    "gptq": (BF16, {"quant_method": "gptq", "bits": 4, "group_size": 16, "desc_act": False, "sym": False},
             lambda r, o, i: gptq(r, o, i, 16, 4, 1, False)),
    "gptq-8-act": (np.float16, {"quant_method": "gptq", "bits": 8, "group_size": 8, "desc_act": True,
                                "checkpoint_format": "gptq_v2"}, lambda r, o, i: gptq(r, o, i, 8, 8, 0, True)),
    "fp8-block": (BF16, {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [12, 20]},
                  lambda r, o, i: fp8(r, o, i, (12, 20), "weight_scale_inv", np.float32, None)),
    "fp8-tensor": (BF16, {"quant_method": "fp8", "activation_scheme": "static"},
                   lambda r, o, i: fp8(r, o, i, None, "weight_scale", np.float32, None)),
    "fp8-channel": (BF16, compressed("channel"),
                    lambda r, o, i: fp8(r, o, i, None, "weight_scale", BF16, "channel")),
}


def write(folder, config, tensors):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})


def main():
    for seed, (name, (number, quantisation, packer)) in enumerate(FORMS.items()):
        random = np.random.default_rng(20261124 + seed)
        plain = {}
        for tensor, extents in {"model.embed_tokens.weight": (VOCAB, MODEL), "lm_head.weight": (VOCAB, MODEL),
                                "model.norm.weight": (MODEL,), LAYER + "input_layernorm.weight": (MODEL,),
                                LAYER + "post_attention_layernorm.weight": (MODEL,)}.items():
            plain[tensor] = random.standard_normal(extents).astype(np.float32).astype(number)
        packed = dict(plain)
        for module, (outputs, inputs) in MATRICES.items():
            tensors, weights = packer(random, outputs, inputs)
            packed |= {f"{LAYER}{module}.{part}": tensor for part, tensor in tensors.items()}
            plain[f"{LAYER}{module}.weight"] = np.ascontiguousarray(weights.astype(np.float32).astype(number))
        if name == "gptq":
            packed[LAYER + "mlp.up_proj.bias"] = np.zeros(INNER, np.float16)  # as its packer writes for all
        if name == "fp8-tensor":
            packed[LAYER + "mlp.up_proj.input_scale"] = np.array(0.5, np.float32)
        write(GOLDENS / name, CONFIG | {"quantization_config": quantisation}, packed)
        write(GOLDENS / name / "plain", CONFIG, plain)


main()
