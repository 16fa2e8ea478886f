// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The device as the backend uses it: memory, copies, launches, wide products. It has one ordered queue; every
// call but synchronise() may return before the work is done. Two devices exist: a CUDA one (cuda_gpu.cpp),
// and, in the tests, an emulation that runs the same kernels on the host.
//
// Errors: one line with the request and the device's answer. Thread-safety: one caller at a time.

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "launch.h"

namespace draftscope::engine::cuda {

/// out[rows][outputs] = x[rows][depth] · weights[outputs][depth]ᵀ; 16-bit inputs, fp32 sums.
struct WideProduct {
  KernelFormat format = KernelFormat::bf16;
  const void* weights = nullptr;
  const void* x = nullptr;
  float* out = nullptr;
  std::int32_t rows = 0;
  std::int32_t outputs = 0;
  std::int32_t depth = 0;
};

struct GpuDescription {
  std::string name;
  std::int32_t multiprocessors = 0;
  std::size_t shared_bytes = 0;  ///< Maximum per block.
  std::string architecture = "sm90";
};

/// Equally long rows in device memory.
struct DeviceRows {
  std::size_t bytes = 0;  ///< bytes per row
  std::size_t count = 0;
  std::size_t stride = 0;  ///< Bytes from the start of one row to the start of the next.
};

class Gpu {
 public:
  virtual ~Gpu() = default;
  [[nodiscard]] virtual GpuDescription describe() const = 0;
  /// Device memory that is still available to allocate().
  [[nodiscard]] virtual Result<std::size_t> free_bytes() const = 0;
  /// Allocates plain device memory, which release() frees.
  [[nodiscard]] virtual Result<void*> allocate(std::size_t bytes, std::string_view what) = 0;
  virtual void release(void* memory) = 0;
  /// `from` may be reused as soon as this returns.
  [[nodiscard]] virtual Result<void> upload(void* to, const void* from, std::size_t bytes) = 0;
  /// After the next successful synchronise(), `to` holds the rows one after another. If it fails, `to` is
  /// unchanged.
  [[nodiscard]] virtual Result<void> download_rows(void* to, const void* from, const DeviceRows& rows) = 0;
  [[nodiscard]] Result<void> download(void* to, const void* from, std::size_t bytes) {
    return download_rows(to, from, {bytes, 1, bytes});
  }
  [[nodiscard]] virtual Result<void> clear(void* memory, std::size_t bytes) = 0;
  [[nodiscard]] virtual Result<void> launch(const Launch& launch, const KernelParams& params) = 0;
  [[nodiscard]] virtual Result<void> multiply(const WideProduct& product) = 0;
  [[nodiscard]] virtual Result<void> synchronise() = 0;
};

}  // namespace draftscope::engine::cuda
