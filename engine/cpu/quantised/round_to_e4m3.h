// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds weights to e4m3 as GPUs hold them, and writes them as plain numbers. A CPU multiplies such a copy
// like any plain matrix, which saves neither memory nor time: it is for recording which tokens a draft in fp8
// chooses.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/weight_format.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::engine::cpu {

/// Rows and columns that share a scale, by which their largest magnitude becomes 448.
struct E4m3Tile {
  std::int64_t rows = 1;
  std::int64_t columns = 0;  ///< 0 = all of a row
};

/// The tile of a format in e4m3: an output of fp8, 128 × 128 of fp8_block; none of any other format.
[[nodiscard]] std::optional<E4m3Tile> e4m3_tile(speculation::WeightFormat format);

/// A tensor to round.
struct E4m3Tensor {
  TensorView source;
  std::byte* data = nullptr;  ///< [rows][columns] of the output's type
};

/// Rounds tensors, on all processors. `dtype` is the type of the output, to which code times scale is rounded
/// in turn. Tiles with a NaN or an infinity become NaN.
void round_to_e4m3(const std::vector<E4m3Tensor>& tensors, E4m3Tile tile, DType dtype);

}  // namespace draftscope::engine::cpu
