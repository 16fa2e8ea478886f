# SPDX-License-Identifier: GPL-3.0-or-later
"""Small random checkpoints and what Hugging Face transformers computes for them (needs torch, transformers).

goldens/NAME/ holds config.json, model.safetensors and expected.bin: int32 tokens n, n_layers, d_model, vocab,
then n int32 tokens, then fp32 hidden states before each layer [n_layers][n][d_model] and logits [n][vocab].
"""
import struct
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM

COMMON = dict(vocab_size=40, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
              num_key_value_heads=2, max_position_embeddings=64, attn_implementation="eager", rms_norm_eps=1e-5,
              bos_token_id=1, eos_token_id=2)


def rope(kind, **values):
    return dict(rope_parameters=dict(rope_type=kind, rope_theta=10000.0, **values))


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
}


def expected(model, tokens):
    """Token by token, as a decoder does: for dynamic scaling that is the only rule without look-ahead."""
    cache, hidden, logits = None, [], []
    for token in tokens:
        out = model(torch.tensor([[token]]), past_key_values=cache, use_cache=True, output_hidden_states=True)
        cache = out.past_key_values
        hidden.append(torch.stack([h[0, 0].float() for h in out.hidden_states[:-1]]))
        logits.append(out.logits[0, 0].float())
    return torch.stack(hidden, dim=1), torch.stack(logits)


def main():
    folder = Path(__file__).parent / "goldens"
    for seed, (name, (config_type, model_type, changes, dtype)) in enumerate(CASES.items()):
        torch.manual_seed(seed)
        model = model_type(config_type(**{**COMMON, **changes})).eval()
        with torch.no_grad():
            for key, value in model.named_parameters():
                if value.dim() > 1:
                    value.normal_(0, 1.0 if "embed" in key else value.shape[1] ** -0.5)
                elif key.endswith("bias"):
                    value.normal_(0, 0.3)
                else:
                    value.normal_(1, 0.2)
            model = model.to(dtype)
            tokens = torch.randint(0, model.config.vocab_size, (24,)).tolist()
            hidden, logits = expected(model, tokens)
        model.save_pretrained(folder / name)
        (folder / name / "generation_config.json").unlink(missing_ok=True)
        header = struct.pack("<4i", len(tokens), hidden.shape[0], hidden.shape[2], logits.shape[1])
        body = struct.pack(f"<{len(tokens)}i", *tokens)
        (folder / name / "expected.bin").write_bytes(
            header + body + hidden.contiguous().numpy().tobytes() + logits.contiguous().numpy().tobytes())


if __name__ == "__main__":
    main()
