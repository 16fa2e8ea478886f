// SPDX-License-Identifier: GPL-3.0-or-later
#include "keyboard_plot.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>

#include "widgets/habits.h"

namespace draftscope::gui {

KeyboardPlot::KeyboardPlot(const QString& name, QWidget* parent) : QWidget(parent) {
  setAccessibleName(name);
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
}

void KeyboardPlot::go_to(std::size_t place) {
  current_ = place;
  const QString words = words_of(place);
  setAccessibleDescription(words);
  emit described(words);
  update();
}

void KeyboardPlot::forget_place() {
  current_.reset();
  if (places() > 0) go_to(0);
  update();
}

std::optional<std::size_t> KeyboardPlot::next_place(std::size_t from, int key) const {
  if (key == Qt::Key_Left && from > 0) return from - 1;
  if (key == Qt::Key_Right && from + 1 < places()) return from + 1;
  if (key == Qt::Key_Home) return 0;
  if (key == Qt::Key_End) return places() - 1;
  return std::nullopt;
}

void KeyboardPlot::mousePressEvent(QMouseEvent* event) {
  if (places() == 0 || event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
  if (const auto place = place_at(event->pos())) {
    go_to(*place);
    choose(*place);
  }
}

void KeyboardPlot::keyPressEvent(QKeyEvent* event) {
  const auto from = current();
  if (places() == 0 || !from) return QWidget::keyPressEvent(event);
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) return choose(*from);
  const auto to = next_place(*from, event->key());
  if (!to) return QWidget::keyPressEvent(event);
  go_to(*to);
}

bool KeyboardPlot::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto place = places() > 0 ? place_at(help->pos()) : std::nullopt;
    show_tip(*help, *this, place ? tooltip_of(*place) : QString());
    return true;
  }
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) update();
  return QWidget::event(event);
}

}  // namespace draftscope::gui
