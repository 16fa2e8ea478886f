// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The compared runs as a table: figures of each run, its ratio to the baseline with interval and test, and
// whether the text is the same. The run's cell is decorated with the colour of its marks in charts.

#include <functional>

#include "data/details/run_comparison.h"
#include "models/column_text.h"

namespace draftscope::gui {

class ComparisonModel : public ColumnsModel {
  Q_OBJECT

 public:
  enum Column {
    run,
    tokens_per_second,
    ratio,
    interval,
    faster,
    significance,
    mean_accepted_length,
    acceptance_rate,
    identical
  };
  static constexpr int value_role = Qt::UserRole;

  ComparisonModel() { set_comparison({}); }
  /// The rows are the baseline, then the others by falling ratio.
  void set_comparison(RunsComparison comparison);
  [[nodiscard]] const RunsComparison& comparison() const { return comparison_; }

  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

 private:
  struct Shown {
    ColumnText words;
    simulator::FigureFormat format = simulator::FigureFormat::number;
    std::function<simulator::FigureValue(const RunAgainstBaseline&)> value{};
  };
  [[nodiscard]] static std::vector<Shown> columns_of(const RunsComparison& comparison);
  [[nodiscard]] simulator::FigureValue value(std::size_t row, int column) const;
  [[nodiscard]] QString run_name(std::size_t row) const;
  [[nodiscard]] QString text(std::size_t row, int column) const;

  RunsComparison comparison_;
  std::vector<Shown> columns_;
  std::vector<std::size_t> colors_;  ///< [row]
};

}  // namespace draftscope::gui
