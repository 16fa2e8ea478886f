// SPDX-License-Identifier: GPL-3.0-or-later
#include "emulated_gpu.h"

#include <fmt/format.h>
#include <cstdint>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>

#include "block_emulation.h"
#include "cuda/kernels/device.h"
#include "cuda/kernels/launch_shape.h"
#include "device_accesses.h"
#include "device_emulation.h"
#include "emulated_kernels.h"

namespace draftscope::engine::cuda::emulation {

namespace {

/// Computes what a library computes on a GPU (cuBLAS): one row of out, [outputs], sums in ascending depth, in
/// fp32.
void multiply_row(const WideProduct& product, std::int64_t row) {
  const auto value = [&](const void* values, std::int64_t at) {
    const std::uint16_t bits = static_cast<const std::uint16_t*>(values)[at];
    return product.format == KernelFormat::f16 ? F16::to_float(bits) : Bf16::to_float(bits);
  };
  float* out = product.out + row * product.outputs;
  for (std::int64_t output = 0; output < product.outputs; ++output) {
    float sum = 0.0F;
    for (std::int64_t k = 0; k < product.depth; ++k)
      sum += value(product.weights, output * product.depth + k) * value(product.x, row * product.depth + k);
    out[output] = sum;
  }
}

/// A place in device memory, named after the kernels' buffer that contains it.
std::string name_in(const Workspace& work, const std::byte* address) {
  struct Buffer {
    std::string_view name;
    const void* begin;
  };
  const Buffer buffers[] = {
      {"state", work.state},
      {"extra_keys", work.extra_keys},
      {"hidden", work.hidden},
      {"residual", work.residual},
      {"queries", work.queries},
      {"attended", work.attended},
      {"gated", work.gated},
      {"normed", work.normed},
      {"wide", work.wide},
      {"widened", work.widened},
      {"split_sums", work.split_sums},
      {"split_statistics", work.split_statistics},
      {"logits", work.logits},
      {"head_partials", work.head_partials},
      {"head_results", work.head_results},
      {"draft_logits", work.draft_logits},
      {"draft_rows", work.draft_rows},
      {"target_rows", work.target_rows},
  };
  const Buffer* nearest = nullptr;
  const auto begin = [](const Buffer& buffer) { return static_cast<const std::byte*>(buffer.begin); };
  for (const Buffer& buffer : buffers)
    if (buffer.begin != nullptr && begin(buffer) <= address &&
        (nearest == nullptr || begin(buffer) > begin(*nearest)))
      nearest = &buffer;
  return nearest == nullptr ? "no buffer" : fmt::format("{} + {}", nearest->name, address - begin(*nearest));
}

class EmulatedGpu final : public Gpu {
 public:
  EmulatedGpu(int multiprocessors, std::size_t memory_bytes, std::uint32_t seed, std::size_t shared_bytes)
      : multiprocessors_(multiprocessors),
        free_bytes_(memory_bytes),
        shared_bytes_(shared_bytes),
        order_(seed) {}

  GpuDescription describe() const override {
    return {.name = "emulated GPU",
            .multiprocessors = multiprocessors_,
            .shared_bytes = shared_bytes_,
            .architecture = "sm90"};
  }
  Result<std::size_t> free_bytes() const override { return free_bytes_; }

  Result<void*> allocate(std::size_t bytes, std::string_view what) override {
    void* memory = bytes <= free_bytes_ ? std::aligned_alloc(256, (bytes + 255) / 256 * 256) : nullptr;
    if (memory == nullptr) return fail("emulated GPU: {} bytes for {}: out of memory", bytes, what);
    std::memset(memory, 0xff, bytes);
    free_bytes_ -= bytes;
    allocated_[memory] = bytes;
    accesses_.add(memory, bytes, std::string(what));
    return memory;
  }
  void release(void* memory) override {
    const auto found = allocated_.find(memory);
    if (found == allocated_.end()) return;
    accesses_.remove(memory);
    free_bytes_ += found->second;
    allocated_.erase(found);
    std::free(memory);
  }

  Result<void> upload(void* to, const void* from, std::size_t bytes) override {
    return copy(to, from, bytes);
  }
  Result<void> download_rows(void* to, const void* from, const DeviceRows& rows) override {
    for (std::size_t i = 0; i < rows.count; ++i)
      DRAFTSCOPE_TRY(copy(static_cast<std::byte*>(to) + i * rows.bytes,
                          static_cast<const std::byte*>(from) + i * rows.stride, rows.bytes));
    return {};
  }
  Result<void> clear(void* memory, std::size_t bytes) override {
    std::memset(memory, 0, bytes);
    return fault_;
  }

  /// As on a device, a later call returns the errors of a kernel.
  Result<void> launch(const Launch& launch, const KernelParams& params) override {
    if (launch.shared_bytes > shared_bytes_)
      return fail("emulated GPU: a launch asks for {} bytes of shared memory, expected at most {}",
                  launch.shared_bytes, shared_bytes_);
    if (launch.kernel == Kernel::program && launch.blocks > multiprocessors_)
      return fail("emulated GPU: a program has {} blocks, expected at most {}", launch.blocks,
                  multiprocessors_);
    if (fault_) fault_ = run(emulated_kernel(launch, params));
    return {};
  }

  Result<void> multiply(const WideProduct& product) override {
    for (std::int64_t row = 0; row < product.rows; ++row) multiply_row(product, row);
    return {};
  }

  Result<void> synchronise() override { return fault_; }

 private:
  Result<void> copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    return fault_;
  }

  Result<void> run(const EmulatedKernel& kernel) {
    GridRun grid(kernel.grid, kernel.body, static_cast<std::uint32_t>(order_()));
    std::optional<AccessesOfGrid> seen;
    if (kernel.grid.is_cooperative) seen.emplace(accesses_, kernel.grid.blocks);
    while (grid.go_on()) {
    }
    if (!kernel.work) return accesses_.take_conflict(kernel.name(), {});
    return accesses_.take_conflict(kernel.name(),
                                   [&](const std::byte* address) { return name_in(*kernel.work, address); });
  }

  int multiprocessors_;
  std::size_t free_bytes_;
  std::size_t shared_bytes_;
  std::unordered_map<void*, std::size_t> allocated_;
  std::minstd_rand order_;
  DeviceAccesses accesses_;
  Result<void> fault_;
};

}  // namespace

std::unique_ptr<Gpu> make_emulated_gpu(int multiprocessors, std::size_t memory_bytes, std::uint32_t seed,
                                       std::size_t shared_bytes) {
  return std::make_unique<EmulatedGpu>(multiprocessors, memory_bytes, seed, shared_bytes);
}

}  // namespace draftscope::engine::cuda::emulation
