# SPDX-License-Identifier: GPL-3.0-or-later
"""Small random checkpoints and what Hugging Face transformers computes for them, also with adapters that PEFT makes
(needs torch, transformers, peft). Run: python make_goldens.py [NAME …], all by default.

goldens/NAME/ holds config.json, model.safetensors and expected.bin: int32 tokens n, n_layers, d_model, vocab,
then n int32 tokens, then fp32 hidden states before each layer [n_layers][n][d_model] and logits [n][vocab].
"""
import json
import struct
import sys
from pathlib import Path

import torch
from transformers import (ApertusConfig, ApertusForCausalLM, ArceeConfig, ArceeForCausalLM, AutoModelForCausalLM, Exaone4Config, Exaone4ForCausalLM, Gemma2Config, Gemma2ForCausalLM,
                          Gemma3ForCausalLM, Gemma3TextConfig, GraniteConfig, GraniteForCausalLM, HunYuanDenseV1Config,
                          HunYuanDenseV1ForCausalLM, LlamaConfig, LlamaForCausalLM, Ministral3Config,
                          Ministral3ForCausalLM, MistralConfig, MistralForCausalLM, Olmo2Config, Olmo2ForCausalLM,
                          Olmo3Config, Olmo3ForCausalLM, Phi3Config, Phi3ForCausalLM, Qwen2Config, Qwen2ForCausalLM,
                          Qwen3Config, Qwen3ForCausalLM, SeedOssConfig, SeedOssForCausalLM, SmolLM3Config,
                          SmolLM3ForCausalLM)

COMMON = dict(vocab_size=40, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
              num_key_value_heads=2, max_position_embeddings=64, attn_implementation="eager", rms_norm_eps=1e-5,
              bos_token_id=1, eos_token_id=2)


def rope(kind, **values):
    return dict(rope_parameters=dict(rope_type=kind, rope_theta=10000.0, **values))


# Smaller than COMMON: there are many.
SMALL = dict(vocab_size=32, hidden_size=16, intermediate_size=24, num_hidden_layers=2, pad_token_id=0)


def longrope(original):
    """Partly rotated heads of 8: three pairs. The whole text is one call, so that it is on one side of `original`."""
    return dict(max_position_embeddings=64, original_max_position_embeddings=original,
                rope_parameters=dict(rope_type="longrope", rope_theta=10000.0, partial_rotary_factor=0.75,
                                     original_max_position_embeddings=original, short_factor=[1.0, 1.1, 1.3],
                                     long_factor=[1.5, 2.0, 4.0]))


