// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Advice (advice.h) as text: the sentences that the terminal and the app show. Pure functions, safe from any
// thread.

#include <draftscope/base/number_text.h>
#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// Headline such as "On the recorded machine: set layerskip:exit=5,gamma=4", or the verdict against
/// speculation with its reason.
[[nodiscard]] std::string advice_headline(const Advice& advice);

/// Text of a neighbour's change: "E-1", "gamma+1" ("γ+1").
[[nodiscard]] std::string change_text(const std::string& change, Characters characters);

struct AdviceLine {
  std::string_view about;  ///< One or two words, such as "break-even".
  std::string words;       ///< Text without line ends.
};

/// Lines in this order, all but "by category" always:
///   gain         speedup over vanilla decoding: as answered, on prompts it was not chosen on, as measured;
///                named "fastest" where the verdict is against it
///   sure         how rounds and times are known, and what positions with close logits could change
///   runner-up    the fastest candidate of another kind, if that is faster than vanilla decoding
///   by category  the fastest candidate on the prompts of each category, if there are several
///   break-even   tokens per round and acceptance from which the setting pays
///   neighbours   speed of the settings one step away, against the advised one's
///   batch        up to which batch speculation pays
///   context      from which context on another setting is faster
///   limits       what the waterfall's gaps cost, the largest first
///   record       what to record to be surer
[[nodiscard]] std::vector<AdviceLine> advice_lines(const Advice& advice, Characters characters);

// Sentences about an answer (answer.h) that the terminal and the app both show. Pure functions, safe from any
// thread.

/// Break-even as text: "pays from M 2.10 on (here 2.45), 55.0 % of the draft tokens accepted (here 61.3 %)".
/// It may also say that the setting never pays, or that there is no break-even because no draft step is
/// taken.
[[nodiscard]] std::string break_even_text(const std::optional<BreakEven>& even, const Answer& answer);

/// Notes on the basis of the answer's prices, one line each. Parameters that the recording does not determine
/// are counted in one line, not listed.
[[nodiscard]] std::vector<std::string> cost_note_lines(const Answer& answer);

}  // namespace draftscope::simulator
