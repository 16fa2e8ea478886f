// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Frames around widgets of a window, above everything else in it, that let all input through: around the
// widget of a tour step, and around the widget with the focus while the keyboard is used.

#include <QPointer>
#include <QWidget>
#include <vector>

namespace draftscope::gui {

/// A frame around a widget, which moves and hides with the widget.
class WidgetMark : public QWidget {
  Q_OBJECT

 public:
  WidgetMark(int line_width, QWidget* window);

  /// Marks a widget; null marks none.
  void mark(QWidget* target);
  [[nodiscard]] QWidget* target() const { return target_; }
  /// Sets a widget of the window that the frame is never drawn over; null for none.
  void keep_below(QWidget* other) { above_ = other; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void watch(bool is_on);
  void place();

  int line_width_;
  QPointer<QWidget> target_;
  QPointer<QWidget> above_;
  std::vector<QPointer<QWidget>> watched_;  ///< The target and its ancestors.
};

/// Marks the widget with the focus from the first key until the mouse is used. Used on the main thread only.
class FocusMark : public QObject {
  Q_OBJECT

 public:
  explicit FocusMark(QWidget* window);

  [[nodiscard]] const WidgetMark& mark() const { return *mark_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void follow(QWidget* focus);

  QWidget* window_;
  WidgetMark* mark_;
  bool is_keyboard_used_ = false;
};

}  // namespace draftscope::gui
