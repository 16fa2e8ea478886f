// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A range of time as nested names: one box per node of the profile, as wide as its time, below the box of its
// parent. Arrow keys go from box to box, Return or a click widens a box to the full width, Backspace goes
// back.

#include <vector>

#include "data/details/range_profile.h"
#include "widgets/keyboard_plot.h"

namespace draftscope::gui {

class FlameGraph : public KeyboardPlot {
  Q_OBJECT

 public:
  explicit FlameGraph(QWidget* parent = nullptr);

  void set_profile(std::vector<ProfileNode> nodes);
  /// Node that has the full width; none = all tracks.
  [[nodiscard]] std::optional<std::size_t> root() const { return root_; }
  void set_root(std::optional<std::size_t> node);
  /// Box of a node; empty where it is not shown.
  [[nodiscard]] QRectF box_of(std::size_t node) const { return boxes_[node]; }

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override { return {120, 60}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  /// A place is the index of a node.
  [[nodiscard]] std::size_t places() const override { return nodes_.size(); }
  [[nodiscard]] std::optional<std::size_t> place_at(const QPoint& point) const override;
  [[nodiscard]] QString words_of(std::size_t node) const override;
  [[nodiscard]] std::optional<std::size_t> next_place(std::size_t from, int key) const override;
  void go_to(std::size_t node) override;
  void choose(std::size_t node) override { set_root(node); }

 private:
  void lay_out();
  [[nodiscard]] std::vector<std::size_t> children_of(std::optional<std::size_t> node) const;

  std::vector<ProfileNode> nodes_;
  std::vector<QRectF> boxes_;
  std::optional<std::size_t> root_;
};

}  // namespace draftscope::gui
