// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// GGUF files for tests to read and to damage, written as the ggml project documents the format.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine::test {

/// Little-endian bytes of numbers, and strings after their length.
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

/// A key with its type and value, as it stands in a file.
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
  std::vector<std::uint64_t> extents;  ///< the first is that of a row
  std::uint32_t type = 0;
  std::string bytes;
};

/// Version 3, data at multiples of 32. A key of the same name takes the place of an earlier one.
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

/// A model of two layers and a few kilobytes, without a tokenizer: F32 matrices, told apart by their numbers.
[[nodiscard]] GgufParts tiny_gguf(const std::string& architecture = "llama");

}  // namespace draftscope::engine::test
