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
[[nodiscard]] std::optional<WeightFormat> grouped_format(speculation::WeightFormat format,
                                                         DType activations = DType::bf16);
/// The other way: of a format with groups.
[[nodiscard]] speculation::WeightFormat grouped_format(WeightFormat format);

/// The format with groups that a tensor's own blocks or packed numbers are in; none of plain numbers and of
/// other blocks.
[[nodiscard]] std::optional<WeightFormat> stored_groups(const TensorView& tensor);

/// Those of a head: none of a format that may have plain matrices beside it, whose kernels are of layers
/// alone.
[[nodiscard]] std::optional<WeightFormat> head_groups(const TensorView& head);

/// The matrix in a format with groups, GroupedLayout::bytes() of it: moved if it is stored so, else rounded
/// as cpu::quantise_block() does, to int4 (pack_int4.h), to fp8_block (pack_fp8_block.h) or to Q4_K
/// (two_levels.h). Its columns are a multiple of part_depth. From all processors. None if a group holds what
/// is no finite number.
[[nodiscard]] std::optional<std::vector<std::byte>> pack_groups(const TensorView& matrix,
                                                                WeightFormat format);

/// Writes the codes of part_depth values, a part of each lane's chunk of a run.
void put_codes(const GroupedLayout& layout, const std::uint8_t* codes, std::int64_t part, std::byte* run);

}  // namespace draftscope::engine::cuda
