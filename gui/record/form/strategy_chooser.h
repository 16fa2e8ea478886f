// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The strategies to record: a check list of all that the catalogue has, each as often as wanted, beside the
// form of the one that is selected.

#include <QWidget>
#include <optional>
#include <string>
#include <vector>

#include "record/form/model_facts.h"

class QListWidget;
class QListWidgetItem;
class QPushButton;

namespace draftscope::gui {

class StrategyForm;

class StrategyChooser : public QWidget {
  Q_OBJECT

 public:
  explicit StrategyChooser(QWidget* parent = nullptr);

  /// Checks these and no others, without a signal.
  void set_strategies(const std::vector<std::string>& strategies);
  /// Those that are checked, in the catalogue's order, several of one name in that of the list.
  [[nodiscard]] std::vector<std::string> strategies() const;
  void set_model(const std::optional<ModelFacts>& model);

  [[nodiscard]] StrategyForm& form() { return *form_; }
  [[nodiscard]] QListWidget& list() { return *list_; }

 signals:
  void edited();

 private:
  void make_layout();
  /// Every strategy of the catalogue has a row, in its order; rows of another name than before move.
  void complete();
  QListWidgetItem* add_row(int row, const QString& text, bool is_checked);
  void show_row(QListWidgetItem& item);
  void show_current();
  void take(const QString& text);
  void add_another();
  void remove_current();

  std::optional<ModelFacts> model_;
  bool is_showing_ = false;
  QListWidget* list_;
  StrategyForm* form_;
  QPushButton* add_;
  QPushButton* remove_;
};

}  // namespace draftscope::gui
