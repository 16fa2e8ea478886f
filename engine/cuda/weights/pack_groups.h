// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From a checkpoint's matrices to matrices with groups, as kernels read them (kernels/grouped_layout.h): a
// file's own codes and scales in another place, or the CPU backend's rounding of plain numbers.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/weight_format.h>
#include <cstddef>
#include <optional>
#include <vector>

#include "cuda/launch.h"

namespace draftscope::engine::cuda {

/// The kernels' name of a format that has groups; none of any other. `activations` matter to int4 alone.
[[nodiscard]] std::optional<KernelFormat> grouped_format(speculation::WeightFormat format,
                                                         DType activations = DType::bf16);
/// The name of a kernels' format in files and recordings.
[[nodiscard]] speculation::WeightFormat stored_name(KernelFormat format);
/// Whether layers in the format may have plain matrices beside it.
[[nodiscard]] bool takes_plain_beside(KernelFormat format);

/// The format with groups that a tensor's own blocks or packed numbers are in; none of plain numbers and of
/// other blocks.
[[nodiscard]] std::optional<KernelFormat> stored_groups(const TensorView& tensor);

/// The format with groups of a head: none of a format that may have plain matrices beside it, whose kernels
/// are of layers alone.
[[nodiscard]] std::optional<KernelFormat> head_groups(const TensorView& head);

// Packing. Each function returns GroupedLayout::bytes() of the matrix, whose columns are a multiple of
// part_depth, and works on all processors. A matrix that is stored in the format is moved, any other rounded.
// None if a group has a number that is not finite.

/// The matrix in any format with groups. Blocks are rounded as cpu::quantise_block() does, Q4_K as
/// round_to_two_levels() does.
[[nodiscard]] std::optional<std::vector<std::byte>> pack_groups(const TensorView& matrix,
                                                                KernelFormat format);

/// In int4_layout: AWQ's and GPTQ's own integers, scales and zero points (is_int4()), or plain numbers
/// rounded to the nearest of sixteen that lie evenly from a group's least to its largest, zero among them.
[[nodiscard]] std::optional<std::vector<std::byte>> pack_int4(const TensorView& matrix);

/// In fp8_block_layout: a folder's own codes and scales (is_fp8_block()), or plain numbers rounded to e4m3
/// with a scale for each 128 × 128 of them, whose largest magnitude becomes 448. None also if bf16 does not
/// have a number.
[[nodiscard]] std::optional<std::vector<std::byte>> pack_fp8_block(const TensorView& matrix);

/// A matrix in e4m3 with a scale an output.
struct Fp8Rows {
  std::vector<std::byte> codes;  ///< [rows][columns]
  std::vector<float> scales;     ///< [rows]
};
/// A folder's own codes and scales (is_fp8()), or plain numbers rounded to e4m3, the largest magnitude of a
/// row to 448. None if a number is not finite.
[[nodiscard]] std::optional<Fp8Rows> pack_fp8(const TensorView& matrix);

/// Writes the codes of part_depth values, a part of each lane's chunk of a run.
void put_codes(const GroupedLayout& layout, const std::uint8_t* codes, std::int64_t part, std::byte* run);

}  // namespace draftscope::engine::cuda
