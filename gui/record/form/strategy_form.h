// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Editor of one strategy, as the text that -s takes and as a form made from its row in the catalogue. A
// change in one updates the other.

#include <QWidget>
#include <cstdint>
#include <optional>
#include <vector>

#include "record/form/plan_problems.h"

class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace draftscope::gui {

class ParameterEdit;
class ProblemLabel;

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
  QLabel* summary_;
  QLineEdit* line_;
  ProblemLabel* problem_;
  QVBoxLayout* fields_;
  QWidget* made_ = nullptr;  ///< Widget that contains the editors.
  QString made_for_;         ///< Names of the strategy and of the parameters that have editors.
  std::vector<ParameterEdit*> editors_;
  std::vector<ProblemLabel*> ranges_;  ///< [editor]
};

}  // namespace draftscope::gui
