// SPDX-License-Identifier: GPL-3.0-or-later
#include "gguf_bytes.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace draftscope::engine::test {
namespace {

enum Type : std::uint32_t { u32 = 4, i32 = 5, f32 = 6, boolean = 7, text = 8, array = 9 };

GgufBytes array_of(Type type, std::size_t count) {
  GgufBytes bytes;
  bytes.number<std::uint32_t>(array).number<std::uint32_t>(type).number<std::uint64_t>(count);
  return bytes;
}

template <typename T>
GgufKey numbers(std::string name, Type type, const std::vector<T>& values) {
  GgufBytes bytes = array_of(type, values.size());
  for (const T value : values) bytes.number(value);
  return {std::move(name), bytes.text()};
}

std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + 31) / 32 * 32);
  return bytes;
}

}  // namespace

GgufKey gguf_key(std::string name, std::uint32_t value) {
  return {std::move(name), GgufBytes().number<std::uint32_t>(u32).number(value).text()};
}

GgufKey gguf_key(std::string name, float value) {
  return {std::move(name), GgufBytes().number<std::uint32_t>(f32).number(value).text()};
}

GgufKey gguf_key(std::string name, bool value) {
  return {std::move(name),
          GgufBytes().number<std::uint32_t>(boolean).number<std::uint8_t>(value ? 1 : 0).text()};
}

GgufKey gguf_key(std::string name, const char* value) {
  return {std::move(name), GgufBytes().number<std::uint32_t>(text).string(value).text()};
}

GgufKey gguf_key(std::string name, const std::vector<std::string>& values) {
  GgufBytes bytes = array_of(text, values.size());
  for (const std::string& value : values) bytes.string(value);
  return {std::move(name), bytes.text()};
}

GgufKey gguf_key(std::string name, const std::vector<std::int32_t>& values) {
  return numbers(std::move(name), i32, values);
}

GgufKey gguf_key(std::string name, const std::vector<float>& values) {
  return numbers(std::move(name), f32, values);
}

GgufKey gguf_key(std::string name, const std::vector<bool>& values) {
  return numbers(std::move(name), boolean, std::vector<std::uint8_t>(values.begin(), values.end()));
}

GgufTensor gguf_vector(std::string name, const std::vector<float>& values) {
  GgufBytes bytes;
  for (const float value : values) bytes.number(value);
  return {std::move(name), {values.size()}, 0, bytes.text()};
}

void GgufParts::remove(std::string_view key) {
  keys.erase(std::remove_if(keys.begin(), keys.end(), [&](const GgufKey& one) { return one.name == key; }),
             keys.end());
}

void GgufParts::set(GgufKey key) {
  remove(key.name);
  keys.push_back(std::move(key));
}

GgufTensor& GgufParts::tensor(std::string_view name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const GgufTensor& one) { return one.name == name; });
  if (found == tensors.end()) throw std::out_of_range(std::string(name));
  return *found;
}

std::string GgufParts::file() const {
  GgufBytes header;
  header.number<std::uint32_t>(0x46554747).number(version);
  header.number<std::uint64_t>(tensors.size()).number<std::uint64_t>(keys.size());
  std::string bytes = header.text();
  for (const GgufKey& key : keys) bytes += GgufBytes().string(key.name).text() + key.value;
  std::string data;
  for (const GgufTensor& tensor : tensors) {
    GgufBytes entry;
    entry.string(tensor.name).number(static_cast<std::uint32_t>(tensor.extents.size()));
    for (const std::uint64_t extent : tensor.extents) entry.number(extent);
    bytes += entry.number(tensor.type).number<std::uint64_t>(data.size()).text();
    data = padded(data + tensor.bytes);
  }
  return padded(bytes) + data;
}

GgufParts gguf_of_sizes(const std::string& architecture, const GgufSizes& sizes) {
  GgufParts parts;
  const auto key = [&](const char* name, auto value) { parts.set(gguf_key(architecture + name, value)); };
  parts.set(gguf_key("general.architecture", architecture.c_str()));
  key(".block_count", sizes.layers);
  key(".context_length", sizes.context);
  key(".embedding_length", sizes.width);
  key(".feed_forward_length", sizes.inner);
  key(".attention.head_count", sizes.heads);
  key(".attention.head_count_kv", sizes.kv_heads);
  key(".attention.layer_norm_rms_epsilon", 1e-5F);
  return parts;
}

GgufParts tiny_gguf(const std::string& architecture) {
  constexpr std::uint64_t model = 8;
  constexpr std::uint64_t inner = 12;
  constexpr std::uint64_t vocab = 10;
  constexpr std::uint64_t keys = 4;
  GgufParts parts = gguf_of_sizes(architecture, {});
  float next = 0.0F;
  const auto add = [&](const std::string& name, std::vector<std::uint64_t> extents) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : extents) count *= extent;
    GgufBytes bytes;
    for (std::uint64_t i = 0; i < count; ++i) bytes.number(next += 0.125F);
    parts.tensors.push_back({name, std::move(extents), 0, bytes.text()});
  };
  const bool is_gemma = architecture == "gemma2" || architecture == "gemma3";
  const bool is_fused = architecture == "phi3";
  const bool is_apertus = architecture == "apertus";
  const bool is_gated = architecture != "arcee" && !is_apertus;
  if (is_apertus) {
    parts.set(gguf_key("xielu.alpha_p", std::vector<float>{0.25F, 0.5F}));
    parts.set(gguf_key("xielu.alpha_n", std::vector<float>{-1.0F, -0.5F}));
    parts.set(gguf_key("xielu.beta", 0.5F));
    parts.set(gguf_key("xielu.eps", -1e-6F));
  }
  add("token_embd.weight", {model, vocab});
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    add(layer + "attn_norm.weight", {model});
    if (is_fused) {
      add(layer + "attn_qkv.weight", {model, model + 2 * keys});
    } else {
      add(layer + "attn_q.weight", {model, model});
      add(layer + "attn_k.weight", {model, keys});
      add(layer + "attn_v.weight", {model, keys});
    }
    if (architecture == "qwen2") {
      add(layer + "attn_q.bias", {model});
      add(layer + "attn_k.bias", {keys});
      add(layer + "attn_v.bias", {keys});
    }
    if (architecture == "gemma3" || is_apertus) {
      add(layer + "attn_q_norm.weight", {keys});
      add(layer + "attn_k_norm.weight", {keys});
    }
    add(layer + "attn_output.weight", {model, model});
    if (is_gemma) add(layer + "post_attention_norm.weight", {model});
    add(layer + "ffn_norm.weight", {model});
    if (!is_fused && is_gated) add(layer + "ffn_gate.weight", {model, inner});
    add(layer + "ffn_up.weight", {model, is_fused ? 2 * inner : inner});
    add(layer + "ffn_down.weight", {inner, model});
    if (is_gemma) add(layer + "post_ffw_norm.weight", {model});
  }
  add("output_norm.weight", {model});
  if (!is_gemma) add("output.weight", {model, vocab});
  return parts;
}

}  // namespace draftscope::engine::test
