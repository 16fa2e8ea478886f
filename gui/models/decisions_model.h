// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The decisions of one kind that a run made, as a table: one row per decision, one column for each series and
// for each kind of words. The role `value_role` has the raw number.

#include <memory>
#include <vector>

#include "data/decisions/decision_history.h"
#include "models/column_text.h"

namespace draftscope::gui {

class DecisionsModel : public ColumnsModel {
  Q_OBJECT

 public:
  static constexpr int value_role = Qt::UserRole;

  /// Shows no decisions if `history` is null or the run lacks this kind.
  void set_kind(std::shared_ptr<const DecisionHistory> history, std::size_t run_index, std::string_view kind);

  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

  /// Place in the run of a row's round; no_index if its request has no round.
  [[nodiscard]] std::uint32_t place_of_row(int row) const;
  /// First row at a place of the run; -1 if no decision is there.
  [[nodiscard]] int row_of_place(std::uint32_t place) const;

 private:
  static constexpr int fixed_columns = 3;  // Columns for round, took effect, time.
  [[nodiscard]] QVariant fixed_data(std::size_t row, int column, int role) const;

  std::shared_ptr<const DecisionHistory> history_;
  const simulator::DecisionsOfKind* decisions_ = nullptr;
  const std::vector<std::uint32_t>* places_ = nullptr;
  std::vector<const simulator::DecisionSeries*> series_;  ///< Series without those per exit.
  std::vector<bool> has_whole_numbers_;                   ///< [series]
};

}  // namespace draftscope::gui
