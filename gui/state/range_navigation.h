// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The common navigation of the visible range of time, for every view with time on its x axis. The wheel or W
// / S zooms, dragging or A / D moves, Home shows all. Shift-drag selects a range where the view can tell
// times from pixels. A press without a drag is a click.
//
// Used on the main thread only.

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

/// Ranges of time that navigation leads to, from the axis at the time of construction. Pixels are those of
/// the widget that takes the pointer.
struct AxisRanges {
  double left = 0.0;
  double width = 1.0;
  /// The range that is `factor` times as long, with the time at `pixel` in place.
  std::function<TimeRange(double factor, double pixel)> zoomed;
  /// The range moved by this many pixels.
  std::function<TimeRange(double pixels)> moved;
  /// The time at a pixel; absent where no range can be selected.
  std::function<std::int64_t(double pixel)> time_at{};
};

class RangeNavigation : public QObject {
  Q_OBJECT

 public:
  /// Returns the current axis; none while there is nothing to navigate.
  using Axis = std::function<std::optional<AxisRanges>()>;

  /// Takes wheel and mouse from `area`, keys from `view`. They are the same widget unless the view scrolls;
  /// then it keeps the wheel with Shift. All must outlive this.
  RangeNavigation(ViewState& state, QWidget& view, QWidget& area, Axis axis);

  /// Zooms around the pointer if it is on the axis of a view that scrolls, else around the axis' middle.
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
