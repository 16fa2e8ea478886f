// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Times and numbers as people read them (number_text.h), in Unicode.

#include <QString>
#include <cstdint>
#include <string_view>

namespace draftscope::gui {

/// "1.25 ms"
[[nodiscard]] QString duration_text(std::int64_t ns);
/// A place on an axis whose ticks are `step_ns` apart, with as many digits as the step needs: "12.350 ms".
[[nodiscard]] QString tick_text(std::int64_t ns, std::int64_t step_ns);
/// 1, 2 or 5 times a power of ten, at least `min_ns`.
[[nodiscard]] std::int64_t tick_step_ns(std::int64_t min_ns);
/// Three significant digits; "–" for NaN.
[[nodiscard]] QString number_text(double value);
/// Three significant digits, or "< 0.001" and "> −0.001" for ratios nearer to 0.
[[nodiscard]] QString ratio_text(double value);
/// "71.4 %"; "–" for NaN.
[[nodiscard]] QString percent_text(double share, int decimals = 1);
/// "1.52×"
[[nodiscard]] QString speedup_text(double speedup);
/// "1.21–1.43", with two decimals.
[[nodiscard]] QString range_text(double low, double high);
/// "+0.12", "−1.30", "±0.00"
[[nodiscard]] QString signed_text(double value, int decimals);
/// "1 round" or "7 rounds": `many` has %1 in the number's place.
[[nodiscard]] QString counted(std::int64_t count, const QString& one, const QString& many);
/// Text on one line, with control characters, spaces and line ends made visible.
[[nodiscard]] QString visible_text(const std::string& text);

/// A sentence of the simulator, which writes in ASCII, with the app's signs: × after a number for "x", µs for
/// "us", and − before a number for "-".
[[nodiscard]] QString sentence_text(std::string_view sentence);

}  // namespace draftscope::gui
