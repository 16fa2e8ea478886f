// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Trust in an answer to "what if". Every answer of the simulator carries one.

#include <cstdint>
#include <string_view>

namespace draftscope::simulator {

/// In order: a combination of answers has the worst of their statuses.
enum class AnswerStatus : std::uint8_t {
  exact,        ///< another recording would show the same rounds, token for token
  bounded,      ///< tokens are exact, and what is not lies between two bounds that are given
  approximate,  ///< a model's answer, with no bound that holds for certain
  invalid,      ///< the setting would change the text; there is no answer from this recording
};

/// "exact", "bounded", "approximate", "invalid".
[[nodiscard]] std::string_view answer_status_name(AnswerStatus status);

}  // namespace draftscope::simulator
