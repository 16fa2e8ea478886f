// SPDX-License-Identifier: GPL-3.0-or-later
#include "reproduce/published_rows.h"

#include <draftscope/base/csv_table.h>

#include <algorithm>
#include <array>
#include <utility>

namespace draftscope::cli {

extern const std::string_view published_csv;  // Generated from simulator/data/published.csv by the build.

namespace {

struct PublishedColumn {
  std::string_view figure;
  std::string_view column;
};

constexpr std::array<PublishedColumn, 5> columns{{{"accepted_length", "M_or_tau"},
                                                  {"acceptance_rate", "alpha"},
                                                  {"etpl", "eTPL"},
                                                  {"expected_speedup", "expected_speedup"},
                                                  {"speedup", "measured_speedup"}}};

}  // namespace

Result<std::vector<PublishedRow>> published_rows(const ExperimentRow& experiment) {
  std::vector<PublishedRow> rows;
  if (experiment.sources.empty()) return rows;
  DRAFTSCOPE_TRY_ASSIGN(const CsvTable table, CsvTable::parse(published_csv, "published.csv"));
  for (std::size_t i = 0; i < table.rows(); ++i) {
    PublishedRow row;
    DRAFTSCOPE_TRY_ASSIGN(row.document, table.text(i, "paper"));
    DRAFTSCOPE_TRY_ASSIGN(row.source, table.text(i, "source_table"));
    const bool belongs =
        row.document == experiment.document &&
        std::any_of(experiment.sources.begin(), experiment.sources.end(),
                    [&](const std::string& source) { return row.source.starts_with(source); });
    if (!belongs) continue;
    DRAFTSCOPE_TRY_ASSIGN(row.model, table.text(i, "model"));
    DRAFTSCOPE_TRY_ASSIGN(row.task, table.text(i, "task"));
    DRAFTSCOPE_TRY_ASSIGN(row.method, table.text(i, "method"));
    DRAFTSCOPE_TRY_ASSIGN(row.setting, table.text(i, "setting"));
    DRAFTSCOPE_TRY_ASSIGN(row.gamma, table.text(i, "gamma"));
    for (const PublishedColumn& column : columns) {
      DRAFTSCOPE_TRY_ASSIGN(const auto value, table.number(i, column.column));
      row.figures.emplace_back(column.figure, value);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<double> published_figure(const PublishedRow& row, std::string_view figure) {
  const auto found = std::ranges::find(row.figures, figure, [](const auto& one) { return one.first; });
  return found == row.figures.end() ? std::nullopt : found->second;
}

bool is_of_setting(const PublishedRow& row, const SettingRow& setting, const AxisRow& axis,
                   std::string_view value) {
  if (setting.published.empty()) return false;
  const std::string_view name = setting.published;
  const bool is_named =
      name.ends_with('*') ? row.method.starts_with(name.substr(0, name.size() - 1)) : row.method == name;
  if (!is_named) return false;
  if (value.empty()) return true;
  if (axis.published.empty()) return row.gamma == value;
  // The value ends the text or is followed by another item: "omega=0.5" is not "omega=0.55".
  const std::string wanted = axis.published + std::string(value);
  for (const std::string& text : {row.method, row.setting}) {
    const std::size_t at = text.find(wanted);
    if (at == std::string::npos) continue;
    const std::size_t end = at + wanted.size();
    if (end == text.size() || text[end] == ';') return true;
  }
  return false;
}

}  // namespace draftscope::cli
