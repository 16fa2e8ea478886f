// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Answers that were pinned, side by side with the one at hand: a table and their speedups with intervals.

#include <QWidget>

#include "what_if/questions/numbers_model.h"
#include "what_if/scenario_table.h"

class QPushButton;
class QTableView;

namespace draftscope::gui {

class ChartPane;

class ScenariosPane : public QWidget {
  Q_OBJECT

 public:
  explicit ScenariosPane(QWidget* parent = nullptr);

  /// The answer at hand; null for none.
  void set_current(std::shared_ptr<const WhatIfAnswer> answer);
  /// Keeps the answer at hand under the next free letter. Without one nothing happens.
  void pin();
  void unpin_all();
  [[nodiscard]] const std::vector<NamedAnswer>& pinned() const { return pinned_; }

 signals:
  /// A pinned setting is to be asked about again.
  void chosen(const draftscope::gui::Question& question);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void show_all();
  /// Fits the columns to their texts, and draws the chart.
  void fit_and_draw();
  /// Pinned ones, and the one at hand.
  [[nodiscard]] std::vector<NamedAnswer> all() const;
  [[nodiscard]] QString free_letter() const;
  void choose();
  void unpin();

  std::vector<NamedAnswer> pinned_;
  std::shared_ptr<const WhatIfAnswer> current_;
  NumbersModel numbers_;
  QTableView* table_;
  ChartPane* chart_;
  QPushButton* choose_;
  QPushButton* unpin_;
};

}  // namespace draftscope::gui
