# SPDX-License-Identifier: GPL-3.0-or-later
"""A compact Llama for training on a CPU: fused projections inside, Hugging Face's names outside."""
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn


@dataclass(frozen=True)
class Shape:
    vocab_size: int = 4096
    hidden_size: int = 256
    intermediate_size: int = 512
    num_hidden_layers: int = 12
    num_attention_heads: int = 8
    num_key_value_heads: int = 2
    head_dim: int = 32
    max_position_embeddings: int = 2048
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-5


def rms_norm(x, weight, eps):
    """fp32 inside, as the reference does; the result has the type of the input."""
    return F.rms_norm(x.float(), weight.shape, weight, eps).to(x.dtype)


def rotary(x, cosine, sine):
    """Half-split rotation (Hugging Face's layout), x: [batch, heads, positions, head_dim]."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


def causal_attention(q, k, v, block=64):
    """Grouped-query attention over blocks of queries, each against no more keys than it may see.

    On a CPU this is more than twice as fast, forward and backward, as the fused kernel at these sizes.
    q: [batch, heads, positions, head_dim], k and v: [batch, kv_heads, positions, head_dim].
    """
    batch, heads, positions, width = q.shape
    kv_heads = k.shape[1]
    groups = heads // kv_heads
    if positions % block:
        block = positions
    q = (q * width ** -0.5).view(batch, kv_heads, groups, positions, width)
    outputs = []
    for start in range(0, positions, block):
        end = start + block
        queries = q[:, :, :, start:end].reshape(batch * kv_heads, groups * block, width)
        keys = k[:, :, :end].reshape(batch * kv_heads, end, width)
        values = v[:, :, :end].reshape(batch * kv_heads, end, width)
        visible = torch.ones(block, end, dtype=torch.bool, device=q.device).tril(start)
        scores = torch.bmm(queries, keys.transpose(1, 2)).view(batch * kv_heads, groups, block, end)
        weights = scores.float().masked_fill(~visible, float("-inf")).softmax(-1).to(v.dtype)
        mixed = torch.bmm(weights.view(batch * kv_heads, groups * block, end), values)
        outputs.append(mixed.view(batch, heads, block, width))
    return torch.cat(outputs, dim=2)


class Layer(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        query, key = shape.num_attention_heads * shape.head_dim, shape.num_key_value_heads * shape.head_dim
        self.widths = (query, key, key)
        self.qkv = nn.Linear(shape.hidden_size, query + 2 * key, bias=False)
        self.o = nn.Linear(query, shape.hidden_size, bias=False)
        self.gate_up = nn.Linear(shape.hidden_size, 2 * shape.intermediate_size, bias=False)
        self.down = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)
        self.attention_norm = nn.Parameter(torch.ones(shape.hidden_size))
        self.mlp_norm = nn.Parameter(torch.ones(shape.hidden_size))

    def forward(self, x, cosine, sine):
        shape = self.shape
        batch, positions, _ = x.shape
        q, k, v = self.qkv(rms_norm(x, self.attention_norm, shape.rms_norm_eps)).split(self.widths, dim=-1)
        q, k, v = (t.view(batch, positions, -1, shape.head_dim).transpose(1, 2) for t in (q, k, v))
        mixed = causal_attention(rotary(q, cosine, sine), rotary(k, cosine, sine), v)
        x = x + self.o(mixed.transpose(1, 2).reshape(batch, positions, -1))
        gate, up = self.gate_up(rms_norm(x, self.mlp_norm, shape.rms_norm_eps)).chunk(2, dim=-1)
        return x + self.down(F.silu(gate) * up)

    def tensors(self, index: int):
        """The layer under Hugging Face's names, fused projections taken apart."""
        prefix = f"model.layers.{index}."
        q, k, v = self.qkv.weight.split(self.widths)
        gate, up = self.gate_up.weight.chunk(2)
        return {prefix + name: tensor for name, tensor in {
            "self_attn.q_proj.weight": q, "self_attn.k_proj.weight": k, "self_attn.v_proj.weight": v,
            "self_attn.o_proj.weight": self.o.weight, "mlp.gate_proj.weight": gate,
            "mlp.up_proj.weight": up, "mlp.down_proj.weight": self.down.weight,
            "input_layernorm.weight": self.attention_norm,
            "post_attention_layernorm.weight": self.mlp_norm}.items()}

    def load(self, tensors: dict, index: int):
        """The inverse of `tensors`: takes this layer's weights from a checkpoint."""
        for name, view in self.tensors(index).items():
            view.copy_(tensors[name])


class Llama(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.num_hidden_layers))
        self.norm = nn.Parameter(torch.ones(shape.hidden_size))
        frequency = shape.rope_theta ** (-torch.arange(0, shape.head_dim, 2).float() / shape.head_dim)
        angle = torch.outer(torch.arange(shape.max_position_embeddings).float(), frequency)
        self.register_buffer("cosine", angle.cos(), persistent=False)
        self.register_buffer("sine", angle.sin(), persistent=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                # Residual outputs start smaller, so that the stream's variance does not grow with depth.
                depth = (2 * shape.num_hidden_layers) ** 0.5 if name.endswith(("o.weight", "down.weight")) else 1.0
                nn.init.normal_(parameter, std=0.02 / depth)

    def hidden_states(self, tokens, kept=None):
        """The residual stream after every layer. `kept[l]` (one 0/1 value a sample) drops layer l for some samples."""
        positions = tokens.shape[1]
        x = self.embedding(tokens)
        if torch.is_autocast_enabled(tokens.device.type):
            x = x.to(torch.get_autocast_dtype(tokens.device.type))
        cosine, sine = self.cosine[:positions].to(x.dtype), self.sine[:positions].to(x.dtype)
        states = []
        for index, layer in enumerate(self.layers):
            y = layer(x, cosine, sine)
            x = y if kept is None else torch.where(kept[index, :, None, None], y, x)
            states.append(x)
        return states

    @torch.no_grad()
    def load_checkpoint(self, folder: Path):
        tensors = load_file(folder / "model.safetensors")
        self.embedding.weight.copy_(tensors["model.embed_tokens.weight"])
        self.norm.copy_(tensors["model.norm.weight"])
        for index, layer in enumerate(self.layers):
            layer.load(tensors, index)

    def logits(self, state):
        """Every exit shares the final norm and the (tied) head."""
        return F.linear(rms_norm(state, self.norm, self.shape.rms_norm_eps), self.embedding.weight)


def save_checkpoint(model: Llama, folder: Path, bos: int, eos: int):
    """A bf16 Hugging Face folder; each file appears whole or not at all."""
    tensors = {"model.embed_tokens.weight": model.embedding.weight, "model.norm.weight": model.norm}
    for index, layer in enumerate(model.layers):
        tensors |= layer.tensors(index)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", **asdict(model.shape),
              "hidden_act": "silu", "attention_bias": False, "attention_dropout": 0.0, "mlp_bias": False,
              "initializer_range": 0.02, "rope_scaling": None, "tie_word_embeddings": True, "use_cache": True,
              "bos_token_id": bos, "eos_token_id": eos, "torch_dtype": "bfloat16"}
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / "model.safetensors.partial"
    save_file({name: tensor.detach().to("cpu", torch.bfloat16).contiguous() for name, tensor in tensors.items()},
              partial, metadata={"format": "pt"})
    os.replace(partial, folder / "model.safetensors")
    partial = folder / "config.json.partial"
    partial.write_text(json.dumps(config, indent=2) + "\n")
    os.replace(partial, folder / "config.json")
