// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace draftscope::engine::gguf {

/// Reads little-endian numbers and strings off the front of a file; nothing beyond its end is read.
class ByteCursor {
 public:
  ByteCursor(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  /// `what` names the field in the error of a file that ends too early.
  template <typename T>
  [[nodiscard]] Result<T> number(std::string_view what) {
    DRAFTSCOPE_TRY_ASSIGN(const auto taken, take(sizeof(T), what));
    T value;
    std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  /// A string behind its length of 64 bits; it looks into the file.
  [[nodiscard]] Result<std::string_view> text(std::string_view what);
  [[nodiscard]] Result<std::span<const std::byte>> take(std::uint64_t count, std::string_view what);

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }
  [[nodiscard]] std::string_view file() const { return file_; }

 private:
  std::span<const std::byte> bytes_;
  std::string_view file_;
  std::size_t position_ = 0;
};

}  // namespace draftscope::engine::gguf
