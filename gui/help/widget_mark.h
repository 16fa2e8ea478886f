// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Frames around widgets of a window, above everything else in it, that let all input through: around what a
// tour speaks of, and around what has the focus while the keyboard is used.

#include <QPointer>
#include <QWidget>
#include <vector>

namespace draftscope::gui {

/// A frame that stays around a widget as that moves, and goes with it.
class WidgetMark : public QWidget {
  Q_OBJECT

 public:
  WidgetMark(int line_width, QWidget* window);

  /// Null for none.
  void mark(QWidget* target);
  [[nodiscard]] QWidget* target() const { return target_; }
  /// A widget of the window that is never drawn over; null for none.
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
  std::vector<QPointer<QWidget>> watched_;  ///< the target and those around it
};

/// Marks what has the focus from the first key on until the mouse is used. On the main thread only.
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
