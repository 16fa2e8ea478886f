// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The answer to the current question: its reliability, tokens per second and speedup with error bars, all
// figures as a table, and their basis.

#include <QWidget>
#include <memory>

#include "models/numbers_model.h"
#include "what_if/questions/what_if_answer.h"

class QLabel;
class QPlainTextEdit;
class QTableView;

namespace draftscope::gui {

class AnswerBars;

class AnswerPanel : public QWidget {
  Q_OBJECT

 public:
  explicit AnswerPanel(QWidget* parent = nullptr);

  /// Shows an answer, or the reason why there is none.
  void set_answer(const std::shared_ptr<const WhatIfAnswer>& answer, const std::string& command_line);
  /// Shows a message in place of any answer.
  void set_message(const QString& words);
  void set_stale(bool is_stale);
  /// Resets the panel, since another recording's answers follow.
  void forget();
  /// Line about the measurement beside the prediction; empty if the question's setting was not recorded.
  [[nodiscard]] QString beside_text() const;
  [[nodiscard]] QString message() const;
  [[nodiscard]] const NumbersModel& numbers() const { return numbers_; }

 private:
  NumbersModel numbers_;
  QLabel* standing_;
  QLabel* beside_;
  AnswerBars* bars_;
  QTableView* table_;
  QPlainTextEdit* notes_;
};

}  // namespace draftscope::gui
