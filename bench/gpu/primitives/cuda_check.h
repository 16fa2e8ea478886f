// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Errors of the CUDA runtime as one line, and the device memory of a benchmark.

#include <cuda_runtime.h>
#include <draftscope/base/result.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace draftscope::bench {

[[nodiscard]] inline Result<void> check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return {};
  return fail("{}: {}", what, cudaGetErrorString(status));
}

class DeviceBuffer {
 public:
  [[nodiscard]] static Result<DeviceBuffer> allocate(std::size_t bytes) {
    void* data = nullptr;
    DRAFTSCOPE_TRY(check(cudaMalloc(&data, bytes), fmt::format("{} bytes of device memory", bytes)));
    return DeviceBuffer(data, bytes);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~DeviceBuffer() { (void)cudaFree(data_); }

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  DeviceBuffer(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  void* data_;
  std::size_t bytes_;
};

}  // namespace draftscope::bench
