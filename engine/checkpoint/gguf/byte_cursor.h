// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace draftscope::engine::gguf {

/// Reads little-endian numbers and strings from the front of a file, and never beyond its end.
class ByteCursor {
 public:
  ByteCursor(std::span<const std::byte> bytes, std::string_view file) : bytes_(bytes), file_(file) {}

  /// Reads a number. `what` names the field in the error of a file that ends too early.
  template <typename T>
  [[nodiscard]] Result<T> number(std::string_view what) {
    DRAFTSCOPE_TRY_ASSIGN(const auto taken, take(sizeof(T), what));
    T value;
    std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  /// A string, stored after its 64-bit length; it points into the file.
  [[nodiscard]] Result<std::string_view> text(std::string_view what) {
    DRAFTSCOPE_TRY_ASSIGN(const auto length, number<std::uint64_t>(what));
    DRAFTSCOPE_TRY_ASSIGN(const auto taken, take(length, what));
    return std::string_view(reinterpret_cast<const char*>(taken.data()), taken.size());
  }
  [[nodiscard]] Result<std::span<const std::byte>> take(std::uint64_t count, std::string_view what) {
    if (count > remaining())
      return fail("{}: {} at byte {} takes {} bytes, expected at most the {} that the file has left", file_,
                  what, position_, count, remaining());
    const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += taken.size();
    return taken;
  }

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t remaining() const { return bytes_.size() - position_; }
  [[nodiscard]] std::string_view file() const { return file_; }

 private:
  std::span<const std::byte> bytes_;
  std::string_view file_;
  std::size_t position_ = 0;
};

}  // namespace draftscope::engine::gguf
