// SPDX-License-Identifier: GPL-3.0-or-later
#include "kernel_traffic.h"

#include <draftscope/base/to_size.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "checkpoint/tensor_slots.h"
#include "cpu/kernels/bf16.h"
#include "cuda/backend.h"
#include "cuda/kernels/launch_shape.h"
#include "cuda/packing/pack_groups.h"
#include "ptx_gpu.h"

namespace draftscope::bench {

namespace {

using engine::cuda::KernelParams;
using engine::cuda::Launch;
using engine::cuda::PassParams;

constexpr std::uint64_t sector_bytes = 32;

void add(ptx::MemoryCount& to, const ptx::MemoryCount& more) {
  to.requests += more.requests;
  to.bytes += more.bytes;
  to.sectors += more.sectors;
  to.unique_bytes += more.unique_bytes;
  to.unique_sectors += more.unique_sectors;
  to.passes += more.passes;
  to.conflicts += more.conflicts;
}

void add(ptx::LaunchCounts& to, const ptx::LaunchCounts& more) {
  using ptx::LaunchCounts;
  to.kernel = more.kernel;
  to.blocks = more.blocks;
  to.threads = more.threads;
  to.warp_instructions += more.warp_instructions;
  to.branches += more.branches;
  to.divergent_branches += more.divergent_branches;
  to.barriers += more.barriers;
  to.prefetched_sectors += more.prefetched_sectors;
  to.useless_prefetches += more.useless_prefetches;
  for (const auto which :
       {&LaunchCounts::global_loads, &LaunchCounts::global_stores, &LaunchCounts::global_atomics,
        &LaunchCounts::shared_loads, &LaunchCounts::shared_stores, &LaunchCounts::local_loads,
        &LaunchCounts::local_stores})
    add(to.*which, more.*which);
  to.kinds.resize(std::max(to.kinds.size(), more.kinds.size()));
  for (std::size_t i = 0; i < more.kinds.size(); ++i) {
    add(to.kinds[i].loads, more.kinds[i].loads);
    add(to.kinds[i].stores, more.kinds[i].stores);
    add(to.kinds[i].atomics, more.kinds[i].atomics);
  }
  for (const ptx::InstructionCount& count : more.instructions) {
    const auto known =
        std::find_if(to.instructions.begin(), to.instructions.end(),
                     [&](const ptx::InstructionCount& other) { return other.spelling == count.spelling; });
    ptx::InstructionCount& sum =
        known != to.instructions.end()
            ? *known
            : to.instructions.emplace_back(ptx::InstructionCount{.spelling = count.spelling});
    sum.warps += count.warps;
    sum.lanes += count.lanes;
  }
}

/// Hears of every launch of a backend's passes.
class Listener {
 public:
  Listener(const speculation::ModelShape& shape, const CountedPass& pass) : shape_(shape), pass_(pass) {}

  /// Launches from here on are counted.
  void begin() { traffic_.clear(); }
  [[nodiscard]] std::vector<KernelTraffic>& traffic() { return traffic_; }

  /// Where weights and K/V lie; gives K/V of rows that no pass has run values when it first sees them.
  std::vector<ptx::CountedRange> ranges(ptx::Device& device, const KernelParams& params) {
    const PassParams* const pass = engine::cuda::emulation::pass_of(params);
    if (pass == nullptr || pass->model.embedding == nullptr) return {};
    const auto address = [](const void* at) {
      return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(at));
    };
    const ptx::Region* const weights = device.memory().find(address(pass->model.embedding));
    if (weights == nullptr) return {};
    const std::size_t cache_bytes = 2 * to_size(shape_.n_layers) * to_size(pass->model.cache_rows) *
                                    to_size(shape_.kv_width()) * sizeof(std::uint16_t);
    std::uint16_t* const cache = pass->layers[0].keys;
    if (!std::exchange(has_cleared_, true)) (void)device.clear(cache, cache_bytes);
    std::vector<ptx::CountedRange> ranges;
    const auto add_range = [&](const void* begin, std::size_t bytes, Held held) {
      if (begin != nullptr) ranges.push_back({address(begin), bytes, static_cast<std::size_t>(held)});
    };
    add_range(cache, cache_bytes, Held::cache);
    // Norms lie among the matrices, and every block reads them.
    const std::size_t norm_bytes = to_size(shape_.d_model) * sizeof(float);
    add_range(pass->model.final_norm, norm_bytes, Held::others);
    for (std::int32_t layer = 0; layer < shape_.n_layers; ++layer)
      for (const float* norm : {pass->layers[layer].attention_norm, pass->layers[layer].mlp_norm})
        add_range(norm, norm_bytes, Held::others);
    ranges.push_back({weights->begin(), weights->bytes(), static_cast<std::size_t>(Held::weights)});
    return ranges;
  }

