// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small real models, and what their target computes for a text in separate passes, independent of any
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
  double redundancy = 0.5;  ///< drafts are right more often where it is larger
  std::uint64_t seed = 1;
};
[[nodiscard]] Checkpoint small_model(const SmallModel& options);

/// The boundaries 0 … n_layers.
[[nodiscard]] std::vector<std::int32_t> all_boundaries(const speculation::ModelShape& shape);

/// Rows that the target computes for tokens at positions and cache rows first, first + 1, …. The K/V of
/// earlier rows must exist.
struct TargetRows {
  std::int32_t rows = 0;
  std::int32_t d_model = 0;
  Outputs outputs;  ///< hidden states of all boundaries, logits, and the best token of each row
  [[nodiscard]] std::span<const float> state(std::int32_t boundary, std::int32_t row) const;
};
[[nodiscard]] TargetRows run_target(Backend& backend, std::span<const std::int32_t> tokens,
                                    std::int32_t first);

/// Applies the final norm and the head to one state.
[[nodiscard]] TopToken head_of(Backend& backend, std::span<const float> state);

/// The root's states and logits at position `text.size() - 1`, computed from the K/V rows below it. The root
/// is written to a cache row at the far end, so that no row of the text changes.
[[nodiscard]] Outputs look_at_root(Backend& backend, std::span<const std::int32_t> text);

}  // namespace draftscope::engine
