// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers inside sentences.

#include <draftscope/simulator/analysis/explain.h>
#include <string>

namespace draftscope::simulator {

/// "0.89x".
[[nodiscard]] std::string times_text(double speedup);
/// "22 %", below ten with a digit behind the point.
[[nodiscard]] std::string share_text(double share);
/// "1.21", "31.4", "743".
[[nodiscard]] std::string amount_text(double amount);
/// "1.21 vanilla steps", "1.00 of its own verifications".
[[nodiscard]] std::string steps_text(double steps, RoundUnit unit);
/// "740 ns", "12.3 us", "1.25 ms".
[[nodiscard]] std::string time_text(double ns);
/// "1 round", "12 rounds".
[[nodiscard]] std::string count_text(std::int64_t count, const std::string& noun);

}  // namespace draftscope::simulator
