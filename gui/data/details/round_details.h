// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The details of one round, compared with rounds like it.

#include <functional>
#include <optional>

#include "data/opened_recording.h"
#include "data/rounds/draft_confidences.h"
#include "data/rounds/round_times.h"

namespace draftscope::gui {

struct DraftedToken {
  std::string text;
  double confidence = 0.0;
  std::int32_t parent = -1;  ///< Index of the draft token that it extends; -1 = the root.
  DraftFate fate = DraftFate::untested;
  /// Whether the confidence is at least the round's threshold; absent without one.
  std::optional<bool> is_confident;
};

/// Layers of the model that a draft leaves out, in rising order.
struct SkippedLayers {
  std::vector<std::int32_t> attention;
  std::vector<std::int32_t> mlp;
  std::int32_t n_layers = 0;
};

[[nodiscard]] SkippedLayers skipped_layers(const traces::LayerSet& set);

struct RoundDetails {
  std::uint32_t round_index = no_index;
  std::uint32_t run_index = no_index;
  std::uint32_t place = 0;  ///< Place among the run's rounds.
  const traces::Round* round = nullptr;
  const traces::Request* request = nullptr;
  std::vector<DraftedToken> tokens;
  std::string bonus_text;                ///< The target's own token; empty = none.
  std::optional<SkippedLayers> skipped;  ///< Absent if no layers of the model drafted.

  PartTimes parts{};
  /// Rounds of the same run whose target forward had as many rows, including this one.
  std::size_t like_rounds = 0;
  PartTimes like_medians{};  ///< Median of each part by itself; of an even number, the lower middle.
  std::int64_t like_median_ns = 0;
  std::size_t rank = 0;  ///< Rank by length among those rounds; 1 = longest.
};

/// `opened` must have its rows, and outlive the result. Walks all rounds of the run. The result is empty once
/// `should_continue` is false.
[[nodiscard]] std::optional<RoundDetails> round_details(const OpenedRecording& opened,
                                                        std::uint32_t round_index,
                                                        const std::function<bool()>& should_continue);

/// "attention 2, 4–6; MLP 3 (of 30 layers)".
[[nodiscard]] std::string skipped_text(const SkippedLayers& skipped);

/// "0–3, 5" of rising numbers.
[[nodiscard]] std::string ranges_text(const std::vector<std::int32_t>& numbers);

}  // namespace draftscope::gui