  void launched(const PassKernel& kernel, const ptx::LaunchCounts& counts) {
    const auto known = std::find(traffic_.begin(), traffic_.end(), kernel);
    KernelTraffic& traffic = known != traffic_.end() ? *known : traffic_.emplace_back(KernelTraffic{kernel});
    ++traffic.launches;
    add(traffic.counts, counts);
    // What no range holds.
    std::vector<ptx::KindCount>& kinds = traffic.counts.kinds;
    if (kinds.size() <= held_names.size()) return;
    ptx::KindCount& others = kinds[static_cast<std::size_t>(Held::others)];
    add(others.loads, kinds.back().loads);
    add(others.stores, kinds.back().stores);
    add(others.atomics, kinds.back().atomics);
    kinds.pop_back();
  }

 private:
  speculation::ModelShape shape_;
  CountedPass pass_;
  bool has_cleared_ = false;
  std::vector<KernelTraffic> traffic_;
};

/// Rounds the numbers of a model in bf16 to fp16.
void round_to_f16(engine::Checkpoint& checkpoint) {
  const auto numbers = std::make_shared<std::vector<std::vector<std::uint16_t>>>();
  for (const engine::TensorSlot& slot : engine::tensor_slots(checkpoint.shape, checkpoint.weights)) {
    std::vector<std::uint16_t>& rounded = numbers->emplace_back(to_size(slot.rows * slot.columns));
    std::memcpy(rounded.data(), slot.view->data, slot.view->bytes());
    for (std::uint16_t& number : rounded)
      number = engine::cpu::float_to_f16(engine::cpu::bf16_to_float(number));
    slot.view->data = reinterpret_cast<const std::byte*>(rounded.data());
    slot.view->dtype = engine::DType::f16;
  }
  if (checkpoint.shape.tied_embeddings) checkpoint.weights.head = checkpoint.weights.embedding;
  checkpoint.storage = numbers;
}

void multiply(NeededBytes& bytes, std::uint64_t times) {
  for (const auto which : {&NeededBytes::weights, &NeededBytes::cache_read, &NeededBytes::cache_written,
                           &NeededBytes::others_read, &NeededBytes::others_written})
    bytes.*which *= times;
}

Result<void> run_pass(engine::Backend& backend, const CountedPass& pass) {
  std::vector<engine::Row> rows;
  rows.reserve(static_cast<std::size_t>(pass.rows));
  for (std::int32_t i = 0; i < pass.rows; ++i)
    rows.push_back({(7 * i + 3) % backend.shape().vocab, -1, pass.context + i});
  engine::Batch batch;
  batch.rows = rows;
  batch.committed = pass.context;
  batch.first_row = pass.context;
  batch.layers = {0, backend.shape().n_layers};
  batch.wanted.head = true;
  batch.wanted.head_from = pass.rows > engine::cuda::max_decode_rows ? pass.rows - 1 : 0;
  batch.wanted.top_k = 1;
  engine::Outputs outputs;
  return backend.forward(batch, outputs);
}

}  // namespace

std::uint64_t KernelTraffic::moved(Held held) const {
  const auto i = static_cast<std::size_t>(held);
  if (i >= counts.kinds.size()) return 0;
  const ptx::KindCount& kind = counts.kinds[i];
  const std::uint64_t read = held == Held::weights ? kind.loads.sectors : kind.loads.unique_sectors;
  return (read + kind.stores.unique_sectors) * sector_bytes;
}

std::uint64_t KernelTraffic::moved() const {
  return moved(Held::weights) + moved(Held::cache) + moved(Held::others);
}

std::uint64_t KernelTraffic::requested(Held held) const {
  const auto i = static_cast<std::size_t>(held);
  return i < counts.kinds.size() ? counts.kinds[i].loads.sectors * sector_bytes : 0;
}

double KernelTraffic::ratio() const {
  return needed.total() == 0 ? 0.0 : static_cast<double>(moved()) / static_cast<double>(needed.total());
}

