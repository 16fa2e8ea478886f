// SPDX-License-Identifier: GPL-3.0-or-later
#include "emulated_gpu.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "captured_graph.h"
#include "cuda/kernels/launch_shape.h"
#include "device_accesses.h"
#include "device_emulation.h"
#include "emulated_kernels.h"
#include "kernel_queue.h"
#include "library_product.h"

namespace draftscope::engine::cuda::emulation {

namespace {

/// A place of device memory by the kernels' word for the buffer it is in.
std::string name_in(const Workspace& work, const std::byte* address) {
  struct Buffer {
    std::string_view name;
    const void* begin;
  };
  const Buffer buffers[] = {
      {"state", work.state},
      {"slots", work.slots},
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
      {"arrivals", work.arrivals},
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
  EmulatedGpu(int multiprocessors, std::size_t memory_bytes, std::uint32_t seed, std::size_t shared_bytes,
              bool has_loops)
      : multiprocessors_(multiprocessors),
        free_bytes_(memory_bytes),
        shared_bytes_(shared_bytes),
        has_loops_(has_loops),
        queue_(accesses_, seed) {}

  GpuDescription describe() const override {
    constexpr std::size_t reserved = 1024;
    return {.name = "emulated GPU",
            .multiprocessors = multiprocessors_,
            .shared_bytes = shared_bytes_,
            .shared_bytes_of_multiprocessor = shared_bytes_ + reserved,
            .reserved_shared_bytes = reserved,
            .architecture = "sm90",
            .has_loops = has_loops_,
            .has_programs = true};
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
    // As a device: what is queued may still use it, and an error comes back from the next call.
    (void)settle("giving memory back");
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
    DRAFTSCOPE_TRY(settle("a memory set"));
    std::memset(memory, 0, bytes);
    return {};
  }

  Result<void> launch(const Launch& launch, const KernelParams& params) override {
    if (launch.shared_bytes > shared_bytes_)
      return fail("emulated GPU: a launch asks for {} bytes of shared memory, expected at most {}",
                  launch.shared_bytes, shared_bytes_);
    if (capturing_)
      graphs_.back().keep(launch, params);
    else
      enqueue({launch, params});
    return {};
  }

  Result<void> multiply(const WideProduct& product) override {
    DRAFTSCOPE_TRY(refuse_in_capture("a library's product"));
    queue_.add({[] { return std::string("a library's product"); },
                {.blocks = 1, .threads = warp_threads},
                [product] { multiply_out(product); },
                {}});
    return {};
  }

  Result<void> begin_graph() override {
    DRAFTSCOPE_TRY(refuse_in_capture("a capture"));
    graphs_.emplace_back();
    capturing_ = true;
    return {};
  }
  Result<LoopHandle> begin_loop() override {
    if (!has_loops_ || !capturing_)
      return fail("emulated GPU: a loop, expected one in a graph of a device with loops");
    return graphs_.back().begin_loop();
  }
  Result<void> end_loop() override {
    graphs_.back().end_loop();
    return {};
  }
  Result<int> end_graph() override {
    capturing_ = false;
    return static_cast<int>(graphs_.size()) - 1;
  }
  /// As if its first kernel might start beside what was launched before: nothing may count on the contrary.
  Result<void> launch_graph(int graph) override {
    DRAFTSCOPE_TRY(refuse_in_capture("a graph"));
    return graphs_[static_cast<std::size_t>(graph)].run(
        [&](const KeptLaunch& kernel) -> Result<void> {
          enqueue(kernel);
          return {};
        },
        [&] { return settle("a loop"); });
  }
  Result<void> synchronise() override { return settle("a wait"); }

 private:
  Result<void> copy(void* to, const void* from, std::size_t bytes) {
    DRAFTSCOPE_TRY(settle("a copy"));
    if (bytes > 0) std::memcpy(to, from, bytes);
    return {};
  }
  [[nodiscard]] Result<void> refuse_in_capture(std::string_view what) const {
    if (!capturing_) return {};
    return fail("emulated GPU: {} while launches are captured, expected launches alone", what);
  }

  /// Copies and waits end what is queued before them, and have no place in a graph. A fault stays, as on a
  /// device.
  Result<void> settle(std::string_view what) {
    DRAFTSCOPE_TRY(refuse_in_capture(what));
    const Result<void> ran = queue_.run();
    if (fault_) fault_ = ran;
    return fault_;
  }

  void enqueue(const KeptLaunch& kernel) {
    QueuedKernel queued = emulated_kernel(kernel.launch, kernel.params);
    const PassParams* pass = std::get_if<PassParams>(&kernel.params);
    if (const auto* program = std::get_if<ProgramParams>(&kernel.params)) pass = &program->pass;
    if (pass != nullptr)
      queued.place = [work = pass->work](const std::byte* address) { return name_in(work, address); };
    queue_.add(std::move(queued));
  }

  /// One thread does it all.
  static void multiply_out(const WideProduct& product) {
    if (thread_index() != 0) return;
    for (std::int64_t row = 0; row < product.rows; ++row) {
      note_device_write(product.out + row * product.out_stride,
                        static_cast<std::size_t>(product.outputs) * sizeof(float));
      multiply_row(product, row);
    }
  }

  int multiprocessors_;
  std::size_t free_bytes_;
  std::size_t shared_bytes_;
  bool has_loops_;
  std::unordered_map<void*, std::size_t> allocated_;
  bool capturing_ = false;
  std::vector<CapturedGraph> graphs_;
  DeviceAccesses accesses_;
  KernelQueue queue_;  // launched and not begun
  Result<void> fault_;
};

}  // namespace

std::unique_ptr<Gpu> make_emulated_gpu(int multiprocessors, std::size_t memory_bytes, std::uint32_t seed,
                                       std::size_t shared_bytes, bool has_loops) {
  return std::make_unique<EmulatedGpu>(multiprocessors, memory_bytes, seed, shared_bytes, has_loops);
}

}  // namespace draftscope::engine::cuda::emulation
