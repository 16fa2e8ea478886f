// SPDX-License-Identifier: GPL-3.0-or-later
#include "first_focus.h"

#include <QFocusEvent>
#include <QPointer>

namespace draftscope::gui {

namespace {

/// A child of the view that passes on the focus that the view is given.
class FirstFocus : public QObject {
 public:
  explicit FirstFocus(QWidget& view) : QObject(&view) { view.installEventFilter(this); }

  bool eventFilter(QObject* /*view*/, QEvent* event) override {
    if (event->type() == QEvent::FocusIn && part) part->setFocus(static_cast<QFocusEvent*>(event)->reason());
    return false;
  }

  QPointer<QWidget> part;
};

FirstFocus* of(const QWidget& view) {
  for (QObject* child : view.children())
    if (auto* found = dynamic_cast<FirstFocus*>(child)) return found;
  return nullptr;
}

}  // namespace

void set_first_focus(QWidget& view, QWidget& part) {
  FirstFocus* first = of(view);
  if (first == nullptr) first = new FirstFocus(view);
  first->part = &part;
}

QWidget* first_focus(const QWidget& view) {
  const FirstFocus* first = of(view);
  return first == nullptr ? nullptr : first->part.data();
}

}  // namespace draftscope::gui
