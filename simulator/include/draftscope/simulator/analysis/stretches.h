// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures of stretches of the output: the first 64 generated tokens of each text, the next 64, and so on
// (DEL, Fig. 1(b)). They are sums over rounds; a round belongs to the stretch of its first token, and the
// prefill to none.

#include <draftscope/traces/reader.h>
#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::simulator {

/// Length of a stretch in DEL's Fig. 1(b), in tokens.
inline constexpr std::int32_t published_stretch_tokens = 64;

/// Rounds of one run in one stretch, of one prompt or of all.
struct StretchFigures {
  const traces::Run* run = nullptr;
  const traces::Prompt* prompt = nullptr;  ///< Null = all prompts.
  std::int32_t first_token = 0;            ///< Index of the stretch's first token in the output.
  std::int64_t rounds = 0;
  std::int64_t tokens = 0;  ///< Tokens that the rounds emitted.
  std::int64_t drafted = 0;
  std::int64_t accepted = 0;
  std::int64_t wall_ns = 0;  ///< Duration of the rounds.
  /// Time per token of the vanilla run in the same stretch of the same prompts / that of this run; absent
  /// without a vanilla run.
  std::optional<double> speedup;

  /// Accepted / drafted tokens; absent where nothing was drafted.
  [[nodiscard]] std::optional<double> acceptance_rate() const;
  [[nodiscard]] std::optional<double> tokens_per_second() const;
};

/// Figures of all prompts together, then those of each prompt; both by run in order of the recording, then by
/// stretch. `tokens` is the length of a stretch, at least 1. Repeats of a prompt are added up. The values
/// point into the recording. O(rounds · log stretches).
[[nodiscard]] std::vector<StretchFigures> stretches_of(const traces::Recording& recording,
                                                       std::int32_t tokens = published_stretch_tokens);

}  // namespace draftscope::simulator
