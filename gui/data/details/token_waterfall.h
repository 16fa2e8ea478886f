// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From the time of a token of vanilla decoding to that of a run, step by step: one target step yields several
// tokens, which saves; a verification that takes longer than a step, drafting, deciding and what is left
// cost. Decoding alone, without the prefill.

#include <draftscope/simulator/analysis/explain.h>
#include <cstdint>
#include <vector>

namespace draftscope::gui {

enum class TokenTime : std::uint8_t {
  vanilla,       ///< where it begins
  fewer_steps,   ///< one target step for all tokens of a round, instead of one each
  verification,  ///< beyond one vanilla step
  draft,
  decide,
  accept,
  outside,  ///< Time outside the rounds' phases.
  run,      ///< where it ends
};

struct TokenTimeStep {
  TokenTime what = TokenTime::vanilla;
  double ns = 0.0;         ///< per token; of a change its sign says whether it costs
  double before_ns = 0.0;  ///< time of a token before it; 0 of both ends

  [[nodiscard]] double after_ns() const { return before_ns + ns; }
  [[nodiscard]] bool is_end() const { return what == TokenTime::vanilla || what == TokenTime::run; }
};

/// In the order of TokenTime, both ends included; each change begins where the one before it ended, and the
/// last ends at the run's time. Empty where there is no vanilla run, or where the recording does not tell how
/// a round's time splits.
[[nodiscard]] std::vector<TokenTimeStep> token_waterfall(const simulator::RoundAccount& round);

}  // namespace draftscope::gui
