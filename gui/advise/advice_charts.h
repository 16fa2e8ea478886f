// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Curves of a setting as charts: speedup with its interval, above accepted length and acceptance.

#include "advise/advice_report.h"
#include "charts/chart.h"

namespace draftscope::gui {

[[nodiscard]] Chart threshold_chart(const SettingCurve& curve);
[[nodiscard]] Chart length_chart(const SettingCurve& curve);

}  // namespace draftscope::gui
