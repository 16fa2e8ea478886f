// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sentences about an answer (answer.h) that the terminal and the app both show. Pure functions, safe from any
// thread.

#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// Break-even as text: "pays from M 2.10 on (here 2.45), 55.0 % of the draft tokens accepted (here 61.3 %)".
/// It may also say that the setting never pays, or that there is no break-even because no draft step is
/// taken.
[[nodiscard]] std::string break_even_text(const std::optional<BreakEven>& even, const Answer& answer);

/// Notes on the basis of the answer's prices, one line each. Parameters that the recording does not determine
/// are counted in one line, not listed.
[[nodiscard]] std::vector<std::string> cost_note_lines(const Answer& answer);

}  // namespace draftscope::simulator
