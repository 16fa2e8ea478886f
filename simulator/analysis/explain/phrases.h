// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers inside sentences, in ASCII; other numbers are in number_text.h.

#include <draftscope/base/number_text.h>
#include <draftscope/simulator/analysis/explain.h>
#include <string>

namespace draftscope::simulator {

/// "22 %", and "3.1 %" below ten.
[[nodiscard]] std::string share_text(double share);
/// "1.21", "31.4", "743".
[[nodiscard]] std::string amount_text(double amount);
/// "1.21 vanilla steps", "1.00 of its own verifications".
[[nodiscard]] std::string steps_text(double steps, RoundUnit unit);
/// "1 round", "12 rounds".
[[nodiscard]] std::string count_text(std::int64_t count, const std::string& noun);

}  // namespace draftscope::simulator
