# SPDX-License-Identifier: GPL-3.0-or-later
"""What Hugging Face transformers makes of each configs/*/config.json, as config_golden.json: the configuration
classes' values with their defaults, and the names and shapes of the model's tensors (layer 0 and outside the
layers). Made with transformers 5: python config_golden.py"""
import json
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM

here = Path(__file__).parent
KINDS = {"default": "standard"}


def as_list(value):
    return [] if value is None else value if isinstance(value, list) else [value]


def rope_golden(config):
    rope = config.rope_parameters
    kind = KINDS.get(rope["rope_type"], rope["rope_type"])
    golden = {"kind": kind, "theta": rope["rope_theta"]}
    for theirs, ours in (("factor", "factor"), ("low_freq_factor", "low_frequency_factor"),
                         ("high_freq_factor", "high_frequency_factor"),
                         ("original_max_position_embeddings", "original_max_positions"),
                         ("beta_fast", "beta_fast"), ("beta_slow", "beta_slow"),
                         ("attention_factor", "attention_factor"), ("mscale", "mscale"),
                         ("mscale_all_dim", "mscale_all_dim"), ("truncate", "truncate")):
        if rope.get(theirs) is not None:
            golden[ours] = rope[theirs]
    return golden


def sliding_window(config):
    if config.model_type == "qwen2":
        kinds = set(config.layer_types)
        assert len(kinds) == 1, "the engine refuses mixed layers"
        return config.sliding_window if kinds == {"sliding_attention"} else 0
    return getattr(config, "sliding_window", None) or 0


def golden_of(folder):
    config = AutoConfig.from_pretrained(folder)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    tensors = {name: list(tensor.shape) for name, tensor in model.state_dict().items()
               if ".layers." not in name or ".layers.0." in name}
    if config.tie_word_embeddings:
        del tensors["lm_head.weight"]
    end_tokens = as_list(config.eos_token_id)
    generation = folder / "generation_config.json"
    if generation.exists():
        end_tokens += as_list(json.loads(generation.read_text()).get("eos_token_id"))
    return {
        "architecture": type(model).__name__,
        "n_layers": config.num_hidden_layers,
        "d_model": config.hidden_size,
        "n_heads": config.num_attention_heads,
        "n_kv_heads": config.num_key_value_heads,
        "head_dim": model.model.layers[0].self_attn.head_dim,
        "d_ff": config.intermediate_size,
        "vocab": config.vocab_size,
        "max_positions": config.max_position_embeddings,
        "rms_epsilon": config.rms_norm_eps,
        "tied_embeddings": config.tie_word_embeddings,
        "sliding_window": sliding_window(config),
        "bos_token": -1 if config.bos_token_id is None else config.bos_token_id,
        "eos_tokens": sorted(set(end_tokens)),
        "rope": rope_golden(config),
        "tensors": tensors,
    }


golden = {folder.name: golden_of(folder) for folder in sorted((here / "configs").iterdir())}
lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(values)}" for name, values in golden.items())
(here / "config_golden.json").write_text("{\n" + lines + "\n}\n")
