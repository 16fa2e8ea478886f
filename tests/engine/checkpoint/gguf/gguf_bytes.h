// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Makes GGUF files for tests to read and to damage, written as the ggml project documents the format.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine::test {

/// Collects little-endian bytes of numbers, and strings after their length.
class GgufBytes {
 public:
  template <typename T>
  GgufBytes& number(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  GgufBytes& string(std::string_view text) {
    number<std::uint64_t>(text.size());
    text_ += text;
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// A key with its type and value, as the file has it.
struct GgufKey {
  std::string name;
  std::string value;
};

[[nodiscard]] GgufKey gguf_key(std::string name, std::uint32_t value);
[[nodiscard]] GgufKey gguf_key(std::string name, float value);
[[nodiscard]] GgufKey gguf_key(std::string name, bool value);
[[nodiscard]] GgufKey gguf_key(std::string name, const char* value);
[[nodiscard]] GgufKey gguf_key(std::string name, const std::vector<std::string>& values);
[[nodiscard]] GgufKey gguf_key(std::string name, const std::vector<std::int32_t>& values);
[[nodiscard]] GgufKey gguf_key(std::string name, const std::vector<float>& values);
[[nodiscard]] GgufKey gguf_key(std::string name, const std::vector<bool>& values);

struct GgufTensor {
  std::string name;
  std::vector<std::uint64_t> extents;  ///< the first is the width of a row
  std::uint32_t type = 0;
  std::string bytes;
};

/// Parts of a file of version 3 with data at multiples of 32. A key replaces an earlier one of the same name.
struct GgufParts {
  std::vector<GgufKey> keys;
  std::vector<GgufTensor> tensors;
  std::uint32_t version = 3;

  void set(GgufKey key);
  void remove(std::string_view key);
  [[nodiscard]] GgufTensor& tensor(std::string_view name);
  [[nodiscard]] std::string file() const;
};

/// A tensor of F32 numbers.
[[nodiscard]] GgufTensor gguf_vector(std::string name, const std::vector<float>& values);

/// Numbers of a model, as its keys have them.
struct GgufSizes {
  std::uint32_t layers = 2;
  std::uint32_t context = 32;
  std::uint32_t width = 8;
  std::uint32_t inner = 12;
  std::uint32_t heads = 2;
  std::uint32_t kv_heads = 1;
};

/// A file that has the keys of such a model, and no tensors.
[[nodiscard]] GgufParts gguf_of_sizes(const std::string& architecture, const GgufSizes& sizes);

/// A model of two layers and a few kilobytes, without a tokenizer. Its F32 matrices have distinct numbers.
[[nodiscard]] GgufParts tiny_gguf(const std::string& architecture = "llama");

}  // namespace draftscope::engine::test
