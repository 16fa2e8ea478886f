// SPDX-License-Identifier: GPL-3.0-or-later
#include "flame_graph.h"

#include <QKeyEvent>
#include <QPainter>
#include <algorithm>

#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int row_height = 22;
constexpr double narrowest_label = 48.0;

}  // namespace

FlameGraph::FlameGraph(QWidget* parent) : KeyboardPlot(tr("Flame graph"), parent) {}

void FlameGraph::set_profile(std::vector<ProfileNode> nodes) {
  nodes_ = std::move(nodes);
  root_.reset();
  lay_out();
  forget_place();
  updateGeometry();
}

void FlameGraph::set_root(std::optional<std::size_t> node) {
  root_ = node;
  lay_out();
  if (node) KeyboardPlot::go_to(*node);
  update();
}

QSize FlameGraph::sizeHint() const {
  std::size_t deepest = 0;
  for (const ProfileNode& node : nodes_) deepest = std::max(deepest, node.depth);
  return {400, static_cast<int>(deepest + 1) * row_height};
}

std::vector<std::size_t> FlameGraph::children_of(std::optional<std::size_t> node) const {
  std::vector<std::size_t> children;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i].parent == (node ? static_cast<std::uint32_t>(*node) : ProfileNode::none))
      children.push_back(i);
  // The longest node stands on the left, regardless of time.
  std::stable_sort(children.begin(), children.end(),
                   [this](std::size_t a, std::size_t b) { return nodes_[a].total_ns > nodes_[b].total_ns; });
  return children;
}

void FlameGraph::lay_out() {
  boxes_.assign(nodes_.size(), {});
  double all = 0.0;
  for (const ProfileNode& node : nodes_)
    if (node.parent == ProfileNode::none) all += static_cast<double>(node.total_ns);
  if (root_) all = static_cast<double>(nodes_[*root_].total_ns);
  if (all <= 0.0) return;
  // Ancestors of the root have the full width, too.
  std::vector<bool> is_above(nodes_.size());
  if (root_)
    for (std::uint32_t at = nodes_[*root_].parent; at != ProfileNode::none; at = nodes_[at].parent) {
      is_above[at] = true;
      boxes_[at] = QRectF(0, static_cast<double>(nodes_[at].depth) * row_height, width(), row_height - 1);
    }
  struct OpenNode {
    std::size_t node = 0;
    double left = 0.0;
  };
  std::vector<OpenNode> open;
  const auto add = [&](const std::vector<std::size_t>& nodes, double left) {
    for (const std::size_t node : nodes) {
      open.push_back({node, left});
      left += static_cast<double>(nodes_[node].total_ns) / all * width();
    }
  };
  if (root_)
    add({*root_}, 0.0);
  else
    add(children_of(std::nullopt), 0.0);
  while (!open.empty()) {
    const OpenNode place = open.back();
    open.pop_back();
    const ProfileNode& node = nodes_[place.node];
    boxes_[place.node] = QRectF(place.left, static_cast<double>(node.depth) * row_height,
                                static_cast<double>(node.total_ns) / all * width(), row_height - 1);
    add(children_of(place.node), place.left);
  }
}

QString FlameGraph::words_of(std::size_t node) const {
  const ProfileNode& of = nodes_[node];
  QStringList path;
  double track = 0.0;
  for (auto at = static_cast<std::uint32_t>(node); at != ProfileNode::none; at = nodes_[at].parent) {
    path.prepend(QString::fromStdString(nodes_[at].name));
    track = static_cast<double>(nodes_[at].total_ns);
  }
  return tr("%1: %2, %3 of the track; %4 in no slice below it; %5")
      .arg(path.join(QStringLiteral(" › ")), duration_text(of.total_ns),
           percent_text(track > 0.0 ? static_cast<double>(of.total_ns) / track : 0.0),
           duration_text(of.self_ns),
           counted(static_cast<std::int64_t>(of.count), tr("1 slice"), tr("%1 slices")));
}

void FlameGraph::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  const bool dark = is_dark(palette());
  if (nodes_.empty()) {
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(rect(), Qt::AlignCenter, tr("no spans or kernels in this time"));
    return;
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const QRectF& box = boxes_[i];
    if (box.width() < 0.5) continue;
    QColor color =
        nodes_[i].depth == 0 ? palette().color(QPalette::Button) : phase_color(nodes_[i].phase, dark);
    if (nodes_[i].depth > 1) {
      const int steps = static_cast<int>(std::min<std::size_t>(nodes_[i].depth - 1, 5));
      color = dark ? color.darker(100 + 14 * steps) : color.lighter(100 + 12 * steps);
    }
    painter.fillRect(QRectF(box.left(), box.top(), std::max(box.width() - 1.0, 0.5), box.height()), color);
    if (box.width() >= narrowest_label) {
      painter.setPen(ink_on(color));
      const int room = static_cast<int>(box.width()) - 6;
      const QString name = QString::fromStdString(nodes_[i].name);
      const QString words = name + u' ' + duration_text(nodes_[i].total_ns);
      painter.drawText(
          box.adjusted(3, 0, -3, 0), Qt::AlignVCenter,
          painter.fontMetrics().elidedText(
              painter.fontMetrics().horizontalAdvance(words) <= room ? words : name, Qt::ElideMiddle, room));
    }
  }
  if (!current() || boxes_[*current()].isEmpty() || !hasFocus()) return;
  painter.setPen(QPen(palette().color(QPalette::WindowText), 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(boxes_[*current()].adjusted(1, 1, -1, -1));
}

void FlameGraph::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  lay_out();
}

std::optional<std::size_t> FlameGraph::place_at(const QPoint& point) const {
  for (std::size_t i = 0; i < boxes_.size(); ++i)
    if (boxes_[i].contains(point)) return i;
  return std::nullopt;
}

std::optional<std::size_t> FlameGraph::next_place(std::size_t from, int key) const {
  const ProfileNode& node = nodes_[from];
  const auto parent =
      node.parent == ProfileNode::none ? std::nullopt : std::optional<std::size_t>(node.parent);
  if (key == Qt::Key_Down) {
    const auto children = children_of(from);
    return children.empty() ? std::nullopt : std::optional(children.front());
  }
  if (key == Qt::Key_Up) return parent;
  const auto siblings = children_of(parent);
  const auto at = std::find(siblings.begin(), siblings.end(), from);
  if (key == Qt::Key_Left && at != siblings.begin()) return *std::prev(at);
  if (key == Qt::Key_Right && std::next(at) != siblings.end()) return *std::next(at);
  return std::nullopt;
}

void FlameGraph::go_to(std::size_t node) {
  // A node outside the root's subtree is not visible, so show all.
  if (boxes_[node].isEmpty()) set_root(std::nullopt);
  KeyboardPlot::go_to(node);
}

void FlameGraph::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Backspace) return KeyboardPlot::keyPressEvent(event);
  if (root_ && nodes_[*root_].parent != ProfileNode::none)
    set_root(nodes_[*root_].parent);
  else
    set_root(std::nullopt);
}

}  // namespace draftscope::gui
