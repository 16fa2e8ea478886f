// SPDX-License-Identifier: GPL-3.0-or-later
// What a sanitizer runs on a device runs every kernel there is.

#include "small_model.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "cuda/backend.h"
#include "emulated_gpu.h"

namespace draftscope::engine::test {
namespace {

/// An emulated device that notes what it launches.
class NotedKernels final : public cuda::Gpu {
 public:
  explicit NotedKernels(std::set<cuda::Kernel>& seen)
      : seen_(seen), gpu_(cuda::emulation::make_emulated_gpu(2)) {}
  cuda::GpuDescription describe() const override { return gpu_->describe(); }
  Result<std::size_t> free_bytes() const override { return gpu_->free_bytes(); }
  Result<void*> allocate(std::size_t bytes, std::string_view what) override {
    return gpu_->allocate(bytes, what);
  }
  void release(void* memory) override { gpu_->release(memory); }
  Result<void> upload(void* to, const void* from, std::size_t bytes) override {
    return gpu_->upload(to, from, bytes);
  }
  Result<void> download(void* to, const void* from, std::size_t bytes) override {
    return gpu_->download(to, from, bytes);
  }
  Result<void> copy(void* to, const void* from, std::size_t bytes) override {
    return gpu_->copy(to, from, bytes);
  }
  Result<void> clear(void* memory, std::size_t bytes) override { return gpu_->clear(memory, bytes); }
  Result<void> launch(const cuda::Launch& launch, const cuda::KernelParams& params) override {
    seen_.insert(launch.kernel);
    return gpu_->launch(launch, params);
  }
  Result<void> multiply(const cuda::WideProduct& product) override { return gpu_->multiply(product); }
  Result<void> begin_graph() override { return gpu_->begin_graph(); }
  Result<cuda::LoopHandle> begin_loop() override { return gpu_->begin_loop(); }
  Result<void> end_loop() override { return gpu_->end_loop(); }
  Result<int> end_graph() override { return gpu_->end_graph(); }
  Result<void> launch_graph(int graph) override { return gpu_->launch_graph(graph); }
  Result<void> synchronise() override { return gpu_->synchronise(); }

 private:
  std::set<cuda::Kernel>& seen_;
  std::unique_ptr<cuda::Gpu> gpu_;
};

TEST(SmallModel, LaunchesEveryKernel) {
  std::set<cuda::Kernel> seen;
  put_through_everything([&](const Checkpoint& checkpoint, CudaWeights weights) {
    auto backend = cuda::make_backend(std::make_unique<NotedKernels>(seen), checkpoint, {.weights = weights});
    if (!backend) throw std::runtime_error(backend.error().message);
    return std::move(*backend);
  });
  for (int kernel = 0; kernel <= static_cast<int>(cuda::Kernel::make_synthetic); ++kernel)
    EXPECT_TRUE(seen.contains(static_cast<cuda::Kernel>(kernel))) << "kernel " << kernel;
}

}  // namespace
}  // namespace draftscope::engine::test
