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
    local = rope.get("sliding_attention")
    rope = rope.get("full_attention", rope)
    kind = KINDS.get(rope["rope_type"], rope["rope_type"])
    golden = {"kind": kind, "theta": rope["rope_theta"]}
    for theirs, ours in (("factor", "factor"), ("low_freq_factor", "low_frequency_factor"),
                         ("high_freq_factor", "high_frequency_factor"),
                         ("original_max_position_embeddings", "original_max_positions"),
                         ("beta_fast", "beta_fast"), ("beta_slow", "beta_slow"),
                         ("attention_factor", "attention_factor"), ("mscale", "mscale"),
                         ("mscale_all_dim", "mscale_all_dim"), ("truncate", "truncate"),
                         ("short_factor", "short_factors"), ("long_factor", "long_factors")):
        if rope.get(theirs) is not None:
            golden[ours] = rope[theirs]
    if kind == "longrope":
        golden.setdefault("factor", config.max_position_embeddings / rope["original_max_position_embeddings"])
    if local is not None:
        golden["local_theta"] = local["rope_theta"]
    if rope.get("partial_rotary_factor", 1.0) != 1.0:
        golden["rotated_dimensions"] = int(config.hidden_size // config.num_attention_heads *
                                           rope["partial_rotary_factor"])
    return golden


def layer_windows(config):
    """Of every layer; 0 = none."""
    window = getattr(config, "sliding_window", None) or 0
    kinds = getattr(config, "layer_types", None) or ["sliding_attention"] * config.num_hidden_layers
    return [window if kind == "sliding_attention" else 0 for kind in kinds]


def in_decoder(name):
    """A tensor's name in the decoder alone; none for one of another part."""
    if name.startswith(("model.vision_tower.", "model.multi_modal_projector.")):
        return None
    return name.replace("model.language_model.", "model.")


def traits_of(config, decoder):
    embedding = decoder.embed_tokens
    scale = getattr(embedding, "scalar_embed_scale", None) or getattr(decoder, "embedding_multiplier", 1.0)
    if config.model_type == "gemma2":
        scale = config.hidden_size ** 0.5
    return {
        "windows": layer_windows(config),
        "rotates": getattr(config, "no_rope_layers", None) or [1] * config.num_hidden_layers,
        "attention_scale": decoder.layers[0].self_attn.scaling,
        "embedding_scale": scale,
        "residual_multiplier": getattr(config, "residual_multiplier", 1.0),
        "logit_divisor": getattr(config, "logits_scaling", 1.0),
        "logit_cap": getattr(config, "final_logit_softcapping", None) or 0.0,
        "attention_logit_cap": getattr(config, "attn_logit_softcapping", None) or 0.0,
        "gelu": "gelu" in type(decoder.layers[0].mlp.__dict__["_modules"].get("act_fn")).__name__.lower(),
    }


def golden_of(folder):
    file = AutoConfig.from_pretrained(folder)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(file)
    config = file.get_text_config()
    decoder = getattr(model.model, "language_model", model.model)
    # xIELU's numbers may have no dimensions.
    tensors = {in_decoder(name): list(tensor.shape) or [1] for name, tensor in model.state_dict().items()
               if in_decoder(name) and (".layers." not in name or ".layers.0." in name)}
    if config.tie_word_embeddings:
        del tensors["lm_head.weight"]
    own = json.loads((folder / "config.json").read_text())
    end_tokens = as_list(own.get("eos_token_id", config.eos_token_id))
    generation = folder / "generation_config.json"
    if generation.exists():
        end_tokens += as_list(json.loads(generation.read_text()).get("eos_token_id"))
    return {
        "architecture": type(model).__name__,
        "n_layers": config.num_hidden_layers,
        "d_model": config.hidden_size,
        "n_heads": config.num_attention_heads,
        "n_kv_heads": config.num_key_value_heads,
        "head_dim": decoder.layers[0].self_attn.head_dim,
        "d_ff": config.intermediate_size,
        "vocab": config.vocab_size,
        "max_positions": config.max_position_embeddings,
        "rms_epsilon": config.rms_norm_eps,
        "tied_embeddings": config.tie_word_embeddings,
        "traits": traits_of(config, decoder),
        "bos_token": -1 if config.bos_token_id is None else config.bos_token_id,
        "eos_tokens": sorted(set(end_tokens)),
        "rope": rope_golden(config),
        "tensors": tensors,
    }


golden = {folder.name: golden_of(folder) for folder in sorted((here / "configs").iterdir())}
lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(values)}" for name, values in golden.items())
(here / "config_golden.json").write_text("{\n" + lines + "\n}\n")
