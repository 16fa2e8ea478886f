// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small real models, and what their target says of a text: computed by passes of its own, beside any
// decoding.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>

#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

struct SmallModel {
  std::int32_t n_layers = 6;
  std::int32_t vocab = 40;
  double redundancy = 0.5;  ///< the more, the more often drafts are right
  std::uint64_t seed = 1;
};
[[nodiscard]] Checkpoint small_model(const SmallModel& options);

/// 0 … n_layers.
[[nodiscard]] std::vector<std::int32_t> all_boundaries(const speculation::ModelShape& shape);

/// Rows that the target computes for tokens at positions and cache rows first, first + 1, …, after K/V that
/// is there.
struct TargetRows {
  std::int32_t rows = 0;
  std::int32_t d_model = 0;
  Outputs outputs;  ///< hidden states of all boundaries, logits, and the best token of each row
  [[nodiscard]] std::span<const float> state(std::int32_t boundary, std::int32_t row) const;
};
[[nodiscard]] TargetRows run_target(Backend& backend, std::span<const std::int32_t> tokens,
                                    std::int32_t first);

/// Final norm and head on one state.
[[nodiscard]] TopToken head_of(Backend& backend, std::span<const float> state);

/// The root's states and logits at position `text.size() - 1`, from K/V rows below it: in a cache row of its
/// own at the far end, so that none of the text's is written.
[[nodiscard]] Outputs look_at_root(Backend& backend, std::span<const std::int32_t> text);

}  // namespace draftscope::engine
