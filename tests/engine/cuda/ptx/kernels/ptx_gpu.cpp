// SPDX-License-Identifier: GPL-3.0-or-later
#include "ptx_gpu.h"

#include <draftscope/base/text_file.h>

#include <cstddef>
#include <span>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include "captured_graph.h"
#include "cuda/dispatch.h"
#include "library_product.h"
#include "run/readable_name.h"

namespace draftscope::engine::cuda::emulation {

namespace {

constexpr std::size_t memory_bytes = std::size_t{1} << 30;

class PtxGpu final : public Gpu {
 public:
  explicit PtxGpu(PtxGpuOptions options)
      : options_(std::move(options)),
        device_({.seed = options_.seed,
                 .max_shared_bytes = options_.shared_bytes,
                 .set_condition = set_condition}) {}

  Result<void> open(const std::string& ptx_file) {
    DRAFTSCOPE_TRY_ASSIGN(std::string text, read_text_file(ptx_file, max_settings_bytes));
    DRAFTSCOPE_TRY(device_.load("kernels", std::move(text)));
    return device_.decode_all();
  }

  GpuDescription describe() const override {
    return {.name = "PTX interpreter",
            .multiprocessors = options_.multiprocessors,
            .shared_bytes = options_.shared_bytes,
            .has_loops = true};
  }
  Result<std::size_t> free_bytes() const override { return memory_bytes; }

  Result<void*> allocate(std::size_t bytes, std::string_view what) override {
    DRAFTSCOPE_TRY_ASSIGN(std::byte* const memory, device_.allocate(std::string(what), bytes));
    return memory;
  }
  void release(void* memory) override { device_.release(memory); }
  Result<void> upload(void* to, const void* from, std::size_t bytes) override {
    return device_.upload(to, from, bytes);
  }
  Result<void> download_rows(void* to, const void* from, const DeviceRows& rows) override {
    for (std::size_t i = 0; i < rows.count; ++i)
      DRAFTSCOPE_TRY(device_.download(static_cast<std::byte*>(to) + i * rows.bytes,
                                      static_cast<const std::byte*>(from) + i * rows.stride, rows.bytes));
    return {};
  }
  Result<void> clear(void* memory, std::size_t bytes) override { return device_.clear(memory, bytes); }

  Result<void> launch(const Launch& launch, const KernelParams& params) override {
    if (!capturing_) return run({launch, params});
    graphs_.back().keep(launch, params);
    return {};
  }

  Result<void> multiply(const WideProduct& product) override {
    device_.begin_library_kernel();
    for (std::int64_t row = 0; row < product.rows; ++row) {
      DRAFTSCOPE_TRY(device_.note_written_by_library(
          product.out + row * product.out_stride, static_cast<std::size_t>(product.outputs) * sizeof(float)));
      multiply_row(product, row);
    }
    return {};
  }

  Result<void> begin_graph() override {
    graphs_.emplace_back();
    capturing_ = true;
    return {};
  }
  Result<LoopHandle> begin_loop() override { return graphs_.back().begin_loop(); }
  Result<void> end_loop() override {
    graphs_.back().end_loop();
    return {};
  }
  Result<int> end_graph() override {
    capturing_ = false;
    return static_cast<int>(graphs_.size()) - 1;
  }
  Result<void> launch_graph(int graph) override {
    return graphs_[static_cast<std::size_t>(graph)].run([&](const KeptLaunch& kept) { return run(kept); },
                                                        [&] { return synchronise(); });
  }
  Result<void> synchronise() override { return {}; }

 private:
  static bool set_condition(LoopHandle loop, bool goes_on) {
    LoopCondition* const condition = find_loop_condition(loop);
    if (condition != nullptr) condition->set(goes_on);
    return condition != nullptr;
  }

  Result<void> run(const KeptLaunch& kept) {
    const auto& [launch, params] = kept;
    if (options_.before) DRAFTSCOPE_TRY(options_.before(device_, launch, params));
    const std::string name = entry_name(launch);
    ptx::LaunchRequest request{.entry = name};
    request.blocks.x = static_cast<std::uint32_t>(launch.blocks);
    request.threads.x =
        visit_kernel(launch, []<typename Body>() { return static_cast<std::uint32_t>(Body::threads); });
    request.shared_bytes = launch.shared_bytes;
    request.may_start_early = waits_by_itself(launch.kernel);
    request.counts = options_.counts;
    std::vector<ptx::CountedRange> ranges;
    if (options_.ranges) ranges = options_.ranges(device_, params);
    request.ranges = ranges;
    request.parameters.push_back(
        std::visit([](const auto& value) { return std::as_bytes(std::span(&value, 1)); }, params));
    DRAFTSCOPE_TRY_ASSIGN(const ptx::LaunchCounts counts, device_.launch(request));
    if (options_.after) DRAFTSCOPE_TRY(options_.after(device_, launch, params, counts));
    return {};
  }

  PtxGpuOptions options_;
  ptx::Device device_;
  bool capturing_ = false;
  std::vector<CapturedGraph> graphs_;
};

}  // namespace

const PassParams* pass_of(const KernelParams& params) {
  return std::visit(
      [](const auto& value) -> const PassParams* {
        using Params = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Params, PassParams>)
          return &value;
        else if constexpr (requires { value.pass; })
          return &value.pass;
        else
          return nullptr;
      },
      params);
}

std::vector<Launch> all_launches() {
  std::vector<Launch> launches;
  for (int kernel = 0; kernel <= static_cast<int>(Kernel::make_synthetic); ++kernel)
    for (const auto format : {WeightFormat::bf16, WeightFormat::f16, WeightFormat::fp8, WeightFormat::q8_0,
                              WeightFormat::q4_0, WeightFormat::q4_k, WeightFormat::bf16_beside_groups,
                              WeightFormat::int4, WeightFormat::int4_f16, WeightFormat::fp8_block})
      for (const int columns : {8, 16, widest_columns})
        for (const int half_outputs : {tile_half, narrow_half})
          for (const bool reads_normed : {false, true})
            for (const int head_dim : {32, 64, 96, 128})
              launches.push_back(
                  {static_cast<Kernel>(kernel), format, columns, half_outputs, reads_normed, head_dim});
  return launches;
}

std::string entry_name(const Launch& launch) {
  return visit_kernel(
      launch, []<typename Body>() { return "entry<" + ptx::readable_name(typeid(Body).name()) + ">"; });
}

Result<std::unique_ptr<Gpu>> make_ptx_gpu(const std::string& ptx_file, PtxGpuOptions options) {
  auto made = std::make_unique<PtxGpu>(std::move(options));
  DRAFTSCOPE_TRY(made->open(ptx_file));
  return made;
}

}  // namespace draftscope::engine::cuda::emulation
