// SPDX-License-Identifier: GPL-3.0-or-later
#include "emulated_gpu.h"

#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "block_emulation.h"
#include "cuda/dispatch.h"

namespace draftscope::engine::cuda::emulation {

namespace {

constexpr std::size_t shared_bytes = 227 * 1024;

float to_float(WeightFormat format, std::uint16_t bits) {
  return format == WeightFormat::f16 ? F16::to_float(bits) : Bf16::to_float(bits);
}

class EmulatedGpu final : public Gpu {
 public:
  EmulatedGpu(int multiprocessors, std::size_t memory_bytes)
      : multiprocessors_(multiprocessors), free_bytes_(memory_bytes) {}

  GpuDescription describe() const override { return {"emulated GPU", multiprocessors_, shared_bytes}; }
  Result<std::size_t> free_bytes() const override { return free_bytes_; }

  Result<void*> allocate(std::size_t bytes, std::string_view what) override {
    void* memory = bytes <= free_bytes_ ? std::aligned_alloc(256, (bytes + 255) / 256 * 256) : nullptr;
    if (memory == nullptr) return fail("emulated GPU: {} bytes for {}: out of memory", bytes, what);
    std::memset(memory, 0xff, bytes);
    free_bytes_ -= bytes;
    allocated_[memory] = bytes;
    return memory;
  }
  void release(void* memory) override {
    const auto found = allocated_.find(memory);
    if (found == allocated_.end()) return;
    (void)settle("giving memory back");  // as a device: what is queued may still use it
    free_bytes_ += found->second;
    allocated_.erase(found);
    std::free(memory);
  }

  Result<void> upload(void* to, const void* from, std::size_t bytes) override {
    return copy(to, from, bytes);
  }
  Result<void> download(void* to, const void* from, std::size_t bytes) override {
    return copy(to, from, bytes);
  }
  Result<void> copy(void* to, const void* from, std::size_t bytes) override {
    DRAFTSCOPE_TRY(settle("a copy"));
    if (bytes > 0) std::memcpy(to, from, bytes);
    return {};
  }
  Result<void> clear(void* memory, std::size_t bytes) override {
    DRAFTSCOPE_TRY(settle("a memory set"));
    std::memset(memory, 0, bytes);
    return {};
  }

  Result<void> launch(const Launch& launch, const KernelParams& params) override {
    if (launch.shared_bytes > shared_bytes)
      return fail("emulated GPU: a launch asks for {} bytes of shared memory, expected at most {}",
                  launch.shared_bytes, shared_bytes);
    (capturing_ ? graphs_.back() : queue_).push_back({launch, params});
    return {};
  }

  Result<void> multiply(const WideProduct& product) override {
    DRAFTSCOPE_TRY(settle("a library's product"));
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
    DRAFTSCOPE_TRY(settle("a capture"));
    graphs_.emplace_back();
    capturing_ = true;
    return {};
  }
  Result<int> end_graph() override {
    capturing_ = false;
    return static_cast<int>(graphs_.size()) - 1;
  }
  Result<void> launch_graph(int graph) override {
    DRAFTSCOPE_TRY(settle("a graph"));
    run(graphs_[static_cast<std::size_t>(graph)]);
    return {};
  }
  Result<void> synchronise() override { return settle("a wait"); }

 private:
  struct Kept {
    Launch launch;
    KernelParams params;
  };

  /// Everything but launches ends what is queued before it, and has no place in a graph.
  Result<void> settle(std::string_view what) {
    if (capturing_)
      return fail("emulated GPU: {} while launches are captured, expected launches alone", what);
    run(queue_);
    queue_.clear();
    return {};
  }

  /// In order; each kernel that may starts before the one ahead has done anything.
  static void run(const std::vector<Kept>& kernels) {
    std::unique_ptr<GridRun> ahead;
    for (const Kept& kernel : kernels) {
      std::unique_ptr<GridRun> next = grid_of(kernel);
      if (ahead != nullptr) {
        next->start();
        ahead->finish();
      }
      ahead = std::move(next);
    }
    if (ahead != nullptr) ahead->finish();
  }

  static std::unique_ptr<GridRun> grid_of(const Kept& kernel) {
    std::unique_ptr<GridRun> made;
    visit_kernel(kernel.launch, [&]<typename Body>() {
      const auto& arguments = std::get<typename Body::Params>(kernel.params);
      made = std::make_unique<GridRun>(Grid{kernel.launch.blocks, Body::threads, kernel.launch.shared_bytes,
                                            waits_by_itself(kernel.launch.kernel)},
                                       [&arguments] { Body::run(arguments); });
    });
    return made;
  }

  int multiprocessors_;
  std::size_t free_bytes_;
  std::unordered_map<void*, std::size_t> allocated_;
  bool capturing_ = false;
  std::vector<std::vector<Kept>> graphs_;
  std::vector<Kept> queue_;  // launched and not begun
};

}  // namespace

std::unique_ptr<Gpu> make_emulated_gpu(int multiprocessors, std::size_t memory_bytes) {
  return std::make_unique<EmulatedGpu>(multiprocessors, memory_bytes);
}

}  // namespace draftscope::engine::cuda::emulation
