// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The answer to the current question: how much it can be trusted, tokens a second and speedup with error
// bars, all figures as a table, and what they rest on.

#include <QWidget>
#include <memory>

#include "what_if/questions/numbers_model.h"
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

  /// An answer, or the reason why there is none.
  void set_answer(const std::shared_ptr<const WhatIfAnswer>& answer, const std::string& command_line);
  /// Shows a message in place of any answer.
  void set_message(const QString& words);
  void set_stale(bool is_stale);
  /// Another recording's answers follow.
  void forget();
  /// Line on what was measured beside the prediction; empty where the question was not recorded.
  [[nodiscard]] QString beside_text() const;
  [[nodiscard]] QString message() const;
  [[nodiscard]] const NumbersModel& numbers() const { return numbers_; }
  [[nodiscard]] QString standing_text() const;

 private:
  NumbersModel numbers_;
  QLabel* standing_;
  QLabel* beside_;
  AnswerBars* bars_;
  QTableView* table_;
  QPlainTextEdit* notes_;
};

}  // namespace draftscope::gui
