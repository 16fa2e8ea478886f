// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The advice as the page shows it: the simulator's sentences (simulator/answers/advice_text.h) and a table.

#include <QString>
#include <utility>
#include <vector>

#include "advise/advice_report.h"
#include "charts/chart.h"

namespace draftscope::gui {

[[nodiscard]] QString advice_sentence(const AdviceReport& report);

struct AdviceFact {
  QString about;  ///< Title such as "Break-even".
  QString words;
};
[[nodiscard]] std::vector<AdviceFact> advice_facts(const AdviceReport& report);

/// Table with one row per setting, in the report's order.
[[nodiscard]] ChartTable settings_table(const AdviceReport& report);

// Curves of a setting as charts: speedup with its interval, above accepted length and acceptance.

[[nodiscard]] Chart threshold_chart(const SettingCurve& curve);
[[nodiscard]] Chart length_chart(const SettingCurve& curve);

}  // namespace draftscope::gui
