// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One block of device memory that is cut into pieces. The pieces are requested twice: once to measure, once
// to assign addresses.

#include <draftscope/base/result.h>
#include <cstddef>
#include <string_view>
#include <utility>

#include "gpu.h"

namespace draftscope::engine::cuda {

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept
      : gpu_(std::exchange(other.gpu_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(other.bytes_) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(gpu_, other.gpu_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() {
    if (data_ != nullptr) gpu_->release(data_);
  }

  [[nodiscard]] static Result<DeviceMemory> allocate(Gpu& gpu, std::size_t bytes, std::string_view what) {
    DeviceMemory memory;
    DRAFTSCOPE_TRY_ASSIGN(memory.data_, gpu.allocate(bytes, what));
    memory.gpu_ = &gpu;
    memory.bytes_ = bytes;
    return memory;
  }

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Gpu* gpu_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Assigns addresses from `base` on; with a null base it only measures.
class Pieces {
 public:
  explicit Pieces(std::byte* base) : base_(base) {}

  template <typename T>
  T* take(std::size_t n) {
    constexpr std::size_t alignment = 256;  // cudaMalloc guarantees this alignment, and no load needs more.
    const std::size_t offset = bytes_;
    bytes_ += (n * sizeof(T) + alignment - 1) / alignment * alignment;
    return base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + offset);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::byte* base_;
  std::size_t bytes_ = 0;
};

}  // namespace draftscope::engine::cuda
