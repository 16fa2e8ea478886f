// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Zeroed memory directly from the system: page-aligned, and a page costs nothing until it is written. The K/V
// cache and the workspace use small pages: they are sized for the largest batch and mostly stay untouched.
// Packed weights, which are written once and then streamed, use large pages.

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace draftscope::engine::cpu {

/// Page sizes; large pages are used if the system has them. On a virtual machine, weights in pages of 4 KiB
/// took twice as long to stream.
enum class Pages : std::uint8_t { small, large };

class Memory {
 public:
  Memory() = default;
  [[nodiscard]] static Result<Memory> allocate(std::size_t bytes, Pages pages = Pages::small);
  Memory(Memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory();

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  template <typename T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace draftscope::engine::cpu
