// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace draftscope::simulator {

// Trust in an answer to "what if". Every answer of the simulator carries one.

/// The values go from best to worst; a combination of answers has the worst of their statuses.
enum class AnswerStatus : std::uint8_t {
  exact,        ///< Another recording would show the same rounds, token for token.
  bounded,      ///< Tokens are exact; everything else lies between two given bounds.
  approximate,  ///< The answer comes from a model, without a guaranteed bound.
  invalid,      ///< The setting would change the text; this recording has no answer.
};

/// "exact", "bounded", "approximate", "invalid".
[[nodiscard]] constexpr std::string_view answer_status_name(AnswerStatus status) {
  constexpr std::array<std::string_view, 4> names{"exact", "bounded", "approximate", "invalid"};
  return names[static_cast<std::size_t>(status)];
}

/// Comparison of a replay of the recorded policy with the recorded rounds. If they differ, no other replay of
/// this recording can be trusted.
struct ReplayCheck {
  /// Is `invalid` if the replay differs. Otherwise it is the worst status that occurred: `exact` if all
  /// rounds were predicted, `bounded` if some were within bounds, `approximate` if some plans could not be
  /// predicted and only their outcome was checked.
  AnswerStatus status = AnswerStatus::exact;
  /// The first difference ("request 12 round 3: drafted 4, replay says 5 to 8"), or the reason why there is
  /// no replay.
  std::string reason;
  std::int64_t requests = 0;  ///< Requests that were compared; those without a table are left out.
  std::int64_t rounds = 0;
  std::int64_t exact_rounds = 0;
  std::int64_t bounded_rounds = 0;  ///< Rounds whose number of draft tokens was within bounds.
  std::int64_t untold_plans = 0;    ///< Uncertain policy: the recorded plan was used instead.
};

}  // namespace draftscope::simulator
