// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is wrong with a field, below it: one line that is there only while something is.

#include <QLabel>

namespace draftscope::gui {

class ProblemLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ProblemLabel(QWidget* parent = nullptr);

  /// Empty: nothing is wrong.
  void set_problem(const QString& words);
  /// The same place, in the colour of text: something to know.
  void set_note(const QString& words);
  [[nodiscard]] bool is_problem() const { return is_problem_; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void show_words(const QString& words, bool is_problem);
  void choose_color();

  bool is_problem_ = false;
};

}  // namespace draftscope::gui
