// SPDX-License-Identifier: GPL-3.0-or-later
#include "timeline_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "timeline/lane_painter.h"
#include "views/theme.h"
#include "views/time_text.h"
#include "views/tool_tip.h"

namespace draftscope::gui {

namespace {

constexpr int header_width = 190;
constexpr int axis_height = 24;
constexpr int lane_height = 20;
constexpr int counter_height = 36;
constexpr int group_gap = 7;
constexpr int min_tick_pixels = 90;

QString lane_title(const Lane& lane) {
  const QString name = QString::fromStdString(lane.name);
  switch (lane.kind) {
    case LaneKind::requests:
      return TimelineView::tr("%1: requests").arg(name);
    case LaneKind::rounds:
      return TimelineView::tr("%1: rounds").arg(name);
    case LaneKind::decisions:
      return TimelineView::tr("decisions");
    case LaneKind::track:
      break;
  }
  return lane.track_kind.empty()
             ? name
             : TimelineView::tr("%1 (%2)").arg(name, QString::fromStdString(lane.track_kind));
}

}  // namespace

TimelineView::TimelineView(ViewState& state, QWidget* parent)
    : QAbstractScrollArea(parent),
      state_(state),
      navigation_(state, *this, *viewport(), [this] { return axis_ranges(); }) {
  setAccessibleName(tr("Timeline"));
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  setMinimumHeight(axis_height + 3 * lane_height);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
  const auto repaint = [this] { viewport()->update(); };
  connect(&state_, &ViewState::timeline_changed, this, [this] {
    selected_.reset();
    launch_.reset();
    set_search(search_);
    lay_out();
    update_description();
    viewport()->update();
  });
  connect(&state_, &ViewState::recording_changed, this, [this] {
    selected_.reset();
    launch_.reset();
    lay_out();
    const std::filesystem::path path =
        state_.recording() ? state_.recording()->recording().path : std::filesystem::path();
    if (path != path_) verticalScrollBar()->setValue(0);
    path_ = path;
    viewport()->update();
  });
  connect(&state_, &ViewState::range_changed, this, [this] {
    update_description();
    viewport()->update();
  });
  connect(&state_, &ViewState::selection_changed, this, repaint);
  connect(&state_, &ViewState::cursor_changed, this, repaint);
  connect(verticalScrollBar(), &QScrollBar::valueChanged, this, repaint);
  connect(&navigation_, &RangeNavigation::clicked, this, &TimelineView::choose_at);
  lay_out();
}

void TimelineView::update_description() {
  setAccessibleDescription(
      tr("%1 shown, from %2")
          .arg(duration_text(state_.range().duration_ns()),
               duration_text(
                   state_.recording() ? state_.range().start_ns - state_.recording()->whole().start_ns : 0)));
}

void TimelineView::lay_out() {
  rows_.clear();
  int top = axis_height;
  if (const auto& timeline = state_.timeline()) {
    const std::string* group = nullptr;
    for (std::size_t i = 0; i < timeline->lanes.size(); ++i) {
      const Lane& lane = timeline->lanes[i];
      const bool begins = lane.depth == 0;
      if (begins && group != nullptr) top += group_gap;
      group = &lane.name;
      rows_.push_back({Row::Kind::lane, i, top, lane_height, begins});
      top += lane_height;
    }
    for (std::size_t i = 0; i < timeline->counters.size(); ++i) {
      top += group_gap;
      rows_.push_back({Row::Kind::counter, i, top, counter_height, true});
      top += counter_height;
    }
  }
  verticalScrollBar()->setSingleStep(lane_height);
  set_scroll_range(top + group_gap);
}

void TimelineView::set_scroll_range(int content_height) {
  verticalScrollBar()->setRange(0, std::max(0, content_height - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  if (content_height == content_height_) return;
  content_height_ = content_height;
  emit laid_out();
}

TimeAxis TimelineView::axis() const {
  return {state_.range(), header_width, std::max(1, viewport()->width() - header_width)};
}

std::optional<AxisRanges> TimelineView::axis_ranges() const {
  if (!state_.recording()) return std::nullopt;
  const TimeAxis axis = this->axis();
  return AxisRanges{.left = static_cast<double>(axis.left),
                    .width = static_cast<double>(axis.width),
                    .zoomed = [axis](double factor, double pixel) { return axis.zoomed(factor, pixel); },
                    .moved = [axis](double pixels) { return axis.moved(pixels); },
                    .time_at = [axis](double pixel) { return axis.ns(pixel); }};
}

void TimelineView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  set_scroll_range(content_height_);
}

const TimelineView::Row* TimelineView::row_at(int y) const {
  const int place = y + verticalScrollBar()->value();
  if (y < axis_height) return nullptr;
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) {
    return place >= row.top && place < row.top + row.height;
  });
  return found == rows_.end() ? nullptr : &*found;
}

