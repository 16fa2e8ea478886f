// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rounds of one run as a table: one row per round, and one column for each of simulator::round_columns().
// It is sorted and filtered by raw values, so that a million rows sort in a fraction of a second. The role
// `value_role` has a figure's raw number (double), and nothing of texts, requests and missing figures;
// `round_role` has the index into Recording::rounds.

#include <draftscope/simulator/analysis/round_columns.h>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "data/opened_recording.h"
#include "models/column_text.h"

namespace draftscope::gui {

class RoundsModel : public ColumnsModel {
  Q_OBJECT

 public:
  static constexpr int place = 0;  ///< Column with the round's order in the run.
  static constexpr int value_role = Qt::UserRole;
  static constexpr int round_role = Qt::UserRole + 1;

  RoundsModel();

  /// Column with this key in simulator::round_columns().
  [[nodiscard]] static int column_of(std::string_view key);

  /// Null shows no rounds.
  void set_run(RecordingPointer recording, std::size_t run_index);
  /// Shows only rounds whose category, stop reason or question contains the text, ignoring case; empty shows
  /// all.
  void set_filter(const QString& text);

  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

  [[nodiscard]] std::uint32_t round_of_row(int row) const { return rows_[static_cast<std::size_t>(row)]; }
  /// -1 if the round is not shown.
  [[nodiscard]] int row_of_round(std::uint32_t round_index) const;

 private:
  [[nodiscard]] simulator::RoundRow row_of(std::uint32_t round_index) const;
  [[nodiscard]] simulator::RoundValue value(std::uint32_t round_index, int column) const;
  [[nodiscard]] QString text(std::uint32_t round_index, int column) const;
  /// [request] Whether the filter finds it.
  [[nodiscard]] std::vector<bool> matching_requests() const;
  /// Number by which the chosen column sorts a round; for texts, their place in the alphabet.
  [[nodiscard]] std::function<double(std::uint32_t round_index)> sort_key() const;
  void rebuild();

  RecordingPointer recording_;
  std::size_t run_ = 0;
  QString filter_;
  int sort_column_ = place;
  Qt::SortOrder sort_order_ = Qt::AscendingOrder;
  std::vector<std::uint32_t> rows_;
  std::vector<std::int32_t> row_of_round_;  ///< [place in run]
};

}  // namespace draftscope::gui
