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
  program,
  pack_pieces,
  unpack_pieces,
  // Parts of a wide pass that no program has
  prefill_attention,
  finish_wide_qkv,
  finish_wide_gate,
  add_wide,
  // The rest
  select_top,
  move_cache_rows,
  move_states,
  compare_states,
  quantise_rows,
  make_synthetic,
};

/// How kernels take weights: plain numbers, e4m3 with a scale an output, or groups that share scales
/// (kernels/grouped_weights.h). Activations are bf16, where the name does not say f16. Layers may be in two:
/// Q4_K, and bf16_beside_groups for their other matrices (DeviceMatrix::is_beside).
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

struct Launch {
  Kernel kernel = Kernel::program;
  WeightFormat format = WeightFormat::bf16;
  int head_dim = 0;  ///< of attention
  int blocks = 1;    ///< of a program at most one a multiprocessor: all are resident
  std::size_t shared_bytes = 0;
};

using KernelParams = std::variant<BankParams, WideParams, TopParams, MoveParams, QuantiseParams,
                                  SyntheticParams, ProgramParams, PieceParams>;

}  // namespace draftscope::engine::cuda