QString TimelineView::title_of(const Row& row) const {
  const Timeline& timeline = *state_.timeline();
  return row.kind == Row::Kind::lane ? lane_title(timeline.lanes[row.index])
                                     : QString::fromStdString(timeline.counters[row.index].name);
}

std::optional<SlicePlace> TimelineView::place_at(const QPoint& point) const {
  const Row* row = row_at(point.y());
  if (row == nullptr || row->kind != Row::Kind::lane || point.x() < header_width) return std::nullopt;
  const auto slice = slice_at(state_.timeline()->lanes[row->index], axis(), point.x());
  if (!slice) return std::nullopt;
  return SlicePlace{row->index, *slice};
}

void TimelineView::paint_axis(QPainter& painter, const TimeAxis& axis) const {
  const QRect strip(0, 0, viewport()->width(), axis_height);
  painter.fillRect(strip, palette().color(QPalette::Window));
  const std::int64_t zero = state_.recording()->whole().start_ns;
  const auto least = static_cast<std::int64_t>(std::ceil(axis.ns_per_pixel() * min_tick_pixels));
  const std::int64_t step = tick_step_ns(std::max<std::int64_t>(least, 1));
  painter.setPen(palette().color(QPalette::WindowText));
  for (std::int64_t tick = (axis.range.start_ns - zero + step - 1) / step * step;
       zero + tick < axis.range.end_ns; tick += step) {
    const int x = static_cast<int>(axis.x(zero + tick));
    painter.drawLine(x, axis_height - 5, x, axis_height - 1);
    const QString words = tick_text(tick, step);
    // Half a number is a wrong one.
    if (x + 3 + painter.fontMetrics().horizontalAdvance(words) <= viewport()->width())
      painter.drawText(QRect(x + 3, 0, min_tick_pixels, axis_height - 2), Qt::AlignLeft | Qt::AlignVCenter,
                       words);
  }
  painter.fillRect(0, 0, header_width, axis_height, palette().color(QPalette::Window));
  painter.drawText(QRect(6, 0, header_width - 8, axis_height), Qt::AlignVCenter,
                   tr("%1 shown").arg(duration_text(axis.range.duration_ns())));
}

int TimelineView::top_of(const Row& row) const {
  return row.top - verticalScrollBar()->value();
}

void TimelineView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
  if (!state_.recording()) return;
  const TimeAxis axis = this->axis();
  if (state_.timeline()) {
    paint_rows(painter, axis);
    paint_launch(painter, axis);
  }
  paint_overlays(painter, axis);
  paint_axis(painter, axis);
}

void TimelineView::paint_rows(QPainter& painter, const TimeAxis& axis) const {
  for (const Row& row : rows_) {
    const int top = top_of(row);
    if (top + row.height - 3 < axis_height || top > viewport()->height()) continue;
    paint_row(painter, row, axis);
    paint_header(painter, row);
  }
}

void TimelineView::paint_row(QPainter& painter, const Row& row, const TimeAxis& axis) const {
  const Timeline& timeline = *state_.timeline();
  const bool dark = is_dark(palette());
  const QRect box(header_width, top_of(row), axis.width, row.height - 2);
  LaneLook look{.dark = dark};
  if (!matches_.empty()) look.matches = &matches_;
  if (row.kind == Row::Kind::lane)
    paint_lane(painter, timeline, timeline.lanes[row.index], axis, box, look);
  else
    paint_counter(painter, timeline.counters[row.index], axis, box, phase_color(traces::Phase::verify, dark));
}

void TimelineView::paint_header(QPainter& painter, const Row& row) const {
  const QRect header(0, top_of(row), header_width, row.height);
  painter.fillRect(header, palette().color(QPalette::Window));
  if (!row.begins_group) return;
  painter.setPen(palette().color(QPalette::WindowText));
  const bool is_counter = row.kind == Row::Kind::counter;
  painter.drawText(header.adjusted(6, 0, -6, 0), is_counter ? Qt::AlignTop : Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(title_of(row), Qt::ElideMiddle, header_width - 12));
  if (!is_counter) return;
  const auto [low, high] = counter_range(state_.timeline()->counters[row.index]);
  painter.drawText(header.adjusted(6, 0, -6, -2), Qt::AlignBottom,
                   tr("%1 to %2").arg(number_text(low), number_text(high)));
}

