// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Times and counts as people read them.

#include <QString>
#include <cstdint>

namespace draftscope::gui {

/// Three significant digits and a unit: "1.25 ms". Negative times keep their sign.
[[nodiscard]] QString duration_text(std::int64_t ns);
/// A place on an axis whose ticks are `step_ns` apart: as many digits as the step needs, "12.350 ms".
[[nodiscard]] QString tick_text(std::int64_t ns, std::int64_t step_ns);
/// 1, 2 or 5 times a power of ten, at least `min_ns`.
[[nodiscard]] std::int64_t tick_step_ns(std::int64_t min_ns);
/// Three significant digits; "–" where it is not a number.
[[nodiscard]] QString number_text(double value);
/// The same of what is compared with 1: "< 0.001" or "> −0.001" where it is too small to matter.
[[nodiscard]] QString ratio_text(double value);
[[nodiscard]] QString percent_text(double share);
/// "1 round" or "7 rounds": `many` has %1 in the number's place.
[[nodiscard]] QString counted(std::int64_t count, const QString& one, const QString& many);
/// On one line, with control characters, spaces and line ends made visible.
[[nodiscard]] QString visible_text(const std::string& text);

}  // namespace draftscope::gui
