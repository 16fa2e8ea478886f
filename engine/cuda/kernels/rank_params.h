// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The arguments of the kernels that a rank has beside those of a device with all of the model (rank_sums.h).

#include "params.h"

namespace draftscope::engine::cuda {

inline constexpr int max_device_ranks = 16;  ///< that share a model
/// Parts that the columns of a matrix are cut into, all ranks together, at most as many.
inline constexpr int max_column_parts = 8;

/// A product over a rank's columns of o or down, in parts that are summed each by itself.
struct RankProductParams : PassParams {
  Norm sublayer;                     ///< attention: o; mlp: down
  const std::uint16_t* activations;  ///< [rows][parts · part_depth]
  float* sums;                       ///< [parts][sum_rows][d_model]
  std::int32_t sum_rows;
  std::int32_t parts;
  std::int32_t part_depth;
};

/// Sums of rows from pass.row_begin on.
struct RankSumParams {
  PassParams pass;
  Norm sublayer;
  const float* parts;        ///< [n_parts][.][d_model]: their first row is the launch's
  std::int64_t part_stride;  ///< values from one part to the next
  std::int32_t n_parts;      ///< up to max_device_ranks
  std::int32_t rows;         ///< of the launch, at most
  const float* scale;        ///< [n_parts][d_model] for parts that are not yet completed by it; or null
  float* to;                 ///< of sum_own_parts: [rows][d_model]
};

/// Results of every rank's part of the head, [ranks][…].
struct RankHeadParams {
  PassParams pass;
  const struct HeadPartial* partials;
  const float* logits;
  std::int64_t partials_stride;  ///< values from one rank to the next
  std::int64_t logits_stride;
  std::int32_t ranks;
  std::int32_t first_tokens[max_device_ranks + 1];  ///< rank r has tokens from its own to the next one's
};

}  // namespace draftscope::engine::cuda
