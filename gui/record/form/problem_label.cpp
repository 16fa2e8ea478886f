// SPDX-License-Identifier: GPL-3.0-or-later
#include "problem_label.h"

#include <QApplication>
#include <QEvent>

#include "widgets/appearance.h"
#include "widgets/theme.h"

namespace draftscope::gui {

ProblemLabel::ProblemLabel(QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::PlainText);
  setWordWrap(true);
  setTextInteractionFlags(Qt::TextSelectableByMouse);
  setFocusPolicy(Qt::NoFocus);  // The line is only read; the Tab key skips it.
  hide();
}

void ProblemLabel::show_words(const QString& words, bool is_problem) {
  is_problem_ = is_problem;
  setText(is_problem ? QStringLiteral("✕ %1").arg(words) : words);
  choose_color();
  setVisible(!words.isEmpty());
}

void ProblemLabel::changeEvent(QEvent* event) {
  QLabel::changeEvent(event);
  if (event->type() == QEvent::ParentChange || event->type() == QEvent::PaletteChange) choose_color();
}

void ProblemLabel::choose_color() {
  const QPalette& around = parentWidget() == nullptr ? QApplication::palette() : parentWidget()->palette();
  QPalette colors = quiet(around);
  if (is_problem_)
    colors.setColor(QPalette::WindowText,
                    legible_on(rejected_color(is_dark(around)), around.color(QPalette::Window)));
  // Setting a palette sends this event again.
  if (colors.color(QPalette::WindowText) != palette().color(QPalette::WindowText)) setPalette(colors);
}

}  // namespace draftscope::gui
