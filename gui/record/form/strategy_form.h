// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One strategy: as -s takes it, and as a form made from its row in the catalogue. What is changed in one is
// changed in the other.

#include <QWidget>
#include <cstdint>
#include <optional>
#include <vector>

#include "record/form/model_facts.h"

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

  /// Without a signal.
  void set_text(const QString& text);
  [[nodiscard]] const QString& text() const { return text_; }
  /// Bounds and defaults follow the model.
  void set_model(const std::optional<ModelFacts>& model);
  [[nodiscard]] const std::vector<ParameterEdit*>& editors() const { return editors_; }

 signals:
  void edited(const QString& text);

 private:
  void take_line();
  void take_editor(const ParameterEdit& editor);
  /// Everything but the line, which may be under the keyboard.
  void show_text();
  void make_editors();

  QString text_;
  std::optional<ModelFacts> model_;
  QLabel* summary_;
  QLineEdit* line_;
  ProblemLabel* problem_;
  QVBoxLayout* fields_;
  QWidget* made_ = nullptr;  ///< holds the editors
  QString made_for_;         ///< names of the strategy and its parameters that there are editors for
  std::vector<ParameterEdit*> editors_;
  std::vector<ProblemLabel*> ranges_;  ///< [editor]
};

}  // namespace draftscope::gui
