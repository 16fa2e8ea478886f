// SPDX-License-Identifier: GPL-3.0-or-later
#include "habits.h"

#include <QFocusEvent>
#include <QPointer>
#include <QScrollArea>
#include <QToolTip>

namespace draftscope::gui {

void show_tip(const QHelpEvent& at, QWidget& widget, const QString& words) {
  // A resting hand moves by a pixel or two. Beyond that the text may be about another place.
  constexpr int rest = 3;
  const QRect place = QRect(at.pos(), QSize(1, 1)).adjusted(-rest, -rest, rest, rest);
  widget.setMouseTracking(true);
  if (words.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(at.globalPos(), words, &widget, place);
}

QScrollArea* scrollable(QWidget* view) {
  auto* area = new QScrollArea;
  area->setWidget(view);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setFocusPolicy(Qt::NoFocus);
  return area;
}

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

/// A child of a widget that is told of its events of one type.
class Listener : public QObject {
 public:
  Listener(QWidget& widget, QEvent::Type type, std::function<void()> told)
      : QObject(&widget), type_(type), told_(std::move(told)) {
    widget.installEventFilter(this);
  }

  bool eventFilter(QObject* /*widget*/, QEvent* event) override {
    if (event->type() == type_) told_();
    return false;
  }

 private:
  QEvent::Type type_;
  std::function<void()> told_;
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

void when_seen(QWidget& view, std::function<void()> start) {
  new Listener(view, QEvent::Paint, [&view, start = std::move(start)] {  // The view owns it.
    QMetaObject::invokeMethod(&view, start, Qt::QueuedConnection);
  });
}

void when_recoloured(QWidget& widget, std::function<void()> show_again) {
  new Listener(widget, QEvent::PaletteChange, std::move(show_again));  // The widget owns it.
}

}  // namespace draftscope::gui
