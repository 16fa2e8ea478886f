// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A range of time as nested names: a box a node of the profile, as wide as its time, below the one that it
// lies in. Arrow keys go from box to box, Return or a click takes a box to the full width, Backspace goes
// back.

#include <QWidget>
#include <optional>
#include <vector>

#include "data/details/range_profile.h"

namespace draftscope::gui {

class FlameGraph : public QWidget {
  Q_OBJECT

 public:
  explicit FlameGraph(QWidget* parent = nullptr);

  void set_profile(std::vector<ProfileNode> nodes);
  /// Index of the node that keys are about; none without nodes.
  [[nodiscard]] std::optional<std::size_t> current() const { return current_; }
  void set_current(std::size_t node);
  /// Node that has the full width; none: all tracks.
  [[nodiscard]] std::optional<std::size_t> root() const { return root_; }
  void set_root(std::optional<std::size_t> node);
  /// Box of a node; empty where it is not shown.
  [[nodiscard]] QRectF box_of(std::size_t node) const { return boxes_[node]; }

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {120, 60}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void lay_out();
  [[nodiscard]] std::optional<std::size_t> node_at(const QPointF& point) const;
  [[nodiscard]] QString words_of(std::size_t node) const;
  /// The node beside, above or below the current one.
  [[nodiscard]] std::optional<std::size_t> neighbour(int key) const;
  [[nodiscard]] std::vector<std::size_t> children_of(std::optional<std::size_t> node) const;

  std::vector<ProfileNode> nodes_;
  std::vector<QRectF> boxes_;
  std::optional<std::size_t> current_;
  std::optional<std::size_t> root_;
};

}  // namespace draftscope::gui
