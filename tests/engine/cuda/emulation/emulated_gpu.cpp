// SPDX-License-Identifier: GPL-3.0-or-later
#include "emulated_gpu.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "block_emulation.h"
#include "cuda/dispatch.h"

namespace draftscope::engine::cuda::emulation {

namespace {

constexpr std::size_t free_bytes = std::size_t{1} << 30;
constexpr std::size_t shared_bytes = 227 * 1024;

float to_float(WeightFormat format, std::uint16_t bits) {
  return format == WeightFormat::f16 ? F16::to_float(bits) : Bf16::to_float(bits);
}

class EmulatedGpu final : public Gpu {
 public:
  explicit EmulatedGpu(int multiprocessors) : multiprocessors_(multiprocessors) {}

  GpuDescription describe() const override {
    return {"emulated GPU", multiprocessors_, free_bytes, shared_bytes};
  }

  Result<void*> allocate(std::size_t bytes, std::string_view what) override {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (memory == nullptr) return fail("emulated GPU: {} of {} bytes: out of memory", what, bytes);
    std::memset(memory, 0xff, bytes);
    return memory;
  }
  void release(void* memory) override { std::free(memory); }

  Result<void> upload(void* to, const void* from, std::size_t bytes) override {
    return copy(to, from, bytes);
  }
  Result<void> download(void* to, const void* from, std::size_t bytes) override {
    return copy(to, from, bytes);
  }
  Result<void> copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
    return {};
  }
  Result<void> clear(void* memory, std::size_t bytes) override {
    std::memset(memory, 0, bytes);
    return {};
  }

  Result<void> launch(const Launch& launch, const KernelParams& params) override {
    if (launch.shared_bytes > shared_bytes)
      return fail("emulated GPU: a launch asks for {} bytes of shared memory, expected at most {}",
                  launch.shared_bytes, shared_bytes);
    if (capturing_)
      graphs_.back().push_back([launch, params] { run(launch, params); });
    else
      run(launch, params);
    return {};
  }

  Result<void> multiply(const WideProduct& product) override {
    const auto* weights = static_cast<const std::uint16_t*>(product.weights);
    const auto* x = static_cast<const std::uint16_t*>(product.x);
    for (std::int64_t row = 0; row < product.rows; ++row)
      for (std::int64_t output = 0; output < product.outputs; ++output) {
        float sum = 0.0F;
        for (std::int64_t k = 0; k < product.depth; ++k)
          sum += to_float(product.format, weights[output * product.depth + k]) *
                 to_float(product.format, x[row * product.depth + k]);
        product.out[row * product.out_stride + output] = sum;
      }
    return {};
  }

  Result<void> begin_graph() override {
    graphs_.emplace_back();
    capturing_ = true;
    return {};
  }
  Result<int> end_graph() override {
    capturing_ = false;
    return static_cast<int>(graphs_.size()) - 1;
  }
  Result<void> launch_graph(int graph) override {
    for (const auto& kernel : graphs_[static_cast<std::size_t>(graph)]) kernel();
    return {};
  }
  Result<void> synchronise() override { return {}; }

 private:
  static void run(const Launch& launch, const KernelParams& params) {
    visit_kernel(launch, [&]<typename Body>() {
      const auto& arguments = std::get<typename Body::Params>(params);
      run_grid({launch.blocks, Body::threads, launch.shared_bytes}, [&arguments] { Body::run(arguments); });
    });
  }

  int multiprocessors_;
  bool capturing_ = false;
  std::vector<std::vector<std::function<void()>>> graphs_;
};

}  // namespace

std::unique_ptr<Gpu> make_emulated_gpu(int multiprocessors) {
  return std::make_unique<EmulatedGpu>(multiprocessors);
}

}  // namespace draftscope::engine::cuda::emulation
