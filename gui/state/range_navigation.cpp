// SPDX-License-Identifier: GPL-3.0-or-later
#include "range_navigation.h"

#include <QApplication>
#include <QCursor>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <QWidget>
#include <algorithm>
#include <cmath>

namespace draftscope::gui {

namespace {

constexpr double wheel_zoom = 1.25;
constexpr double wheel_notch = 120.0;
constexpr double key_zoom = 1.4;
constexpr double key_pan = 0.15;

}  // namespace

RangeNavigation::RangeNavigation(ViewState& state, QWidget& view, QWidget& area, Axis axis)
    : state_(state), view_(view), area_(area), axis_(std::move(axis)) {
  view_.installEventFilter(this);
  if (scrolls()) area_.installEventFilter(this);
}

void RangeNavigation::zoom(double factor) {
  const std::optional<AxisRanges> axis = axis_();
  if (!axis) return;
  const QPoint pointer = area_.mapFromGlobal(QCursor::pos());
  const bool is_on_axis = scrolls() && area_.rect().contains(pointer) && pointer.x() >= axis->left;
  state_.set_range(axis->zoomed(factor, is_on_axis ? pointer.x() : axis->left + axis->width / 2.0));
}

void RangeNavigation::pan(double share_of_width) {
  if (const std::optional<AxisRanges> axis = axis_())
    state_.set_range(axis->moved(share_of_width * axis->width));
}

bool RangeNavigation::eventFilter(QObject* watched, QEvent* event) {
  bool is_done = false;
  if (watched == &view_ && event->type() == QEvent::KeyPress)
    is_done = press_key(*static_cast<const QKeyEvent*>(event));
  if (watched == &area_) {
    if (event->type() == QEvent::Wheel) is_done = turn_wheel(*static_cast<QWheelEvent*>(event));
    if (event->type() == QEvent::MouseButtonPress) is_done = press(*static_cast<const QMouseEvent*>(event));
    if (event->type() == QEvent::MouseMove) is_done = drag(*static_cast<const QMouseEvent*>(event));
    if (event->type() == QEvent::MouseButtonRelease)
      is_done = release(*static_cast<const QMouseEvent*>(event));
  }
  if (is_done) event->accept();
  return is_done || QObject::eventFilter(watched, event);
}

bool RangeNavigation::turn_wheel(QWheelEvent& event) {
  if (scrolls() && event.modifiers().testFlag(Qt::ShiftModifier)) return false;
  const std::optional<AxisRanges> axis = axis_();
  if (!axis) return false;
  const QPoint turn = event.angleDelta();
  if (std::abs(turn.x()) > std::abs(turn.y()))
    state_.set_range(axis->moved(-turn.x()));
  else if (turn.y() != 0)
    state_.set_range(axis->zoomed(std::pow(wheel_zoom, -turn.y() / wheel_notch),
                                  std::max(event.position().x(), axis->left)));
  return true;
}

bool RangeNavigation::press(const QMouseEvent& event) {
  if (event.button() != Qt::LeftButton) return false;
  std::optional<AxisRanges> axis = axis_();
  if (!axis) return false;
  state_.end_range_change();
  const bool selects = axis->time_at && event.modifiers().testFlag(Qt::ShiftModifier);
  press_ = Press{event.pos(), *std::move(axis), selects ? Drag::select : Drag::pan};
  return true;
}

bool RangeNavigation::drag(const QMouseEvent& event) {
  if (!press_) return false;
  const QPoint by = event.pos() - press_->point;
  if (!press_->has_moved && by.manhattanLength() < QApplication::startDragDistance()) return true;
  press_->has_moved = true;
  const AxisRanges& axis = press_->axis;
  if (press_->drag == Drag::pan)
    state_.set_range(axis.moved(-by.x()));
  else
    state_.set_selection(TimeRange{axis.time_at(press_->point.x()), axis.time_at(event.pos().x())});
  return true;
}

bool RangeNavigation::release(const QMouseEvent& event) {
  if (event.button() != Qt::LeftButton || !press_) return false;
  const bool is_click = press_->drag == Drag::pan && !press_->has_moved;
  press_.reset();
  if (is_click) emit clicked(event.pos());
  state_.end_range_change();
  return true;
}

bool RangeNavigation::press_key(const QKeyEvent& event) {
  // The view handles keys with modifiers itself; a plus may need Shift.
  constexpr auto others = Qt::ControlModifier | Qt::AltModifier | Qt::ShiftModifier;
  const bool is_plus = event.key() == Qt::Key_Plus && !(event.modifiers() & (others & ~Qt::ShiftModifier));
  if (!axis_() || (!is_plus && (event.modifiers() & others))) return false;
  switch (event.key()) {
    case Qt::Key_W:
    case Qt::Key_Up:
    case Qt::Key_Plus:
      zoom(1.0 / key_zoom);
      return true;
    case Qt::Key_S:
    case Qt::Key_Down:
    case Qt::Key_Minus:
      zoom(key_zoom);
      return true;
    case Qt::Key_A:
    case Qt::Key_Left:
      pan(-key_pan);
      return true;
    case Qt::Key_D:
    case Qt::Key_Right:
      pan(key_pan);
      return true;
    case Qt::Key_Home:
      state_.show_whole();
      return true;
    default:
      return false;
  }
}

}  // namespace draftscope::gui
