// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From a checkpoint's matrices to fp8_block as kernels read it (kernels/grouped_layout.h): a folder's own
// codes and scales in another place, or plain numbers rounded to e4m3 with a scale for each 128 × 128 of
// them, whose largest magnitude becomes 448.

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <optional>
#include <vector>

namespace draftscope::engine::cuda {

/// The matrix in fp8_block_layout, GroupedLayout::bytes() of it. Its columns are a multiple of part_depth; if
/// it is in e4m3 it is_fp8_block(). From all processors. None if a number is not finite, or none that bf16
/// has.
[[nodiscard]] std::optional<std::vector<std::byte>> pack_fp8_block(const TensorView& matrix);

}  // namespace draftscope::engine::cuda
