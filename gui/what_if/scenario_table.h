// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Answers side by side: as a table, and their speedups as a chart.

#include <QString>
#include <memory>
#include <vector>

#include "charts/chart.h"
#include "what_if/all_gpus.h"
#include "what_if/questions/what_if_answer.h"

namespace draftscope::gui {

/// An answer and its name: "A", "now".
struct NamedAnswer {
  QString name;
  std::shared_ptr<const WhatIfAnswer> answer;
};

[[nodiscard]] ChartTable scenario_table(const std::vector<NamedAnswer>& answers);
/// Chart with one row per answer, in their order; refused ones are left out.
[[nodiscard]] Chart scenario_chart(const std::vector<NamedAnswer>& answers);

[[nodiscard]] ChartTable gpus_table(const std::vector<GpuAnswer>& answers);
/// Chart with one row per GPU that has an answer.
[[nodiscard]] Chart gpus_chart(const std::vector<GpuAnswer>& answers);

}  // namespace draftscope::gui
