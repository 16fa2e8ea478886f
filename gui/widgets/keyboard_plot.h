// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Base of plots whose places can be visited by arrow keys. One place is current; its text is the accessible
// description and the tool tip. A click goes to a place and chooses it, Return chooses the current one.

#include <QWidget>
#include <optional>

namespace draftscope::gui {

class KeyboardPlot : public QWidget {
  Q_OBJECT

 public:
  /// `name` is the accessible name.
  explicit KeyboardPlot(const QString& name, QWidget* parent = nullptr);

  /// The current place; absent where there is none.
  [[nodiscard]] virtual std::optional<std::size_t> current() const { return current_; }

 signals:
  /// Emitted with the text about the new current place.
  void described(const QString& words);

 protected:
  /// Current number of places.
  [[nodiscard]] virtual std::size_t places() const = 0;
  /// The place at a point of the widget; absent where there is none. It is only called while there are
  /// places.
  [[nodiscard]] virtual std::optional<std::size_t> place_at(const QPoint& point) const = 0;
  [[nodiscard]] virtual QString words_of(std::size_t place) const = 0;
  [[nodiscard]] virtual QString tooltip_of(std::size_t place) const { return words_of(place); }
  /// The place that a key leads to from another; absent for other keys, and at the end. By default Left,
  /// Right, Home and End move along a row.
  [[nodiscard]] virtual std::optional<std::size_t> next_place(std::size_t from, int key) const;
  virtual void go_to(std::size_t place);
  /// Called after a click on a place, and on Return at the current one. By default does nothing.
  virtual void choose(std::size_t /*place*/) {}
  /// Call it when the places have changed; the first one becomes current.
  void forget_place();

  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  std::optional<std::size_t> current_;
};

}  // namespace draftscope::gui
