# SPDX-License-Identifier: GPL-3.0-or-later
"""Holds goldens/NAME/plain.safetensors, which make_goldens.py writes from descriptions, to what other packages read from goldens/NAME.

    python check_goldens.py         (needs torch, compressed-tensors, mlx with its CPU part, safetensors)

compressed-tensors decompresses its own formats; mlx.core.dequantize reads MLX's. Weights must be equal once they are rounded
to the type of the plain tensors. Run with compressed-tensors 0.20.1 and mlx 0.32.4: all are.
"""
import json
import sys
from pathlib import Path

import torch
from compressed_tensors.compressors import BaseCompressor
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from safetensors.torch import load_file

GOLDENS = Path(__file__).resolve().parent / "goldens"


def by_module(tensors):
    modules = {}
    for name, tensor in tensors.items():
        module, part = name.rsplit(".", 1)
        modules.setdefault(module, {})[part] = tensor
    return modules


def decompressed(parts, config):
    group = config["config_groups"]["group_0"]
    scheme = QuantizationScheme(targets=group["targets"], weights=QuantizationArgs(**group["weights"]))
    wide = {name: tensor.float() if name in ("weight_scale", "weight_global_scale") and tensor.is_floating_point()
            else tensor for name, tensor in parts.items()}
    return BaseCompressor.get_value_from_registry(config["format"]).decompress(wide, scheme)["weight"]


def dequantised(parts, size, mode):
    import mlx.core as mx

    def array(tensor):
        return mx.array(tensor.numpy())
    biases = array(parts["biases"].float()) if "biases" in parts else None
    scales = array(parts["scales"].float() if mode == "affine" else parts["scales"])
    weights = mx.dequantize(array(parts["weight"].view(torch.uint32)), scales, biases, size["group_size"], size["bits"], mode)
    return torch.tensor(weights.astype(mx.float32).tolist())


def main():
    wrong = checked = 0
    for folder in sorted(GOLDENS.iterdir()):
        config = json.loads((folder / "config.json").read_text())
        packing = config.get("quantization") or config["quantization_config"]
        is_mlx = "quantization" in config
        if not is_mlx and packing["quant_method"] != "compressed-tensors" or folder.name == "pack-4-order":
            continue  # compressed-tensors 0.20 has dropped the order of groups, which earlier ones wrote
        plain = load_file(folder / "plain.safetensors")
        for module, parts in by_module(load_file(folder / "model.safetensors")).items():
            if not {"weight_scale", "scales"} & parts.keys():
                continue
            expected = plain[module + ".weight"]
            found = (dequantised(parts, packing.get(module) or packing, packing.get("mode", "affine")) if is_mlx
                     else decompressed(parts, packing)).to(expected.dtype)
            checked += 1
            if not torch.equal(found, expected):
                wrong += 1
                print(f"{folder.name}: {module}: {(found != expected).sum()} of {expected.numel()} weights differ")
    print(f"{checked} matrices, {wrong} differ")
    sys.exit(wrong > 0)


main()
