// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Converts a checkpoint's matrices to matrices with groups as kernels read them (kernels/grouped_layout.h): a
// file's own codes and scales are moved, plain numbers are rounded as in the CPU backend.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/weight_format.h>
#include <cstddef>
#include <optional>
#include <vector>

#include "cuda/launch.h"

namespace draftscope::engine::cuda {

/// The kernels' name of a format that has groups; none for any other. `activations` matter to int4 alone.
[[nodiscard]] std::optional<KernelFormat> grouped_format(speculation::WeightFormat format,
                                                         DType activations = DType::bf16);
/// The name of a kernels' format in files and recordings.
[[nodiscard]] speculation::WeightFormat stored_name(KernelFormat format);
/// Whether layers in the format may have plain matrices beside it.
[[nodiscard]] bool takes_plain_beside(KernelFormat format);

/// The format with groups of a tensor's own blocks or packed numbers; none for plain numbers and other
/// blocks.
[[nodiscard]] std::optional<KernelFormat> stored_groups(const TensorView& tensor);

/// The format with groups of a head. None if the format may have plain matrices beside it, since its kernels
/// are for layers alone.
[[nodiscard]] std::optional<KernelFormat> head_groups(const TensorView& head);

// Packing functions. Each returns GroupedLayout::bytes() of the matrix, whose columns are a multiple of
// part_depth, and works on all processors. A matrix that is stored in the format is moved, any other rounded.
// None if a group has a number that is not finite.

/// Packs the matrix in any format with groups. Blocks are rounded as in cpu::quantise_block(), Q4_K as in
/// round_to_two_levels().
[[nodiscard]] std::optional<std::vector<std::byte>> pack_groups(const TensorView& matrix,
                                                                KernelFormat format);

/// Packs in int4_layout the integers, scales and zero points of AWQ and GPTQ (is_int4()), or rounded plain
/// numbers. Those get the nearest of sixteen evenly spaced values from a group's minimum to its maximum; zero
/// is one of them.
[[nodiscard]] std::optional<std::vector<std::byte>> pack_int4(const TensorView& matrix);

/// Packs in fp8_block_layout a folder's own codes and scales (is_fp8_block()), or plain numbers rounded to
/// e4m3. Each 128 × 128 of them share a scale, and their largest magnitude becomes 448. None also if bf16
/// can't represent a number.
[[nodiscard]] std::optional<std::vector<std::byte>> pack_fp8_block(const TensorView& matrix);

/// A matrix in e4m3 with one scale per output.
struct Fp8Rows {
  std::vector<std::byte> codes;  ///< [rows][columns]
  std::vector<float> scales;     ///< [rows]
};
/// Packs a folder's own codes and scales (is_fp8()), or plain numbers rounded to e4m3, with the largest
/// magnitude of a row at 448. None if a number is not finite.
[[nodiscard]] std::optional<Fp8Rows> pack_fp8(const TensorView& matrix);

/// Writes the codes of part_depth values: a part of each lane's chunk of a run.
void put_codes(const GroupedLayout& layout, const std::uint8_t* codes, std::int64_t part, std::byte* run);

}  // namespace draftscope::engine::cuda
