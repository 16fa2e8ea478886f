// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Editor of one strategy, as the text that -s takes and as a form made from its row in the catalogue. A
// change in one updates the other.

#include <QLabel>
#include <QLineEdit>
#include <QVBoxLayout>
#include <QWidget>
#include <cstdint>
#include <optional>
#include <vector>

#include "record/form/plan_problems.h"
#include "record/form/problem_label.h"

namespace draftscope::gui {

class ParameterEdit;

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
