// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The one way to go through the visible range of time, for every view that has it on its x axis: the wheel or
// W / S zooms, dragging or A / D moves, Home shows all, Shift-drag selects a range where the view can tell
// times from pixels, and a press that is no drag is a click.
//
// On the main thread only.

#include <QObject>
#include <QPoint>
#include <functional>
#include <optional>

#include "state/view_state.h"

class QKeyEvent;
class QMouseEvent;
class QWheelEvent;
class QWidget;

namespace draftscope::gui {

/// Ranges of time that an axis leads to, as it was when asked for. Pixels are those of the widget that takes
/// the pointer.
struct AxisRanges {
  double left = 0.0;
  double width = 1.0;
  /// The range that is `factor` times as long and keeps what is at `pixel` in place.
  std::function<TimeRange(double factor, double pixel)> zoomed;
  /// The range so many pixels further.
  std::function<TimeRange(double pixels)> moved;
  /// The time at a pixel; absent where no range can be selected.
  std::function<std::int64_t(double pixel)> time_at{};
};

class RangeNavigation : public QObject {
  Q_OBJECT

 public:
  /// The axis as it is now; none while there is nothing to go through.
  using Axis = std::function<std::optional<AxisRanges>()>;

  /// Takes wheel and mouse from `area` and keys from `view`; both are the same unless the view scrolls, which
  /// then keeps the wheel with Shift. All must outlive this.
  RangeNavigation(ViewState& state, QWidget& view, QWidget& area, Axis axis);

  /// Around the pointer if it is on the axis of a view that scrolls, else around the axis' middle.
  void zoom(double factor);
  void pan(double share_of_width);

 signals:
  void clicked(const QPoint& point);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  enum class Drag : std::uint8_t { pan, select };

  struct Press {
    QPoint point;
    AxisRanges axis;
    Drag drag = Drag::pan;
    bool has_moved = false;
  };

  [[nodiscard]] bool scrolls() const { return &view_ != &area_; }
  bool turn_wheel(QWheelEvent& event);
  bool press(const QMouseEvent& event);
  bool drag(const QMouseEvent& event);
  bool release(const QMouseEvent& event);
  bool press_key(const QKeyEvent& event);

  ViewState& state_;
  QWidget& view_;
  QWidget& area_;
  Axis axis_;
  std::optional<Press> press_;
};

}  // namespace draftscope::gui
