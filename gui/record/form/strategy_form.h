// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Editor of one strategy, as the text that -s takes and as a form made from its row in the catalogue. A
// change in one updates the other.

#include <draftscope/speculation/catalogue/strategy_catalogue.h>

#include <QLabel>
#include <QLineEdit>
#include <QString>
#include <QVBoxLayout>
#include <QWidget>
#include <cstdint>
#include <optional>
#include <vector>

#include "record/form/plan_problems.h"
#include "record/form/problem_label.h"

class QComboBox;
class QLineEdit;

namespace draftscope::gui {

/// Editor of one parameter: a box of choices, or a line that shows the default while it is empty. Integers
/// step with the arrow keys; files and folders have a button to browse.
class ParameterEdit : public QWidget {
  Q_OBJECT

 public:
  explicit ParameterEdit(speculation::ParameterRow row, QWidget* parent = nullptr);

  [[nodiscard]] const speculation::ParameterRow& row() const { return row_; }
  /// Shows a value without a signal; empty shows the default. `n_layers` is the model's, 0 = unknown.
  void set_value(const QString& value, std::int32_t n_layers);
  /// Value as entered; empty = the default.
  [[nodiscard]] QString value() const;

 signals:
  void edited();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void make_choice();
  void make_line();
  void browse();
  void step(int by);

  speculation::ParameterRow row_;
  std::int32_t n_layers_ = 0;
  QComboBox* choice_ = nullptr;  ///< Null if the editor is a line.
  QLineEdit* line_ = nullptr;
};

class StrategyForm : public QWidget {
  Q_OBJECT

 public:
  explicit StrategyForm(QWidget* parent = nullptr);

  /// Shows a text without a signal.
  void set_text(const QString& text);
  [[nodiscard]] const QString& text() const { return text_; }
  /// Takes bounds and defaults from the model.
  void set_model(const std::optional<ModelFacts>& model);
  [[nodiscard]] const std::vector<ParameterEdit*>& editors() const { return editors_; }

 signals:
  void edited(const QString& text);

 private:
  void take_line();
  void take_editor(const ParameterEdit& editor);
  /// Updates everything except the line, in which the user may be typing.
  void show_text();
  void make_editors();

  QString text_;
  std::optional<ModelFacts> model_;
  QLabel* summary_ = new QLabel;
  QLineEdit* line_ = new QLineEdit;
  ProblemLabel* problem_ = new ProblemLabel;
  QVBoxLayout* fields_ = new QVBoxLayout;
  QWidget* made_ = nullptr;  ///< Widget that contains the editors.
  QString made_for_;         ///< Names of the strategy and of the parameters that have editors.
  std::vector<ParameterEdit*> editors_;
  std::vector<ProblemLabel*> ranges_;  ///< [editor]
};

}  // namespace draftscope::gui
