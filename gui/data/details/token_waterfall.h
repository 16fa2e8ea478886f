// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Steps from a token's time in vanilla decoding to its time in a run. One target step yields several tokens,
// which saves time. A verification longer than a vanilla step, drafting, deciding and the rest cost time.
// Covers decoding alone, without the prefill.

#include <draftscope/simulator/analysis/explain.h>
#include <cstdint>
#include <vector>

namespace draftscope::gui {

enum class TokenTime : std::uint8_t {
  vanilla,       ///< Starting point.
  fewer_steps,   ///< One target step for all tokens of a round, instead of one per token.
  verification,  ///< Time beyond one vanilla step.
  draft,
  decide,
  accept,
  outside,  ///< Time outside the rounds' phases.
  run,      ///< End point.
};

struct TokenTimeStep {
  TokenTime what = TokenTime::vanilla;
  double ns = 0.0;         ///< ns per token; the sign of a change says whether it costs time.
  double before_ns = 0.0;  ///< ns per token before this change; 0 for both ends.

  [[nodiscard]] double after_ns() const { return before_ns + ns; }
  [[nodiscard]] bool is_end() const { return what == TokenTime::vanilla || what == TokenTime::run; }
};

/// Steps in the order of TokenTime, both ends included. Each change begins where the previous one ended, and
/// the last ends at the run's time. Empty without a vanilla run, or if the recording does not tell how a
/// round's time splits.
[[nodiscard]] std::vector<TokenTimeStep> token_waterfall(const simulator::RoundAccount& round);

}  // namespace draftscope::gui
