# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes goldens/NAME, packed checkpoints of one small layer, and goldens/NAME/plain.safetensors, the same weights as plain numbers.

    python make_goldens.py          (needs numpy, ml_dtypes, safetensors; check_goldens.py holds it to other packages)

Forms of compressed-tensors, ModelOpt and MLX are written from their descriptions; numbers of 4 and 8 bits are those of
ml_dtypes. Integers, zero points and scales are drawn here and packed as the packers of AutoAWQ and AutoGPTQ pack them; what a
checkpoint stands for is computed from what was drawn, by numpy in fp64, and rounded by ml_dtypes. So the tests hold the
reading of words to their writing. fp8 codes are random bytes, read by ml_dtypes.
"""
import json
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

GOLDENS = Path(__file__).resolve().parent / "goldens"
MODEL, KEYS, VOCAB = 32, 16, 8
LAYER = "model.layers.0."


def matrices(inner):
    return {"self_attn.q_proj": (MODEL, MODEL), "self_attn.k_proj": (KEYS, MODEL), "self_attn.v_proj": (KEYS, MODEL),
            "self_attn.o_proj": (MODEL, MODEL), "mlp.gate_proj": (inner, MODEL), "mlp.up_proj": (inner, MODEL),
            "mlp.down_proj": (MODEL, inner)}


CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": MODEL, "num_hidden_layers": 1,
          "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 48, "vocab_size": VOCAB,
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


def integers(random, outputs, inputs, group, bits, scale_dtype, asymmetric, words=True, shuffled=False):
    """compressed-tensors: words have what the integers are above the smallest; zero points lie along the outputs."""
    count, half = inputs // group, 1 << (bits - 1)
    numbers = random.integers(-half, half, (outputs, inputs))
    zeros = random.integers(-half, half, (outputs, count)) * asymmetric
    scales = (random.uniform(0.25, 4, (outputs, count)) / 64).astype(scale_dtype)
    of = np.arange(inputs) // group
    if shuffled:
        random.shuffle(of)
    weights = (numbers - zeros[:, of]) * scales.astype(np.float64)[:, of]
    packed = {"weight_scale": scales}
    if words:
        packed |= {"weight_packed": pack(numbers + half, bits), "weight_shape": np.array([outputs, inputs], np.int64)}
    else:
        packed["weight"] = numbers.astype(np.int8)
    if asymmetric:
        packed["weight_zero_point"] = (np.ascontiguousarray(pack((zeros + half).T, bits).T) if words
                                       else zeros.astype(np.int8))
    if shuffled:
        packed["weight_g_idx"] = of.astype(np.int32)
    return packed, weights


def nibbles(codes):
    return (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8)


def floats(random, outputs, inputs, group, bits, scale_kind, names, factor=None):
    """Floating-point codes with a coded scale; `factor` makes fp32 scales of those and of the stored global one."""
    count = inputs // group
    codes = random.integers(0, 1 << bits, (outputs, inputs), dtype=np.uint8)
    if bits == 8:
        codes[(codes & 0x7F) == 0x7F] = 0x38  # not a number
    scale_codes = (random.integers(0, 0x7F, (outputs, count), dtype=np.uint8) if scale_kind == "e4m3"
                   else random.integers(110, 130, (outputs, count), dtype=np.uint8))
    scale_codes[0, 0] = 1 if scale_kind == "e4m3" else 0  # the smallest
    scales = scale_codes.view(ml_dtypes.float8_e4m3fn if scale_kind == "e4m3" else ml_dtypes.float8_e8m0fnu).astype(np.float32)
    stored_scales = scale_codes.view(ml_dtypes.float8_e4m3fn) if scale_kind == "e4m3" else scale_codes
    values, scale, whole = names
    packed = {scale: stored_scales}
    if factor:
        stored, scales = factor(random, scales)
        packed[whole] = stored
    numbers = codes.view(ml_dtypes.float4_e2m1fn if bits == 4 else ml_dtypes.float8_e4m3fn).astype(np.float32)
    packed[values] = nibbles(codes) if bits == 4 else codes.view(ml_dtypes.float8_e4m3fn)
    return packed, numbers * np.repeat(scales, group, 1)


def divided(random, scales):
    whole = np.array([random.uniform(100, 9000)], np.float32)
    return whole, scales / whole


def multiplied(random, scales):
    whole = np.array(random.uniform(1e-4, 1e-2), np.float32)
    return whole, scales * whole


def mlx(random, outputs, inputs, group, bits, scale_dtype):
    count = inputs // group
    numbers = random.integers(0, 1 << bits, (outputs, inputs))
    scales = (random.uniform(-4, 4, (outputs, count)) / 64).astype(scale_dtype)
    minima = random.uniform(-1, 1, (outputs, count)).astype(scale_dtype)
    weights = (numbers.astype(np.float32) * np.repeat(scales.astype(np.float32), group, 1)
               + np.repeat(minima.astype(np.float32), group, 1))
    return {"weight": pack(numbers, bits).view(np.uint32), "scales": scales, "biases": minima}, weights


def compressed(strategy, layout="float-quantized", bits=8, **fields):
    kind = "int" if layout in ("pack-quantized", "int-quantized") else "float"
    weights = {"num_bits": bits, "type": kind, "symmetric": True, "strategy": strategy, "dynamic": False} | fields
    if layout == "float-quantized":
        del weights["dynamic"]
    return {"quant_method": "compressed-tensors", "format": layout, "ignore": ["lm_head"],
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
    "pack-4": (BF16, compressed("group", "pack-quantized", 4, group_size=16, symmetric=False),
               lambda r, o, i: integers(r, o, i, 16, 4, BF16, True)),
    "pack-4-order": (np.float16, compressed("group", "pack-quantized", 4, group_size=8, actorder="group"),
                     lambda r, o, i: integers(r, o, i, 8, 4, np.float16, False, shuffled=True)),
    "pack-8": (BF16, compressed("channel", "pack-quantized", 8),
               lambda r, o, i: integers(r, o, i, i, 8, BF16, False)),
    "int-8": (BF16, compressed("channel", "int-quantized", 8, symmetric=False),
              lambda r, o, i: integers(r, o, i, i, 8, np.float32, True, words=False)),
    "nvfp4": (BF16, compressed("tensor_group", "nvfp4-pack-quantized", 4, group_size=16),
              lambda r, o, i: floats(r, o, i, 16, 4, "e4m3", ("weight_packed", "weight_scale", "weight_global_scale"), divided)),
    "mxfp4": (BF16, compressed("group", "mxfp4-pack-quantized", 4, group_size=32),
              lambda r, o, i: floats(r, o, i, 32, 4, "e8m0", ("weight_packed", "weight_scale", None))),
    "mxfp8": (BF16, compressed("group", "mxfp8-quantized", 8, group_size=32),
              lambda r, o, i: floats(r, o, i, 32, 8, "e8m0", ("weight", "weight_scale", None))),
    "modelopt-nvfp4": (BF16, {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"],
                              "kv_cache_scheme": {"num_bits": 8, "type": "float"}},
                       lambda r, o, i: floats(r, o, i, 16, 4, "e4m3", ("weight", "weight_scale", "weight_scale_2"), multiplied)),
    "mlx-4": (np.float16, {"group_size": 32, "bits": 4, "model.embed_tokens": {"group_size": 16, "bits": 8}, "lm_head": False},
              lambda r, o, i: mlx(r, o, i, 32, 4, np.float16)),
}
INNER = {name: 64 for name in ("mxfp4", "mxfp8", "mlx-4")}  # a multiple of the group


def main():
    for seed, (name, (number, quantisation, packer)) in enumerate(FORMS.items()):
        random = np.random.default_rng(20261124 + seed)
        plain = {}
        for tensor, extents in {"model.embed_tokens.weight": (VOCAB, MODEL), "lm_head.weight": (VOCAB, MODEL),
                                "model.norm.weight": (MODEL,), LAYER + "input_layernorm.weight": (MODEL,),
                                LAYER + "post_attention_layernorm.weight": (MODEL,)}.items():
            plain[tensor] = random.standard_normal(extents).astype(np.float32).astype(number)
        packed = dict(plain)
        inner = INNER.get(name, 48)
        config = CONFIG | {"intermediate_size": inner}
        for module, (outputs, inputs) in matrices(inner).items():
            tensors, weights = packer(random, outputs, inputs)
            packed |= {f"{LAYER}{module}.{part}": tensor for part, tensor in tensors.items()}
            plain[f"{LAYER}{module}.weight"] = np.ascontiguousarray(weights.astype(np.float32).astype(number))
        if name == "gptq":
            packed[LAYER + "mlp.up_proj.bias"] = np.zeros(inner, np.float16)  # as its packer writes for all
        if name == "fp8-tensor":
            packed[LAYER + "mlp.up_proj.input_scale"] = np.array(0.5, np.float32)
        if name == "mlx-4":
            table = "model.embed_tokens"
            tensors, weights = mlx(random, VOCAB, MODEL, 16, 8, number)
            del packed[f"{table}.weight"]
            packed |= {f"{table}.{part}": tensor for part, tensor in tensors.items()}
            plain[f"{table}.weight"] = weights.astype(number)
        key = "quantization" if name.startswith("mlx") else "quantization_config"
        folder = GOLDENS / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config | {key: quantisation}) + "\n")
        save_file(packed, folder / "model.safetensors", {"format": "pt"})
        save_file(plain, folder / "plain.safetensors", {"format": "pt"})


main()