void TimelineView::paint_overlays(QPainter& painter, const TimeAxis& axis) const {
  painter.setClipRect(header_width, axis_height, axis.width, viewport()->height() - axis_height);
  paint_selection(painter, axis);
  paint_cursor(painter, axis);
  paint_selected_slice(painter, axis);
  painter.setClipping(false);
}

void TimelineView::paint_selection(QPainter& painter, const TimeAxis& axis) const {
  const auto& selection = state_.selection();
  if (!selection) return;
  const double from = std::max<double>(axis.x(selection->start_ns), header_width);
  const double to = std::min<double>(axis.x(selection->end_ns), header_width + axis.width);
  if (to > from)
    painter.fillRect(QRectF(from, axis_height, to - from, viewport()->height() - axis_height),
                     selection_color(is_dark(palette())));
}

void TimelineView::paint_cursor(QPainter& painter, const TimeAxis& axis) const {
  const std::uint32_t round_index = state_.cursor().round_index;
  if (round_index == no_index) return;
  const traces::Round& row = state_.recording()->round(round_index);
  const double from = axis.x(row.start_ns);
  const double to = std::max(axis.x(row.end_ns), from + 1);
  if (to <= header_width || from >= header_width + axis.width) return;
  const int bottom = viewport()->height();
  QColor fill = cursor_color(is_dark(palette()));
  painter.setPen(QPen(fill, 1));
  painter.drawLine(QPointF(from, axis_height), QPointF(from, bottom));
  painter.drawLine(QPointF(to, axis_height), QPointF(to, bottom));
  fill.setAlpha(24);
  painter.fillRect(QRectF(from, axis_height, to - from, bottom - axis_height), fill);
}

void TimelineView::paint_selected_slice(QPainter& painter, const TimeAxis& axis) const {
  if (!selected_) return;
  const TimeRange time = time_of(*state_.timeline(), *selected_);
  const double from = std::max<double>(axis.x(time.start_ns), header_width - 4);
  const double to = std::min<double>(axis.x(time.end_ns), header_width + axis.width + 4);
  painter.setPen(QPen(palette().color(QPalette::WindowText), 2));
  painter.setBrush(Qt::NoBrush);
  for (const Row& row : rows_)
    if (row.kind == Row::Kind::lane && row.index == selected_->lane)
      painter.drawRect(QRectF(from, top_of(row), std::max(to - from, 2.0), row.height - 3));
}

void TimelineView::paint_launch(QPainter& painter, const TimeAxis& axis) const {
  if (!selected_ || !launch_) return;
  const Timeline& timeline = *state_.timeline();
  const double launched = axis.x(time_of(timeline, *launch_).start_ns);
  const double ran = axis.x(time_of(timeline, *selected_).start_ns);
  QPointF from;
  QPointF to;
  for (const Row& row : rows_) {
    if (row.kind != Row::Kind::lane) continue;
    const int half = row.height / 2;  // a whole pixel
    const double middle = top_of(row) + half;
    if (row.index == launch_->lane) from = {launched, middle};
    if (row.index == selected_->lane) to = {ran, middle};
  }
  painter.setPen(QPen(cursor_color(is_dark(palette())), 1.5));
  painter.setRenderHint(QPainter::Antialiasing);
  painter.drawLine(from, to);
  painter.setBrush(cursor_color(is_dark(palette())));
  painter.drawEllipse(to, 3, 3);
  painter.setRenderHint(QPainter::Antialiasing, false);
}

QString TimelineView::describe(const SlicePlace& place) const {
  const Timeline& timeline = *state_.timeline();
  const Lane& lane = timeline.lanes[place.lane];
  const LaneSlice slice = lane.slices[place.slice];
  QStringList lines;
  lines
      << QStringLiteral("<b>%1</b>").arg(QString::fromStdString(timeline.names[slice.name]).toHtmlEscaped());
  lines << tr("%1, at %2")
               .arg(duration_text(slice.time.duration_ns()),
                    duration_text(slice.time.start_ns - state_.recording()->whole().start_ns));
  if (lane.kind == LaneKind::track)
    lines << QString::fromStdString(std::string(traces::phase_name(slice.phase)));
  if (slice.layer >= 0) lines << tr("layer %1").arg(slice.layer);
  if (slice.round_index != no_index) {
    const traces::Round& round = state_.recording()->round(slice.round_index);
    lines << tr("round %1 of request %2").arg(round.index).arg(round.request_id.value());
    if (lane.kind == LaneKind::rounds)
      lines << tr("%1 drafted, %2 accepted, %3 emitted")
                   .arg(round.drafted)
                   .arg(round.accepted)
                   .arg(round.emitted);
  }
  return lines.join(QStringLiteral("<br>"));
}

