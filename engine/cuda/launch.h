// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Names a kernel and its launch configuration.

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
  // Parts of a wide pass that are in no program.
  prefill_attention,
  finish_wide_qkv,
  finish_wide_gate,
  add_wide,
  // All other kernels.
  select_top,
  move_cache_rows,
  move_states,
  compare_states,
};
inline constexpr int kernel_count = static_cast<int>(Kernel::compare_states) + 1;

// How kernels take weights: plain numbers, e4m3 with one scale per output, or groups that share scales
// (kernels/grouped_weights.h). Activations are bf16 unless the name says f16. Layers may be in two formats:
// one whose files mix types, and bf16_beside_groups for their other matrices (DeviceMatrix::is_beside).
//
// FORMAT(name here, struct of kernels, groups that share scales, name in speculation/weight_format.h). The
// build compiles a program for each struct but PlainBesideGroups: it reads these lines (CMakeLists.txt).
#define DRAFTSCOPE_KERNEL_FORMATS(FORMAT)                      \
  FORMAT(bf16, PlainWeights<Bf16>, nullptr, bf16)              \
  FORMAT(bf16_beside_groups, PlainBesideGroups, nullptr, bf16) \
  FORMAT(f16, PlainWeights<F16>, nullptr, f16)                 \
  FORMAT(fp8, Fp8Weights, nullptr, fp8)                        \
  FORMAT(q8_0, Q8_0Weights, &q8_0_layout, q8_0)                \
  FORMAT(q4_0, Q4_0Weights, &q4_0_layout, q4_0)                \
  FORMAT(q4_k, Q4_KWeights, &q4_k_layout, q4_k)                \
  FORMAT(int4, Int4Weights<Bf16>, &int4_layout, int4)          \
  FORMAT(int4_f16, Int4Weights<F16>, &int4_layout, int4)       \
  FORMAT(fp8_block, BlockFp8Weights, &fp8_block_layout, fp8_block)

enum class KernelFormat : std::uint8_t {
#define DRAFTSCOPE_NAME(name, Struct, groups, stored) name,
  DRAFTSCOPE_KERNEL_FORMATS(DRAFTSCOPE_NAME)
#undef DRAFTSCOPE_NAME
};
#define DRAFTSCOPE_ONE(name, Struct, groups, stored) +1
inline constexpr int kernel_format_count = DRAFTSCOPE_KERNEL_FORMATS(DRAFTSCOPE_ONE);
#undef DRAFTSCOPE_ONE

constexpr bool has_f16_activations(KernelFormat format) {
  return format == KernelFormat::f16 || format == KernelFormat::int4_f16;
}

/// Null for formats without groups.
constexpr const GroupedLayout* grouped_layout(KernelFormat format) {
#define DRAFTSCOPE_GROUPS(name, Struct, groups, stored) groups,
  constexpr const GroupedLayout* layouts[] = {DRAFTSCOPE_KERNEL_FORMATS(DRAFTSCOPE_GROUPS)};
#undef DRAFTSCOPE_GROUPS
  return layouts[static_cast<std::size_t>(format)];
}

struct Launch {
  Kernel kernel = Kernel::program;
  KernelFormat format = KernelFormat::bf16;
  int head_dim = 0;  ///< The head size of attention kernels.
  int blocks = 1;    ///< At most one per multiprocessor for a program, so that all are resident.
  std::size_t shared_bytes = 0;
};

using KernelParams = std::variant<BankParams, WideParams, TopParams, MoveParams, ProgramParams, PieceParams>;

}  // namespace draftscope::engine::cuda
