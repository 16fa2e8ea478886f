// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Names a kernel and how it is cut up.

#include <cstddef>
#include <cstdint>
#include <variant>

#include "kernels/grouped_layout.h"
#include "kernels/params.h"
#include "kernels/program_params.h"

namespace draftscope::engine::cuda {

enum class Kernel : std::uint8_t {
  qkv,
  normalise_heads,
  attention,
  prefill_attention,
  output,
  add_outputs,
  gate_up,
  down,
  head,
  load_inputs,
  finish_head,
  finish_draft_step,
  finish_sampled_step,
  warp_rows,
  judge_draft,
  begin_last_token,
  begin_verification,
  keep_states,
  select_top,
  move_cache_rows,
  move_states,
  compare_states,
  normalise_rows,
  finish_wide_qkv,
  finish_wide_gate,
  add_wide,
  quantise_rows,
  widen_rows,
  widen_groups,
  make_synthetic,
  program,
  pack_pieces,
};

/// Whether program_dispatch.h has the kernel: no GPU runs it yet.
constexpr bool is_of_programs(Kernel kernel) {
  return kernel == Kernel::program || kernel == Kernel::pack_pieces;
}

/// Whether a kernel waits by itself for those before, so that it may start while they end.
constexpr bool waits_by_itself(Kernel kernel) {
  switch (kernel) {
    case Kernel::qkv:
    case Kernel::normalise_heads:
    case Kernel::attention:
    case Kernel::output:
    case Kernel::add_outputs:
    case Kernel::gate_up:
    case Kernel::down:
    case Kernel::head:
    case Kernel::load_inputs:
    case Kernel::finish_head:
    case Kernel::finish_draft_step:
    case Kernel::finish_sampled_step:
    case Kernel::warp_rows:
    case Kernel::judge_draft:
    case Kernel::begin_last_token:
    case Kernel::begin_verification:
    case Kernel::keep_states:
    case Kernel::normalise_rows:
      return true;
    default:
      return false;
  }
}

/// How kernels take weights: plain numbers, e4m3 with a scale an output, or groups that share scales
/// (kernels/grouped_weights.h). Activations are bf16, where the name does not say f16. Layers may be in two:
/// Q4_K, and bf16_beside_groups for their other matrices (DeviceMatrix::plain).
enum class WeightFormat : std::uint8_t {
  bf16,
  bf16_beside_groups,
  f16,
  fp8,
  q8_0,
  q4_0,
  q4_k,
  int4,
  int4_f16,
  fp8_block,
};

/// Whether layers in the format may have plain matrices beside it.
constexpr bool takes_plain_beside(WeightFormat format) {
  return format == WeightFormat::q4_k;
}

constexpr bool has_f16_activations(WeightFormat format) {
  return format == WeightFormat::f16 || format == WeightFormat::int4_f16;
}

/// Null of formats without groups.
constexpr const GroupedLayout* grouped_layout(WeightFormat format) {
  switch (format) {
    case WeightFormat::q8_0:
      return &q8_0_layout;
    case WeightFormat::q4_0:
      return &q4_0_layout;
    case WeightFormat::q4_k:
      return &q4_k_layout;
    case WeightFormat::int4:
    case WeightFormat::int4_f16:
      return &int4_layout;
    case WeightFormat::fp8_block:
      return &fp8_block_layout;
    default:
      return nullptr;
  }
}

/// Whether a matrix is in bf16_beside_groups.
inline bool is_plain_beside_groups(const DeviceMatrix& matrix) {
  return matrix.plain != nullptr;
}

/// Outputs of a layer's products.
struct ProductOutputs {
  std::int32_t qkv = 0;
  std::int32_t output = 0;
  std::int32_t gate_up = 0;
  std::int32_t down = 0;
};

/// Whether a library's product needs a matrix widened first.
constexpr bool is_widened(WeightFormat format) {
  return format == WeightFormat::fp8 || grouped_layout(format) != nullptr;
}

/// Bytes of a product's stage in shared memory.
constexpr std::int32_t stage_bytes(WeightFormat format) {
  return ring_stage_bytes + (grouped_layout(format) != nullptr ? ring_scale_bytes : 0);
}

struct Launch {
  Kernel kernel = Kernel::qkv;
  WeightFormat format = WeightFormat::bf16;
  int columns = 8;  ///< of a product: the most rows that its kernel computes, 8, 16 or widest_columns
  /// Outputs of half a product's tile; all but gate_up, head and the widest may have narrow_half.
  int half_outputs = tile_half;
  bool reads_normed = false;  ///< of a product: see ProductShape; of the widest kernels alone
  int head_dim = 0;           ///< of attention
  int blocks = 1;
  std::size_t shared_bytes = 0;
};

using KernelParams = std::variant<PassParams, StepParams, StateParams, BankParams, WideParams, TopParams,
                                  MoveParams, QuantiseParams, SyntheticParams, ProgramParams, PackParams>;

}  // namespace draftscope::engine::cuda
