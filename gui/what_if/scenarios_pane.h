// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Pinned answers beside the current one: a table, and their speedups with intervals.

#include <QWidget>

#include "models/numbers_model.h"
#include "what_if/scenario_table.h"

class QPushButton;
class QTableView;

namespace draftscope::gui {

class ChartPane;

class ScenariosPane : public QWidget {
  Q_OBJECT

 public:
  explicit ScenariosPane(QWidget* parent = nullptr);

  /// Sets the current answer; null if there is none.
  void set_current(std::shared_ptr<const WhatIfAnswer> answer);
  /// Pins the current answer under the next free letter. Without an answer nothing happens.
  void pin();
  void unpin_all();
  [[nodiscard]] const std::vector<NamedAnswer>& pinned() const { return pinned_; }

 signals:
  /// Emitted to ask again about a pinned setting.
  void chosen(const draftscope::gui::Question& question);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void show_all();
  /// Fits the columns to their texts, and draws the chart.
  void draw();
  /// Pinned answers, and the current one.
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