CASES = {
    "llama-fp32": (LlamaConfig, LlamaForCausalLM, dict(head_dim=12), torch.float32),
    "llama-bf16": (LlamaConfig, LlamaForCausalLM, dict(head_dim=12), torch.bfloat16),
    "llama-fp16": (LlamaConfig, LlamaForCausalLM, dict(head_dim=12), torch.float16),
    "tied-bias": (LlamaConfig, LlamaForCausalLM,
                  dict(head_dim=6, tie_word_embeddings=True, attention_bias=True, mlp_bias=True), torch.float32),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM, dict(), torch.float32),
    "mistral-window": (MistralConfig, MistralForCausalLM, dict(head_dim=12, sliding_window=5), torch.float32),
    "rope-linear": (LlamaConfig, LlamaForCausalLM, rope("linear", factor=3.0), torch.float32),
    "rope-dynamic": (LlamaConfig, LlamaForCausalLM, dict(max_position_embeddings=12, **rope("dynamic", factor=2.0)),
                     torch.float32),
    "rope-llama3": (LlamaConfig, LlamaForCausalLM,
                    rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                         original_max_position_embeddings=16), torch.float32),
    "rope-yarn": (LlamaConfig, LlamaForCausalLM,
                  rope("yarn", factor=4.0, original_max_position_embeddings=16), torch.float32),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM, dict(SMALL, head_dim=8), torch.float32),
    "smollm3": (SmolLM3Config, SmolLM3ForCausalLM, dict(SMALL, num_hidden_layers=5, intermediate_size=8), torch.float32),
    "granite": (GraniteConfig, GraniteForCausalLM,
                dict(SMALL, embedding_multiplier=12.0, attention_multiplier=0.2, residual_multiplier=0.22,
                     logits_scaling=6.0), torch.float32),
    "olmo2": (Olmo2Config, Olmo2ForCausalLM, dict(SMALL), torch.float32),
    "phi3-short": (Phi3Config, Phi3ForCausalLM,
                   dict(SMALL, hidden_size=32, num_hidden_layers=1, sliding_window=5, **longrope(48)), torch.float32),
    "phi3-long": (Phi3Config, Phi3ForCausalLM, dict(SMALL, hidden_size=32, num_hidden_layers=1, **longrope(16)),
                  torch.float32),
    "gemma2": (Gemma2Config, Gemma2ForCausalLM,
               dict(SMALL, num_hidden_layers=3, head_dim=8, query_pre_attn_scalar=10, attn_logit_softcapping=2.0,
                    final_logit_softcapping=3.0, sliding_window=5, tie_word_embeddings=True), torch.float32),
    "gemma3": (Gemma3TextConfig, Gemma3ForCausalLM,
               dict(SMALL, num_hidden_layers=3, head_dim=8, query_pre_attn_scalar=10, sliding_window=5,
                    layer_types=["sliding_attention", "full_attention", "sliding_attention"],
                    tie_word_embeddings=True,
                    rope_parameters=dict(full_attention=dict(rope_type="linear", rope_theta=1e6, factor=8.0),
                                         sliding_attention=dict(rope_type="default", rope_theta=1e4))),
               torch.float32),
    "phi3-blocks": (Phi3Config, Phi3ForCausalLM,
                    dict(SMALL, hidden_size=32, intermediate_size=32, num_hidden_layers=1, partial_rotary_factor=0.75),
                    torch.bfloat16),
    "olmo3": (Olmo3Config, Olmo3ForCausalLM,
              dict(SMALL, num_hidden_layers=4, sliding_window=5,
                   rope_parameters=dict(full_attention=dict(rope_type="yarn", rope_theta=5e5, factor=4.0,
                                                            original_max_position_embeddings=16),
                                        sliding_attention=dict(rope_type="default", rope_theta=5e5))),
              torch.float32),
    "exaone4": (Exaone4Config, Exaone4ForCausalLM, dict(SMALL, num_hidden_layers=4, sliding_window=5), torch.float32),
    "seed-oss": (SeedOssConfig, SeedOssForCausalLM, dict(SMALL, head_dim=8), torch.float32),
    "hunyuan": (HunYuanDenseV1Config, HunYuanDenseV1ForCausalLM,
                dict(SMALL, head_dim=8, rope_parameters=dict(rope_type="dynamic", rope_theta=10000.0, alpha=1000.0,
                                                             factor=1.0, beta_fast=32, beta_slow=1, mscale=1.0,
                                                             mscale_all_dim=1.0)), torch.float32),
    "ministral3": (Ministral3Config, Ministral3ForCausalLM,
                   dict(SMALL, head_dim=8, rope_parameters=dict(rope_type="yarn", rope_theta=1e6, factor=16.0,
                                                                original_max_position_embeddings=8, beta_fast=32.0,
                                                                beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0,
                                                                llama_4_scaling_beta=0.4)), torch.float32),
    "arcee": (ArceeConfig, ArceeForCausalLM, dict(SMALL, attention_bias=True, mlp_bias=True), torch.float32),
    "apertus": (ApertusConfig, ApertusForCausalLM,
                dict(SMALL, **rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                   original_max_position_embeddings=16)), torch.float32),
}
# An adapter's folder, of another golden's checkpoint, with expected.bin for the two together.
ADAPTERS = {
    "llama-fp32-adapter": ("llama-fp32", dict(r=3, lora_alpha=5, target_modules=["q_proj", "v_proj", "down_proj"],
                                              layers_to_transform=[1])),
    "phi3-short-adapter": ("phi3-short", dict(r=4, lora_alpha=3, use_rslora=True, target_modules="all-linear")),
}
AT_ONCE = {"phi3-short", "phi3-long"}
ADDS_ONE = {"gemma2", "gemma3"}  # to norms' weights
IN_BLOCKS = {"phi3-blocks"}  # whose weights are the same in blocks of 8 bits as in bf16


