// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Line below a field that shows the field's problem; hidden while there is none.

#include <QLabel>

namespace draftscope::gui {

class ProblemLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ProblemLabel(QWidget* parent = nullptr);

  /// Shows a problem; empty hides the line.
  void set_problem(const QString& words) { show_words(words, !words.isEmpty()); }
  /// Shows a note in the normal text colour, in the same place.
  void set_note(const QString& words) { show_words(words, false); }
  [[nodiscard]] bool is_problem() const { return is_problem_; }

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void show_words(const QString& words, bool is_problem);
  void choose_color();

  bool is_problem_ = false;
};

}  // namespace draftscope::gui