QString TimelineView::tip_at(const QPoint& point) const {
  const auto place = place_at(point);
  return place ? describe(*place) : QString();
}

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip && state_.timeline()) {
    const auto* help = static_cast<QHelpEvent*>(event);
    // Titles are cut to the room beside the lanes.
    if (const Row* row = row_at(help->pos().y()); row != nullptr && help->pos().x() < header_width)
      show_tip(*help, *viewport(), title_of(*row));
    else
      show_tip(*help, *viewport(), tip_at(help->pos()));
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void TimelineView::select(std::optional<SlicePlace> place) {
  if (place == selected_) return;
  mark(place);
  if (const std::uint32_t round_index = selected_round(); round_index != no_index)
    state_.go_to_round(round_index);
}

void TimelineView::mark(std::optional<SlicePlace> place) {
  selected_ = place;
  launch_ = selected_ ? launch_of(*state_.timeline(), *selected_) : std::nullopt;
  viewport()->update();
  emit slice_selected();
}

std::uint32_t TimelineView::selected_round() const {
  return selected_ ? state_.timeline()->lanes[selected_->lane].slices[selected_->slice].round_index
                   : no_index;
}

void TimelineView::scroll_to_lane(std::size_t lane) {
  for (const Row& row : rows_) {
    if (row.kind != Row::Kind::lane || row.index != lane) continue;
    // The axis covers what is scrolled below it.
    const int highest = row.top - axis_height;
    const int lowest = row.top + row.height - viewport()->height();
    verticalScrollBar()->setValue(
        std::clamp(verticalScrollBar()->value(), std::min(lowest, highest), highest));
  }
}

int TimelineView::set_search(const QString& text) {
  search_ = text;
  matches_.clear();
  int found = 0;
  if (!text.isEmpty() && state_.timeline()) {
    for (const std::string& name : state_.timeline()->names) {
      const bool matches = QString::fromStdString(name).contains(text, Qt::CaseInsensitive);
      matches_.push_back(matches);
      found += matches ? 1 : 0;
    }
  }
  viewport()->update();
  return found;
}

bool TimelineView::step_match(bool forward) {
  if (matches_.empty() || !state_.timeline()) return false;
  const auto match = next_match(*state_.timeline(), matches_, selected_, forward);
  if (!match) return false;
  mark(match);
  scroll_to_lane(match->lane);
  // Who searches has not asked for another run: other views stay with theirs.
  if (const std::uint32_t round_index = selected_round();
      round_index != no_index && state_.recording()->run_of(round_index) == state_.run())
    state_.go_to_round(round_index);
  const TimeRange time = time_of(*state_.timeline(), *match);
  const TimeRange shown = state_.range();
  if (time.start_ns < shown.start_ns || time.end_ns > shown.end_ns) {
    state_.set_range({time.start_ns - shown.duration_ns() / 2, time.start_ns + shown.duration_ns() / 2});
    state_.end_range_change();
  }
  return true;
}

void TimelineView::fit_selection() {
  std::optional<TimeRange> target = state_.selection();
  if (!target && selected_) target = time_of(*state_.timeline(), *selected_);
  if (!target && state_.cursor().round_index != no_index) {
    const traces::Round& round = state_.recording()->round(state_.cursor().round_index);
    target = TimeRange{round.start_ns, round.end_ns};
  }
  if (!target) return;
  const std::int64_t margin = target->duration_ns() / 20;
  state_.end_range_change();
  state_.set_range({target->start_ns - margin, target->end_ns + margin});
  state_.end_range_change();
}

void TimelineView::choose_at(const QPoint& point) {
  if (!state_.timeline()) return;
  select(place_at(point));
  if (!selected_) state_.set_selection(std::nullopt);
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!state_.timeline()) return;
  select(place_at(event->pos()));
  if (selected_) fit_selection();
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (!state_.recording()) return;
  switch (event->key()) {
    case Qt::Key_F:
      fit_selection();
      break;
    case Qt::Key_Escape:
      state_.set_selection(std::nullopt);
      break;
    default:
      QAbstractScrollArea::keyPressEvent(event);
      return;
  }
  event->accept();
}

}  // namespace draftscope::gui