def in_blocks(value):
    """Blocks of 32 whole numbers up to 127, which one of each is, times a power of two."""
    blocks = value.reshape(-1, 32)
    exponent = blocks.abs().amax(1, keepdim=True).div(127).log2().round()
    whole = blocks.div(2 ** exponent).round().clamp(-127, 127)
    whole.scatter_(1, blocks.abs().argmax(1, keepdim=True), 127)
    return (whole * 2 ** exponent).reshape(value.shape)


def expected(model, tokens):
    """Token by token, as a decoder does: for dynamic scaling that is the only rule without look-ahead."""
    cache, hidden, logits = None, [], []
    for token in tokens:
        out = model(torch.tensor([[token]]), past_key_values=cache, use_cache=True, output_hidden_states=True)
        cache = out.past_key_values
        hidden.append(torch.stack([h[0, 0].float() for h in out.hidden_states[:-1]]))
        logits.append(out.logits[0, 0].float())
    return torch.stack(hidden, dim=1), torch.stack(logits)


def expected_at_once(model, tokens):
    out = model(torch.tensor([tokens]), output_hidden_states=True)
    return torch.stack([h[0].float() for h in out.hidden_states[:-1]]), out.logits[0].float()


def write_expected(path, tokens, hidden, logits):
    header = struct.pack("<4i", len(tokens), hidden.shape[0], hidden.shape[2], logits.shape[1])
    body = struct.pack(f"<{len(tokens)}i", *tokens)
    path.write_bytes(header + body + hidden.contiguous().numpy().tobytes() + logits.contiguous().numpy().tobytes())


def make_adapters(folder):
    for seed, (name, (base, settings)) in enumerate(ADAPTERS.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        from peft import LoraConfig, get_peft_model
        torch.manual_seed(100 + seed)
        model = get_peft_model(AutoModelForCausalLM.from_pretrained(folder / base, attn_implementation="eager"),
                               LoraConfig(**settings)).eval()
        with torch.no_grad():
            for key, value in model.named_parameters():
                if "lora_" in key:
                    value.normal_(0, 0.3)
            tokens = torch.randint(0, model.config.vocab_size, (24,)).tolist()
            target = folder / name
            model.save_pretrained(target)
            (target / "README.md").unlink(missing_ok=True)
            config = json.loads((target / "adapter_config.json").read_text())
            config["base_model_name_or_path"] = base
            (target / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n")
            (target / "adapter_model.safetensors").chmod(0o644)
            write_expected(target / "expected.bin", tokens, *expected_at_once(model, tokens))


def main():
    folder = Path(__file__).parent / "goldens"
    for seed, (name, (config_type, model_type, changes, dtype)) in enumerate(CASES.items()):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        torch.manual_seed(seed)
        model = model_type(config_type(**{**COMMON, **changes})).eval()
        with torch.no_grad():
            for key, value in model.named_parameters():
                if value.dim() > 1:
                    value.normal_(0, 1.0 if "embed" in key else value.shape[1] ** -0.5)
                elif key.endswith("bias"):
                    value.normal_(0, 0.3)
                else:
                    value.normal_(0 if name in ADDS_ONE else 1, 0.2)
                if name in IN_BLOCKS and value.dim() > 1:
                    value.copy_(in_blocks(value))
            for key, value in model.named_buffers():
                if key.endswith("act_fn.eps"):
                    value.fill_(-0.1)  # so far from 0 that it shows
            model = model.to(dtype)
            tokens = torch.randint(0, model.config.vocab_size, (24,)).tolist()
            hidden, logits = (expected_at_once if name in AT_ONCE else expected)(model, tokens)
        model.save_pretrained(folder / name)
        (folder / name / "generation_config.json").unlink(missing_ok=True)
        write_expected(folder / name / "expected.bin", tokens, hidden, logits)
    make_adapters(folder)


if __name__ == "__main__":
    main()
