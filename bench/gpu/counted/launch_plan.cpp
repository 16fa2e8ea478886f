// SPDX-License-Identifier: GPL-3.0-or-later
#include "launch_plan.h"

#include <algorithm>

#include "cuda/gpu.h"
#include "cuda/packing/pack_groups.h"
#include "cuda/pass_launcher.h"

namespace draftscope::bench {

namespace {

using engine::cuda::DeviceRows;
using engine::cuda::Gpu;
using engine::cuda::GpuDescription;
using engine::cuda::KernelParams;
using engine::cuda::Launch;
using engine::cuda::LoopHandle;
using engine::cuda::PassLauncher;
using engine::cuda::WeightFormat;
using engine::cuda::WideProduct;

struct NotedLaunch {
  PassKernel kernel;
  Launch launch;
};

/// Keeps launches and does nothing.
class PlanningGpu final : public Gpu {
 public:
  explicit PlanningGpu(const PlannedMachine& machine) : machine_(machine) {}

  [[nodiscard]] const std::vector<NotedLaunch>& launches() const { return launches_; }

  GpuDescription describe() const override {
    return {"none", machine_.multiprocessors, machine_.shared_bytes};
  }
  Result<std::size_t> free_bytes() const override { return std::size_t{0}; }
  Result<void*> allocate(std::size_t /*bytes*/, std::string_view what) override {
    return fail("{}: a plan has no memory", what);
  }
  void release(void* /*memory*/) override {}
  Result<void> upload(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/) override { return {}; }
  Result<void> download_rows(void* /*to*/, const void* /*from*/, const DeviceRows& /*rows*/) override {
    return {};
  }
  Result<void> clear(void* /*memory*/, std::size_t /*bytes*/) override { return {}; }
  Result<void> launch(const Launch& launch, const KernelParams& params) override {
    launches_.push_back({pass_kernel(launch, params), launch});
    return {};
  }
  Result<void> multiply(const WideProduct& /*product*/) override { return {}; }
  Result<void> begin_graph() override { return {}; }
  Result<LoopHandle> begin_loop() override { return LoopHandle{0}; }
  Result<void> end_loop() override { return {}; }
  Result<int> end_graph() override { return 0; }
  Result<void> launch_graph(int /*graph*/) override { return {}; }
  Result<void> synchronise() override { return {}; }

 private:
  PlannedMachine machine_;
  std::vector<NotedLaunch> launches_;
};

Result<std::vector<NotedLaunch>> launches_of(const speculation::ModelShape& shape,
                                             const PlannedMachine& machine, std::int32_t rows,
                                             engine::CudaWeights weights) {
  PlanningGpu gpu(machine);
  const WeightFormat layers =
      !weights ? WeightFormat::bf16 : engine::cuda::grouped_format(*weights).value_or(WeightFormat::fp8);
  PassLauncher launcher(gpu, {}, shape, {.layers = layers}, nullptr);
  DRAFTSCOPE_TRY(launcher.load_inputs(rows));
  DRAFTSCOPE_TRY(launcher.layer(0, rows));
  DRAFTSCOPE_TRY(launcher.head(0, rows, false));
  DRAFTSCOPE_TRY(launcher.finish_head(rows));
  return gpu.launches();
}

}  // namespace

Result<std::vector<PlannedKernel>> launch_plan(const speculation::ModelShape& shape,
                                               const PlannedMachine& machine, std::int32_t rows,
                                               engine::CudaWeights weights) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<NotedLaunch> launches, launches_of(shape, machine, rows, weights));
  // Where there are more multiprocessors than tiles, a launch has a block a tile.
  constexpr std::int32_t more_than_tiles = 1 << 24;
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<NotedLaunch> by_tile,
                        launches_of(shape, {more_than_tiles, machine.shared_bytes}, rows, weights));
  std::vector<PlannedKernel> plan;
  for (const auto& [kernel, launch] : launches) {
    const auto known = std::find(plan.begin(), plan.end(), kernel);
    if (known != plan.end()) {
      ++known->launches;
      continue;
    }
    const auto tiled =
        std::find_if(by_tile.begin(), by_tile.end(),
                     [&, of = kernel](const NotedLaunch& other) { return other.kernel == of; });
    const bool has_tiles = tiled != by_tile.end() && tiled->launch.blocks < more_than_tiles;
    // Its tiles may be narrow where this launch's are not.
    const std::int32_t tiles =
        has_tiles ? (tiled->launch.blocks * tiled->launch.half_outputs + launch.half_outputs - 1) /
                        launch.half_outputs
                  : 0;
    plan.push_back({kernel, 1, launch.columns, launch.blocks, tiles});
  }
  return plan;
}

}  // namespace draftscope::bench
