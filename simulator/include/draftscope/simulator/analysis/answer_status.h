// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace draftscope::simulator {

// Trust in an answer to "what if". Every answer of the simulator carries one.

/// In order: a combination of answers has the worst of their statuses.
enum class AnswerStatus : std::uint8_t {
  exact,        ///< another recording would show the same rounds, token for token
  bounded,      ///< tokens are exact, and what is not lies between two bounds that are given
  approximate,  ///< a model's answer, with no bound that holds for certain
  invalid,      ///< the setting would change the text; there is no answer from this recording
};

/// "exact", "bounded", "approximate", "invalid".
[[nodiscard]] std::string_view answer_status_name(AnswerStatus status);

/// Comparison of a replay of the recorded policy with the recorded rounds. If they differ, no other replay of
/// this recording is to be trusted.
struct ReplayCheck {
  /// `invalid`: the replay differs. Else the worst that was met: `exact` if all rounds were told in advance,
  /// `bounded` if some were within bounds, `approximate` if some plans could not be told, so that only what
  /// became of them was checked.
  AnswerStatus status = AnswerStatus::exact;
  /// The first difference, "request 12 round 3: drafted 4, replay says 5 to 8", or why there is no replay.
  std::string reason;
  std::int64_t requests = 0;  ///< compared; those without a table are left out
  std::int64_t rounds = 0;
  std::int64_t exact_rounds = 0;
  std::int64_t bounded_rounds = 0;  ///< draft tokens were within bounds
  std::int64_t untold_plans = 0;    ///< the policy was uncertain: the recorded plan was taken instead
  std::int64_t ended_off_text = 0;  ///< drafts that an end token behind the first wrong token cut short
  std::int64_t near_threshold = 0;  ///< a confidence within the file's rounding of the threshold
};

}  // namespace draftscope::simulator