std::string_view instruction_class(std::string_view spelling) {
  const auto begins = [&](std::string_view head) { return spelling.starts_with(head); };
  const auto has = [&](std::string_view part) { return spelling.find(part) != std::string_view::npos; };
  if (begins("mma") || begins("ldmatrix")) return "matrix";
  if (begins("cp.") || begins("prefetch.")) return "global";
  if (begins("ld.") || begins("st.") || begins("atom.") || begins("red."))
    return has(".shared") ? "shared" : has(".param") ? "parameters" : "global";
  if (begins("shfl") || begins("bar") || begins("vote") || begins("membar") || begins("fence") ||
      begins("griddep") || begins("bra") || begins("ret") || begins("exit"))
    return "control";
  if (begins("cvt")) return "conversion";
  if (has(".f32") || has(".f64") || has(".f16") || has(".bf16")) return "float";
  return "integer";
}

speculation::ModelShape small_shape(const speculation::ModelShape& of, std::int32_t scale,
                                    engine::CudaWeights weights) {
  speculation::ModelShape shape = of;
  const std::int32_t group = of.n_heads / of.n_kv_heads;
  // A slice is a whole run: the shares of a row that warps take.
  const auto groups = weights ? engine::cuda::grouped_format(*weights) : std::nullopt;
  const std::int32_t run =
      groups ? engine::cuda::grouped_layout(*groups)->run_depth() : engine::cuda::slice_granule;
  const std::int32_t min_width = engine::cuda::product_slices * run;
  shape.name = "small " + of.name;
  shape.n_layers = 2;
  shape.n_kv_heads = std::max(1, min_width / (group * of.head_dim)) * scale;
  shape.n_heads = group * shape.n_kv_heads;
  shape.d_model = shape.q_width();
  shape.d_ff = 2 * shape.d_model;
  shape.vocab = 2 * shape.d_model;
  shape.max_positions = max_counted_context + 1024;
  shape.rope = {};
  return shape;
}

speculation::ModelShape deep_shape(const speculation::ModelShape& of, std::int32_t scale,
                                   engine::CudaWeights weights) {
  speculation::ModelShape shape = small_shape(of, scale, weights);
  constexpr std::int32_t deeper = 4;
  shape.n_layers = 1;
  shape.d_model *= deeper;
  shape.vocab *= deeper;
  return shape;
}

speculation::ModelShape shape_of_wide_rows(const speculation::ModelShape& of, std::int32_t scale,
                                           engine::CudaWeights weights) {
  speculation::ModelShape shape = deep_shape(of, scale, weights);
  shape.d_model *= 2;
  return shape;
}

Result<std::vector<KernelTraffic>> count_pass(const speculation::ModelShape& shape, const CountedPass& pass) {
  constexpr double redundancy = 0.5;
  DRAFTSCOPE_TRY_ASSIGN(engine::Checkpoint checkpoint, engine::make_synthetic(shape, redundancy, 1));
  if (pass.activations == engine::DType::f16) round_to_f16(checkpoint);
  Listener listener(shape, pass);
  engine::cuda::emulation::PtxGpuOptions options;
  options.multiprocessors = pass.multiprocessors;
  options.counts = true;
  if (pass.shared_bytes != 0) options.shared_bytes = pass.shared_bytes;
  options.ranges = [&](ptx::Device& device, const KernelParams& params) {
    return listener.ranges(device, params);
  };
  options.after = [&](ptx::Device&, const Launch& launch, const KernelParams& params,
                      const ptx::LaunchCounts& counts) -> Result<void> {
    listener.launched(pass_kernel(launch, params), counts);
    return {};
  };
  DRAFTSCOPE_TRY_ASSIGN(std::unique_ptr<engine::cuda::Gpu> gpu,
                        engine::cuda::emulation::make_ptx_gpu(pass.ptx_file, std::move(options)));
  engine::CudaOptions backend_options;
  backend_options.cache_rows = std::max(engine::cuda::split_keys + pass.context, pass.rows + pass.context);
  backend_options.weights = pass.weights;
  DRAFTSCOPE_TRY_ASSIGN(const std::unique_ptr<engine::Backend> backend,
                        engine::cuda::make_backend(std::move(gpu), checkpoint, backend_options));
  listener.begin();
  DRAFTSCOPE_TRY(run_pass(*backend, pass));
  for (KernelTraffic& traffic : listener.traffic()) {
    const std::uint64_t times = is_of_layers(traffic) ? static_cast<std::uint64_t>(shape.n_layers) : 1;
    traffic.needed = needed_bytes(traffic, shape, pass.rows, pass.context, pass.weights);
    multiply(traffic.needed, times);
    traffic.passed_on = times * passed_on_bytes(traffic, shape, pass.rows);
    traffic.asked_again = static_cast<std::uint64_t>(traffic.launches) *
                          scales_asked_again(traffic.kernel, shape, pass.weights);
  }
  return std::move(listener.traffic());
}

}  // namespace draftscope::bench
