// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From which acceptance on a setting pays: the closed forms (closed_forms.h) solved for S = 1 at measured
// costs, where the papers have v = 1 and o = 0. Pure functions, safe from any thread.

#include <draftscope/base/result.h>
#include <draftscope/simulator/closed_forms/closed_forms.h>
#include <cstdint>
#include <optional>

namespace draftscope::simulator {

struct BreakEven {
  double mean_accepted_length = 0.0;  ///< M = γ̄·c + v + o, whatever the distribution (round_speedup)
  /// accepted / drafted at that M: (M − 1) / γ̄, at least 0. Above 1: it never pays.
  double acceptance_rate = 0.0;
  /// The iid α whose expected_tokens(α, γ) costs exactly what it yields; absent without a planned γ, and
  /// where not even α = 1 does. 0: a round pays with its bonus token alone.
  std::optional<double> alpha;
};

/// `gamma` is the planned length of a setting whose length is fixed; α is at a round of that length, not at
/// the mean of cut ones. Errors: as round_speedup(), draft steps that are not above 0, γ below 1.
[[nodiscard]] Result<BreakEven> break_even(const RoundCost& cost, std::optional<std::int32_t> gamma = {});

}  // namespace draftscope::simulator
