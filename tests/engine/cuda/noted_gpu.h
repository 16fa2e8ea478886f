// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A device that records the calls to it.

#include <cstddef>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/backend.h"
#include "cuda/gpu.h"
#include "emulated_gpu.h"

namespace draftscope::engine::test {

/// Calls of a device.
struct NotedCalls {
  std::set<cuda::Kernel> kernels;      ///< Kernels that were launched.
  std::vector<cuda::Launch> launches;  ///< Launches in order.
  int uploads = 0;
  int downloads = 0;
  int waits = 0;  ///< Waits for the device.
  std::size_t uploaded_bytes = 0;
  std::size_t downloaded_bytes = 0;
};

/// A device whose calls are recorded in an object that outlives it.
class NotedGpu : public cuda::Gpu {
 public:
  NotedGpu(std::unique_ptr<cuda::Gpu> gpu, NotedCalls& calls) : gpu_(std::move(gpu)), calls_(calls) {}
  cuda::GpuDescription describe() const override { return gpu_->describe(); }
  Result<std::size_t> free_bytes() const override { return gpu_->free_bytes(); }
  Result<void*> allocate(std::size_t bytes, std::string_view what) override {
    return gpu_->allocate(bytes, what);
  }
  void release(void* memory) override { gpu_->release(memory); }
  Result<void> upload(void* to, const void* from, std::size_t bytes) override {
    calls_.uploads += 1;
    calls_.uploaded_bytes += bytes;
    return gpu_->upload(to, from, bytes);
  }
  Result<void> download_rows(void* to, const void* from, const cuda::DeviceRows& rows) override {
    calls_.downloads += 1;
    calls_.downloaded_bytes += rows.bytes * rows.count;
    return gpu_->download_rows(to, from, rows);
  }
  Result<void> clear(void* memory, std::size_t bytes) override { return gpu_->clear(memory, bytes); }
  Result<void> launch(const cuda::Launch& launch, const cuda::KernelParams& params) override {
    calls_.kernels.insert(launch.kernel);
    calls_.launches.push_back(launch);
    return gpu_->launch(launch, params);
  }
  Result<void> multiply(const cuda::WideProduct& product) override { return gpu_->multiply(product); }
  Result<void> synchronise() override {
    ++calls_.waits;
    return gpu_->synchronise();
  }

 private:
  std::unique_ptr<cuda::Gpu> gpu_;
  NotedCalls& calls_;
};

/// A backend whose device is a NotedGpu over `gpu`; throws the error of make_backend().
inline std::unique_ptr<Backend> noted_backend(std::unique_ptr<cuda::Gpu> gpu, NotedCalls& calls,
                                              const Checkpoint& checkpoint, const CudaOptions& options) {
  auto backend = cuda::make_backend(std::make_unique<NotedGpu>(std::move(gpu), calls), checkpoint, options);
  if (!backend) throw std::runtime_error(backend.error().message);
  return std::move(*backend);
}

/// A NotedGpu over an emulated device, which takes blocks in a random order.
inline std::unique_ptr<Backend> noted_emulated_backend(
    const Checkpoint& checkpoint, CudaOptions options, DecodingPasses passes, NotedCalls& calls,
    std::int32_t multiprocessors = 2, std::size_t shared_bytes = cuda::emulation::usual_shared_bytes) {
  static std::uint32_t seed = 0;
  options.passes = passes;
  return noted_backend(cuda::emulation::make_emulated_gpu(
                           multiprocessors, cuda::emulation::usual_memory_bytes, ++seed, shared_bytes),
                       calls, checkpoint, options);
}

}  // namespace draftscope::engine::test
