// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A model whose layers predict by hashing the previous text. Drafts can be decoded step by step, also off the
// text, where shadow tables have no data.

#include <cstdint>
#include <span>
#include <vector>

#include "rounds/replay/replay.h"
#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

struct ToyModel {
  std::uint64_t seed = 1;
  std::int32_t n_layers = 6;
  std::int32_t vocab = 40;  ///< Token 0 ends the text, if any does.

  struct Prediction {
    std::int32_t token = 0;
    double confidence = 0.0;
  };
  /// Prediction of layer boundary `layer` for the token after `text`; n_layers is the target. Deeper layers
  /// agree with it more often.
  [[nodiscard]] Prediction predict(std::span<const std::int32_t> text, std::int32_t layer) const;
  /// The vocabulary by the layer's prediction, best first.
  [[nodiscard]] std::vector<std::int32_t> ranking(std::span<const std::int32_t> text,
                                                  std::int32_t layer) const;
};

struct ToyRound {
  std::int32_t root_position = 0;
  std::int32_t exit = 0;
  DraftOutcome outcome;
  std::int32_t emitted = 0;
};

struct ToyDecoding {
  std::vector<std::int32_t> text;  ///< Prompt and output.
  bool ended_at_eos = false;
  std::vector<ToyRound> rounds;
};

/// Decodes like a decode loop: drafts step by step with the policy's exit, and verifies each token with the
/// target. Siblings of a step's first token are leaves.
[[nodiscard]] ToyDecoding decode(const ToyModel& model, std::span<const std::int32_t> prompt, Policy& policy,
                                 const ReplayConditions& conditions);

/// Table of the text from decoding without drafts; `with_end` adds the row of the end token.
[[nodiscard]] ShadowTable shadow_table(const ToyModel& model, std::span<const std::int32_t> prompt,
                                       const ReplayConditions& conditions, bool with_end = false);

/// [start − first]: run length r_E(i), the number of consecutive positions from i on that layer `exit`
/// predicts. O(positions).
[[nodiscard]] std::vector<std::int32_t> run_lengths(const ShadowTable& table, std::int32_t exit);

}  // namespace draftscope::simulator
