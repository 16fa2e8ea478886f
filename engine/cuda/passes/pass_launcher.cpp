// SPDX-License-Identifier: GPL-3.0-or-later
#include "pass_launcher.h"

#include <draftscope/base/to_size.h>
#include <draftscope/profiler/device_trace.h>
#include <algorithm>

#include "cuda/kernels/launch_shape.h"

namespace draftscope::engine::cuda {

namespace {

constexpr int bank_blocks = 8;  // per multiprocessor

}  // namespace

Result<void> PassLauncher::launch_wide(Kernel kernel, const DeviceLayer& layer, std::int32_t rows,
                                       Norm norm) {
  return gpu_.launch(
      {.kernel = kernel, .format = formats_.layers, .blocks = rows, .shared_bytes = row_shared_bytes},
      WideParams{base_, layer, rows, norm});
}

Result<void> PassLauncher::wide_layer(const LayerSlot& slot, const DeviceLayer& layer,
                                      const PackedLayer& weights, std::int32_t rows, bool keys_are_ranges) {
  const Workspace& work = base_.work;
  if (slot.attention != 0) {
    DRAFTSCOPE_TRY(programs_.run_part(slot.layer, LayerPart::attention_norm, {0, rows}));
    {
      const profiler::OperationScope scope(programs_.trace(), "qkv", slot.layer);
      DRAFTSCOPE_TRY(multiply(weights, OperationKind::qkv, layer, work.normed, rows,
                              shape_.q_width() + 2 * shape_.kv_width()));
      DRAFTSCOPE_TRY(launch_wide(Kernel::finish_wide_qkv, layer, rows, Norm::attention));
    }
    DRAFTSCOPE_TRY(programs_.run_part(slot.layer, LayerPart::heads, {0, rows}));
    DRAFTSCOPE_TRY(attention(slot, layer, rows, keys_are_ranges));
    DRAFTSCOPE_TRY(finish_sublayer(slot, layer, weights, rows, Norm::attention));
  }
  if (slot.mlp == 0) return {};
  DRAFTSCOPE_TRY(programs_.run_part(slot.layer, LayerPart::mlp_norm, {0, rows}));
  {
    const profiler::OperationScope scope(programs_.trace(), "gate up", slot.layer);
    DRAFTSCOPE_TRY(multiply(weights, OperationKind::gate_up, layer, work.normed, rows, 2 * shape_.d_ff));
    DRAFTSCOPE_TRY(launch_wide(Kernel::finish_wide_gate, layer, rows, Norm::mlp));
  }
  return finish_sublayer(slot, layer, weights, rows, Norm::mlp);
}

Result<void> PassLauncher::attention(const LayerSlot& slot, const DeviceLayer& layer, std::int32_t rows,
                                     bool keys_are_ranges) {
  const profiler::OperationScope scope(programs_.trace(), "attention", slot.layer);
  if (keys_are_ranges)
    return gpu_.launch({.kernel = Kernel::prefill_attention,
                        .format = formats_.layers,
                        .head_dim = shape_.head_dim,
                        .blocks = prefill_blocks(rows, shape_.n_heads, shape_.n_kv_heads),
                        .shared_bytes = prefill_shared_bytes(shape_.head_dim)},
                       WideParams{base_, layer, rows, Norm::attention});
  for (std::int32_t first = 0; first < rows; first += max_decode_rows)
    for (const LayerPart part : {LayerPart::attention, LayerPart::combine_attention})
      DRAFTSCOPE_TRY(programs_.run_part(slot.layer, part, {first, std::min(rows - first, max_decode_rows)}));
  return {};
}

Result<void> PassLauncher::multiply(const PackedLayer& weights, OperationKind kind, const DeviceLayer& layer,
                                    const void* x, std::int32_t rows, std::int32_t outputs) {
  std::int32_t depth = 0;
  for (const PackedProduct& product : weights) {
    if (product.kind != kind) continue;
    depth = product.depth;
    // There is one queue, so the previous product has already read the rows.
    DRAFTSCOPE_TRY(unpack(gpu_, base_.model, layer, product, base_.work.widened));
  }
  const KernelFormat format = has_f16_activations(formats_.layers) ? KernelFormat::f16 : KernelFormat::bf16;
  return gpu_.multiply({format, base_.work.widened, x, base_.work.wide, rows, outputs, depth});
}

Result<void> PassLauncher::finish_sublayer(const LayerSlot& slot, const DeviceLayer& layer,
                                           const PackedLayer& weights, std::int32_t rows, Norm sublayer) {
  const bool of_attention = sublayer == Norm::attention;
  const profiler::OperationScope scope(programs_.trace(), of_attention ? "output projection" : "down",
                                       slot.layer);
  DRAFTSCOPE_TRY(multiply(weights, of_attention ? OperationKind::output : OperationKind::down, layer,
                          of_attention ? base_.work.attended : base_.work.gated, rows, shape_.d_model));
  if (base_.model.normalises_outputs == 0) return launch_wide(Kernel::add_wide, layer, rows, sublayer);
  return programs_.run_part(slot.layer, of_attention ? LayerPart::add_attention : LayerPart::add_mlp,
                            {0, rows});
}

std::size_t PassLauncher::wide_values(const speculation::ModelShape& shape, std::int32_t rows) {
  const std::int32_t widest =
      std::max({shape.q_width() + 2 * shape.kv_width(), 2 * shape.d_ff, shape.d_model});
  return to_size(rows) * to_size(widest);
}

Result<void> PassLauncher::select_top(std::int32_t rows, std::int32_t k, HeadResult* top) {
  return gpu_.launch({.kernel = Kernel::select_top, .blocks = rows, .shared_bytes = row_shared_bytes},
                     TopParams{base_, k, top});
}

Result<void> PassLauncher::run_bank(Kernel kernel, std::int32_t n, const NumberPair* pairs, float* cosines) {
  constexpr int warps = row_threads / warp_threads;
  const int wanted = kernel == Kernel::move_states ? n : (n + warps - 1) / warps;
  return gpu_.launch({.kernel = kernel, .blocks = std::min(wanted, bank_blocks * device_.multiprocessors)},
                     BankParams{base_, n, pairs, cosines});
}

Result<void> PassLauncher::move_cache_rows(const DeviceLayer* layers, std::int32_t n_moves,
                                           const RowMove* moves) {
  return gpu_.launch({.kernel = Kernel::move_cache_rows, .blocks = shape_.n_layers * shape_.n_kv_heads},
                     MoveParams{base_, layers, shape_.n_layers, n_moves, moves});
}

}  // namespace draftscope::engine::cuda
