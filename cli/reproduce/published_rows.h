// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The figures that the publications print, from simulator/data/published.csv.

#include <draftscope/base/result.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reproduce/experiments.h"

namespace draftscope::cli {

/// One row of published.csv.
struct PublishedRow {
  std::string document, model, task, method, setting, gamma, source;
  /// Figures by keys of convention_figures(), in the columns' order; an absent value was not published.
  std::vector<std::pair<std::string_view, std::optional<double>>> figures;
};

/// Rows that belong to an experiment, in the file's order. Errors: a field of the file that is no number.
[[nodiscard]] Result<std::vector<PublishedRow>> published_rows(const ExperimentRow& experiment);

/// Published value of a figure of convention_figures(); absent if the file has no such column or value.
[[nodiscard]] std::optional<double> published_figure(const PublishedRow& row, std::string_view figure);

/// Whether the row belongs to the setting: its method has the setting's name. With `value`, it also is the
/// row of that value on the experiment's axis.
[[nodiscard]] bool is_of_setting(const PublishedRow& row, const SettingRow& setting, const AxisRow& axis,
                                 std::string_view value);

}  // namespace draftscope::cli
