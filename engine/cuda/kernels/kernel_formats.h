// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The formats of weights that kernels multiply, a row each; nothing in it is specific to the device.

#include <cstddef>
#include <cstdint>

#include "grouped_layout.h"

namespace draftscope::engine::cuda {

inline constexpr int max_scale_words = 3;

// Layouts of formats with groups, by the scales that they store:
// Q8_0, Q4_0  an fp16 number per part
// int4        a word per run: its scale as fp16 in the low half, the number to subtract (int4_offset()) in
//             the high half
// Q4_K        the fields of a GGUF file per 256 weights: two fp16 numbers, and a scale and a minimum of 6
//             bits for each part (block_formats.cpp)
// fp8_block   an fp32 number per 128 values, 256 times the scale that `sharing_rows` rows share; those rows
//             count as one row here
inline constexpr GroupedLayout q8_0_layout{.code_bits = 8, .scale_depth = 256};
inline constexpr GroupedLayout q4_0_layout{.code_bits = 4, .scale_depth = 256, .scale_words = 2};
inline constexpr GroupedLayout int4_layout{.code_bits = 4, .scale_depth = 512};
inline constexpr GroupedLayout q4_k_layout{.code_bits = 4, .scale_depth = 256, .scale_words = 3};
inline constexpr GroupedLayout fp8_block_layout{.code_bits = 8, .scale_depth = 512, .sharing_rows = 8};
inline constexpr int fp8_block_depth = 128;  ///< Values of k per scale.

// How kernels take weights: plain numbers, e4m3 with one scale per output, or groups that share scales
// (grouped_weights.h). Activations are bf16 unless the name says f16. Layers may be in two formats:
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

}  // namespace draftscope::engine::cuda
