// SPDX-License-Identifier: GPL-3.0-or-later
#include "query_lanes.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "widgets/habits.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int query_lane_height = 22;
constexpr std::size_t max_query_lanes = 5;
constexpr int close_size = 18;
constexpr int min_label_width = 24;

}  // namespace

QueryLanes::QueryLanes(ViewState& state, std::function<TimeAxis()> axis, QWidget* parent)
    : QWidget(parent), state_(state), axis_(std::move(axis)) {
  setAccessibleName(tr("Lanes of queries"));
  connect(&state_, &ViewState::range_changed, this, qOverload<>(&QWidget::update));
  connect(&state_, &ViewState::recording_changed, this, &QueryLanes::clear_for_other_recording);
  clear_for_other_recording();
  hide();
}

void QueryLanes::clear_for_other_recording() {
  const std::filesystem::path path =
      state_.recording() ? state_.recording()->recording().path : std::filesystem::path();
  if (path == recording_) return;
  recording_ = path;
  while (!lanes_.empty()) remove(lanes_.size() - 1);
}

int QueryLanes::wanted_height() const {
  return static_cast<int>(lanes_.size()) * query_lane_height;
}

void QueryLanes::add(const QString& title, QueryIntervals intervals) {
  const auto same = std::ranges::find(lanes_, title, &QueryLane::title);
  if (same != lanes_.end())
    remove(static_cast<std::size_t>(same - lanes_.begin()));
  else if (lanes_.size() == max_query_lanes)
    remove(0);
  auto* close = new QToolButton(this);
  close->setText(QStringLiteral("×"));
  close->setAutoRaise(true);
  close->setToolTip(tr("Remove this lane"));
  close->setAccessibleName(tr("Remove the lane %1").arg(title));
  close->setFocusPolicy(Qt::StrongFocus);
  connect(close, &QToolButton::clicked, this, [this, close] {
    const auto at = std::ranges::find(lanes_, close, &QueryLane::close);
    remove(static_cast<std::size_t>(at - lanes_.begin()));
  });
  lanes_.push_back({title, std::move(intervals.intervals), close});
  close->show();
  place_buttons();
}

void QueryLanes::remove(std::size_t index) {
  lanes_[index].close->hide();
  lanes_[index].close->deleteLater();
  lanes_.erase(lanes_.begin() + static_cast<std::ptrdiff_t>(index));
  place_buttons();
}

void QueryLanes::place_buttons() {
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    lanes_[i].close->setGeometry(2, static_cast<int>(i) * query_lane_height + 2, close_size, close_size);
  setVisible(!lanes_.empty());
  update();
  emit height_changed();
}

void QueryLanes::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  const TimeAxis axis = axis_();
  const QColor fill = selection_color(is_dark(palette()));
  const QColor rim = palette().color(QPalette::Highlight);
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    const QRect row(axis.left, static_cast<int>(lane) * query_lane_height, axis.width, query_lane_height);
    painter.setClipRect(row);
    int drawn_to = row.left() - 1;  // Boxes narrower than a pixel share it.
    for (const QueryInterval& interval : lanes_[lane].intervals) {
      if (interval.time.start_ns >= axis.range.end_ns) break;
      if (interval.time.end_ns < axis.range.start_ns) continue;
      const int from = static_cast<int>(std::max<double>(axis.x(interval.time.start_ns), row.left() - 2));
      const int to = static_cast<int>(std::min<double>(axis.x(interval.time.end_ns), row.right() + 3));
      if (std::max(to, from + 1) <= drawn_to) continue;
      const QRect box(from, row.top() + 3, std::max(to - from, 1), row.height() - 6);
      painter.fillRect(box, fill);
      painter.fillRect(box.left(), box.top(), 1, box.height(), rim);
      if (box.width() >= min_label_width && from >= drawn_to) {
        painter.setPen(palette().color(QPalette::WindowText));
        const QString words = interval.label.empty() ? duration_text(interval.time.duration_ns())
                                                     : QString::fromStdString(interval.label).simplified();
        const QRect room = box.adjusted(4, 0, -2, 0).intersected(row);
        painter.drawText(room, Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(words, Qt::ElideMiddle, room.width()));
      }
      drawn_to = std::max(drawn_to, box.right() + 1);
    }
    painter.setClipping(false);
    painter.fillRect(0, row.top(), axis.left, row.height(), palette().color(QPalette::Window));
    painter.fillRect(0, row.top(), width(), 1, palette().color(QPalette::Mid));
    painter.fillRect(axis.left - 1, row.top(), 1, row.height(), palette().color(QPalette::Mid));
    painter.setPen(palette().color(QPalette::WindowText));
    const QRect title(close_size + 6, row.top(), axis.left - close_size - 10, row.height());
    painter.drawText(title, Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(lanes_[lane].title, Qt::ElideRight, title.width()));
  }
}

std::optional<std::pair<std::size_t, std::size_t>> QueryLanes::interval_at(const QPoint& point) const {
  const auto lane = static_cast<std::size_t>(std::max(point.y(), 0) / query_lane_height);
  const TimeAxis axis = axis_();
  if (lane >= lanes_.size() || point.x() < axis.left) return std::nullopt;
  const std::vector<QueryInterval>& intervals = lanes_[lane].intervals;
  const std::int64_t from_ns = axis.ns(point.x());
  const std::int64_t to_ns = axis.ns(point.x() + 1);
  for (std::size_t i = intervals.size(); i-- > 0;)
    if (intervals[i].time.start_ns < to_ns && intervals[i].time.end_ns >= from_ns) return std::pair(lane, i);
  return std::nullopt;
}

bool QueryLanes::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QString words;
  if (const auto at = interval_at(help->pos())) {
    const QueryInterval& interval = lanes_[at->first].intervals[at->second];
    words = tr("<b>%1</b><br>%2, at %3")
                .arg(QString::fromStdString(interval.label).toHtmlEscaped(),
                     duration_text(interval.time.duration_ns()),
                     duration_text(interval.time.start_ns - state_.recording()->whole().start_ns));
  }
  show_tip(*help, *this, words);
  return true;
}

void QueryLanes::mousePressEvent(QMouseEvent* event) {
  if (const auto at = interval_at(event->pos()))
    state_.set_selection(lanes_[at->first].intervals[at->second].time);
}

}  // namespace draftscope::gui
