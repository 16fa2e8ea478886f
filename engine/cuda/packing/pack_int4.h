// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From a checkpoint's matrices to int4 as kernels read it (kernels/grouped_layout.h): AWQ's and GPTQ's own
// integers, scales and zero points in another place, or plain numbers rounded to the nearest of sixteen that
// lie evenly from a group's least to its largest, zero among them.

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <optional>
#include <vector>

namespace draftscope::engine::cuda {

/// The matrix in int4_layout, GroupedLayout::bytes() of it. Its columns are a multiple of part_depth; if
/// it is AWQ's or GPTQ's it is_int4(). From all processors. None if a group holds what is no finite number.
[[nodiscard]] std::optional<std::vector<std::byte>> pack_int4(const TensorView& matrix);

}  // namespace draftscope::engine::cuda
