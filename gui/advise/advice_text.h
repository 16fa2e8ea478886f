// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The advice in words: what to do in a sentence, and what it hangs on in lines.

#include <QString>
#include <utility>
#include <vector>

#include "advise/advice_report.h"
#include "charts/chart.h"

namespace draftscope::gui {

/// "Set X: it decodes 1.32 times as fast as vanilla (95 % 1.21–1.43; …)."
[[nodiscard]] QString advice_sentence(const AdviceReport& report);

struct AdviceFact {
  QString about;  ///< "Break-even"
  QString words;
};
[[nodiscard]] std::vector<AdviceFact> advice_facts(const AdviceReport& report);

/// A row a setting, in the report's order.
[[nodiscard]] ChartTable settings_table(const AdviceReport& report);

}  // namespace draftscope::gui
