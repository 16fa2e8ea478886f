// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Chooses the strategies to record: a check list of the whole catalogue, each strategy as often as wanted,
// beside the form of the selected one.

#include <QListWidget>
#include <QPushButton>
#include <QWidget>
#include <optional>
#include <string>
#include <vector>

#include "record/form/plan_problems.h"
#include "record/form/strategy_form.h"

class QListWidgetItem;

namespace draftscope::gui {

class StrategyChooser : public QWidget {
  Q_OBJECT

 public:
  explicit StrategyChooser(QWidget* parent = nullptr);

  /// Checks exactly these strategies, without a signal.
  void set_strategies(const std::vector<std::string>& strategies);
  /// Checked strategies in the catalogue's order; several of one name are in the list's order.
  [[nodiscard]] std::vector<std::string> strategies() const;
  void set_model(const std::optional<ModelFacts>& model);

  [[nodiscard]] StrategyForm& form() { return *form_; }
  [[nodiscard]] QListWidget& list() { return *list_; }

 signals:
  void edited();

 private:
  void make_layout();
  /// Gives every strategy of the catalogue a row, in its order; a row whose name changed moves.
  void complete();
  QListWidgetItem* add_row(int row, const QString& text, bool is_checked);
  void show_row(QListWidgetItem& item);
  void show_current();
  void take(const QString& text);
  void add_another();
  void remove_current();

  std::optional<ModelFacts> model_;
  bool is_showing_ = false;
  QListWidget* list_ = new QListWidget;
  StrategyForm* form_ = new StrategyForm;
  QPushButton* add_ = new QPushButton(tr("Another like it"));
  QPushButton* remove_ = new QPushButton(tr("Remove"));
};

}  // namespace draftscope::gui
