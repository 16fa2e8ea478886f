// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The measured figures of a recording's runs as a table. It has a column for every figure of the catalogue
// that fits into a cell; the figures that tables show first are to the left. The time by phase and the rows
// of a round follow. The role `value_role` has the raw number, `sort_role` the sort key.

#include <string_view>
#include <vector>

#include "data/opened_recording.h"
#include "models/column_text.h"

namespace draftscope::gui {

class RunsModel : public ColumnsModel {
  Q_OBJECT

 public:
  static constexpr int run = 0;  ///< Column with the run's name.
  static constexpr int value_role = Qt::UserRole;
  static constexpr int sort_role = Qt::UserRole + 1;

  RunsModel();
  void set_recording(RecordingPointer recording);

  /// Column of a figure, by its key in the catalogue; -1 if there is none.
  [[nodiscard]] static int column_of(std::string_view key);
  /// Column of the wall time by phase; its number is the wall time.
  [[nodiscard]] static int phases_column();
  /// Column of the mean rows of a target forward.
  [[nodiscard]] static int rows_column();
  /// The figures of a row; null without a recording.
  [[nodiscard]] const simulator::Figures* figures(int row) const;
  [[nodiscard]] bool is_baseline(int row) const;
  /// Index for series_color() of the run's marks, here and in Compare.
  [[nodiscard]] std::size_t color_index(int row) const { return colors_[static_cast<std::size_t>(row)]; }

  /// Number of columns shown at first, from the left; the others are shown on request.
  [[nodiscard]] static int shown_columns();

  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

 private:
  [[nodiscard]] QString text(int row, int column) const;
  /// Text for copies and files: a speedup with its interval, which the screen draws.
  [[nodiscard]] QString written(int row, int column) const;
  [[nodiscard]] std::optional<double> number(int row, int column) const;

  RecordingPointer recording_;
  std::vector<std::size_t> colors_;  ///< [run]
};

/// "prefill 3.1 %, draft 40.0 %, …" of the wall time; a dash where no phase was recorded.
[[nodiscard]] QString phase_shares_text(const simulator::Figures& figures);

}  // namespace draftscope::gui
