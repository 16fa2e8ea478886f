// SPDX-License-Identifier: GPL-3.0-or-later
#include "timeline_view.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "data/details/slice_details.h"
#include "timeline/lane_painter.h"
#include "widgets/drawing.h"
#include "widgets/habits.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int rest_ms = 300;
/// Distance in pixels from the titles' edge within which it can be dragged.
constexpr int edge_reach = 4;
/// Width in pixels below which a match is too narrow to be seen.
constexpr double min_match_pixels = 6.0;
/// Lengths of a narrow match that are shown on each side of its start.
constexpr std::int64_t matches_per_half = 12;

}  // namespace

TimelineView::TimelineView(ViewState& state, QWidget* parent)
    : QAbstractScrollArea(parent),
      state_(state),
      query_lanes_(new QueryLanes(
          state, [this] { return axis(); }, this)),
      marks_(state),
      label_font_(font()),
      wanted_header_width_(first_header_width),
      header_width_(first_header_width),
      navigation_(state, *this, *viewport(), [this] { return axis_ranges(); }) {
  setAccessibleName(tr("Timeline"));
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  const int bar_height = bar_->sizeHint().height();
  setViewportMargins(0, bar_height, 0, 0);
  connect(query_lanes_, &QueryLanes::height_changed, this, &TimelineView::place_bars);
  connect(&marks_, &MarksLayer::changed, viewport(), qOverload<>(&QWidget::update));
  setMinimumHeight(bar_height + axis_height + 2 * LaneRows::lane_height);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  verticalScrollBar()->setSingleStep(LaneRows::lane_height);
  viewport()->setMouseTracking(true);
  // Filter events before the navigation, which takes every press.
  viewport()->installEventFilter(this);
  fold_timer_.setSingleShot(true);
  fold_timer_.setInterval(rest_ms);
  connect(&fold_timer_, &QTimer::timeout, this, &TimelineView::lay_out);
  connect(&navigation_, &RangeNavigation::clicked, this, &TimelineView::choose_at);
  connect(&bar_->lanes_menu(), &QMenu::aboutToShow, this, &TimelineView::fill_lanes_menu);
  connect_state();
  regroup();
}

void TimelineView::connect_state() {
  const auto repaint = [this] { viewport()->update(); };
  connect(&state_, &ViewState::timeline_changed, this, [this] {
    selected_.reset();
    launch_.reset();
    set_search(search_);
    regroup();
    emit slice_selected();
  });
  connect(&state_, &ViewState::recording_changed, this, [this] {
    selected_.reset();
    launch_.reset();
    follow_filter();  // Another recording has no filter yet.
    regroup();
    const std::filesystem::path path =
        state_.recording() ? state_.recording()->recording().path : std::filesystem::path();
    if (path != path_) verticalScrollBar()->setValue(0);
    path_ = path;
  });
  connect(&state_, &ViewState::range_changed, this, &TimelineView::follow_range);
  connect(&state_, &ViewState::selection_changed, this, repaint);
  connect(&state_, &ViewState::cursor_changed, this, repaint);
  connect(&state_, &ViewState::filter_changed, this, &TimelineView::follow_filter);
  connect(verticalScrollBar(), &QScrollBar::valueChanged, this, repaint);
}

void TimelineView::update_description() {
  QStringList words{
      tr("%1 shown, from %2")
          .arg(duration_text(state_.range().duration_ns()),
               duration_text(
                   state_.recording() ? state_.range().start_ns - state_.recording()->whole().start_ns : 0))};
  if (const auto row = current_row()) words << tr("lane %1").arg(title_of(rows_.rows()[*row], true));
  if (selected_)
    words << slice_label(*state_.recording(), *state_.timeline(), state_.timeline()->lanes[selected_->lane],
                         selected_->slice)
                 .words;
  setAccessibleDescription(words.join(QStringLiteral("; ")));
}

void TimelineView::regroup() {
  fold_timer_.stop();
  rows_.set(state_.timeline().get(), state_.recording().get());
  list_phases();
  lay_out();
  update_description();
}

void TimelineView::follow_filter() {
  left_.reset();
  if (state_.is_filtered()) left_.emplace(state_.filtered());
  viewport()->update();
}

void TimelineView::list_phases() {
  std::array<bool, traces::phase_count> is_there{};
  if (state_.timeline())
    for (const Lane& lane : state_.timeline()->lanes) {
      // Requests have the prefill's colour.
      if (lane.kind == LaneKind::requests) is_there[static_cast<std::size_t>(traces::Phase::prefill)] = true;
      const BusyColumns::ByPhase busy = busy_time(lane, state_.timeline()->whole);
      for (std::size_t phase = 0; phase < busy.size(); ++phase)
        if (lane.kind != LaneKind::requests && busy[phase] > 0.0) is_there[phase] = true;
    }
  std::vector<traces::Phase> phases;
  for (std::size_t phase = 0; phase < is_there.size(); ++phase)
    if (is_there[phase]) phases.push_back(static_cast<traces::Phase>(phase));
  // Idle is the time in no phase.
  if (!phases.empty() && phases.back() != traces::Phase::idle) phases.push_back(traces::Phase::idle);
  bar_->legend().set_phases(std::move(phases));
}

void TimelineView::lay_out() {
  fold_timer_.stop();
  rows_.lay_out(state_.range());
  bar_->set_absent(rows_.folded(), rows_.hidden());
  set_scroll_range();
  viewport()->update();
}

void TimelineView::follow_range() {
  // If rows went while the pointer zooms, the pointer would point at another row.
  if (viewport()->underMouse())
    fold_timer_.start();
  else
    lay_out();
  update_description();
  viewport()->update();
}

int TimelineView::content_height() const {
  return viewportMargins().top() + content_height_ + viewportMargins().bottom();
}

void TimelineView::set_scroll_range() {
  const int content_height = axis_height + rows_.height();
  verticalScrollBar()->setRange(0, std::max(0, content_height - viewport()->height()));
  verticalScrollBar()->setPageStep(viewport()->height());
  if (content_height == content_height_) return;
  content_height_ = content_height;
  emit laid_out();
}

TimeAxis TimelineView::axis() const {
  return {state_.range(), header_width_, std::max(1, viewport()->width() - header_width_)};
}

std::optional<AxisRanges> TimelineView::axis_ranges() {
  if (!state_.recording()) return std::nullopt;
  const TimeAxis axis = this->axis();
  return AxisRanges{.left = static_cast<double>(axis.left),
                    .width = static_cast<double>(axis.width),
                    .zoomed = [axis](double factor, double pixel) { return axis.zoomed(factor, pixel); },
                    .moved = [axis](double pixels) { return axis.moved(pixels); },
                    .time_at = [axis](double pixel) { return axis.ns(pixel); }};
}

void TimelineView::place_bars() {
  const bool is_other = viewportMargins().bottom() != query_lanes_->wanted_height();
  if (is_other) setViewportMargins(0, viewportMargins().top(), 0, query_lanes_->wanted_height());
  bar_->setGeometry(0, 0, width(), viewportMargins().top());
  query_lanes_->setGeometry(0, height() - viewportMargins().bottom(), viewport()->width(),
                            viewportMargins().bottom());
  if (is_other) emit laid_out();
}

void TimelineView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  place_bars();
  fit_header();
  set_scroll_range();
}

void TimelineView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() == QEvent::FontChange) label_font_ = LabelFont(font());
}

void TimelineView::set_header_width(int width) {
  wanted_header_width_ =
      std::clamp(width, min_header_width, std::max(min_header_width, viewport()->width() / 2));
  fit_header();
}

void TimelineView::fit_header() {
  header_width_ =
      std::clamp(wanted_header_width_, min_header_width, std::max(min_header_width, viewport()->width() / 2));
  query_lanes_->update();
  viewport()->update();
}

const LaneRow* TimelineView::row_at(int y) const {
  if (y < axis_height) return nullptr;
  const bool is_pinned = y < top_of_lanes();
  for (const LaneRow& row : rows_.rows())
    if (row.is_pinned == is_pinned && y >= top_of(row) && y < top_of(row) + row.height) return &row;
  return nullptr;
}

QString TimelineView::title_of(const LaneRow& row, bool is_whole) const {
  const ShownGroup& group = rows_.groups()[row.group];
  QString name = QString::fromStdString(is_whole ? group.name : group.short_name);
  if (row.kind == LaneRow::RowKind::counter || group.kind == ShownGroup::GroupKind::decisions) return name;
  const Lane& lane = state_.timeline()->lanes[row.index];
  if (group.kind == ShownGroup::GroupKind::track)
    return !is_whole || group.track_kind.empty()
               ? name
               : tr("%1 (%2)").arg(name, QString::fromStdString(group.track_kind));
  QString what = lane.kind == LaneKind::requests ? tr("requests")
                 : lane.kind == LaneKind::rounds ? tr("rounds")
                                                 : QString::fromStdString(lane.name);
  if (!is_whole) return row.begins_group ? name : what;
  return tr("%1: %2").arg(name, what);
}

std::optional<SlicePlace> TimelineView::place_at(const QPoint& point) const {
  const LaneRow* row = row_at(point.y());
  if (row == nullptr || row->kind != LaneRow::RowKind::lane || point.x() < header_width_) return std::nullopt;
  const auto slice = slice_at(state_.timeline()->lanes[row->index], axis(), point.x());
  if (!slice) return std::nullopt;
  return SlicePlace{row->index, *slice};
}

QString TimelineView::describe(const SlicePlace& place) const {
  const Timeline& timeline = *state_.timeline();
  const Lane& lane = timeline.lanes[place.lane];
  const LaneSlice slice = lane.slices[place.slice];
  QStringList lines;
  lines
      << QStringLiteral("<b>%1</b>").arg(QString::fromStdString(timeline.names[slice.name]).toHtmlEscaped());
  if (slice.name < timeline.whole_names.size() &&
      timeline.whole_names[slice.name] != timeline.names[slice.name])
    lines << QString::fromStdString(timeline.whole_names[slice.name]).toHtmlEscaped();
  lines
      << tr("%1, at %2").arg(duration_text(slice.time.duration_ns()), begin_text(*state_.recording(), slice));
  if (const std::int64_t shared_ns = shared_until_ns(timeline, place) - slice.time.start_ns; shared_ns > 0)
    lines << tr("%1 of it while what began earlier ran").arg(duration_text(shared_ns));
  if (lane.kind == LaneKind::track)
    lines << QString::fromStdString(std::string(traces::phase_name(slice.phase)));
  if (lane.kind == LaneKind::requests)
    lines << slice_label(*state_.recording(), timeline, lane, place.slice).words.toHtmlEscaped();
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
  if (const auto mark = marks_.mark_at(axis(), point)) return marks_.describe(*mark);
  const auto place = place_at(point);
  return place ? describe(*place) : QString();
}

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip && state_.timeline()) {
    const auto* help = static_cast<QHelpEvent*>(event);
    // Titles may be cut, so show them whole.
    if (const LaneRow* row = row_at(help->pos().y()); row != nullptr && help->pos().x() < header_width_)
      show_tip(*help, *viewport(), title_of(*row, true));
    else
      show_tip(*help, *viewport(), tip_at(help->pos()));
    return true;
  }
  return QAbstractScrollArea::viewportEvent(event);
}

bool TimelineView::is_on_edge(const QPoint& point) const {
  return std::abs(point.x() - header_width_) <= edge_reach;
}

bool TimelineView::eventFilter(QObject* watched, QEvent* event) {
  if (watched == viewport()) switch (event->type()) {
      case QEvent::MouseButtonPress:
      case QEvent::MouseMove:
      case QEvent::MouseButtonRelease:
        return use_title_mouse(*static_cast<const QMouseEvent*>(event));
      default:
        return false;
    }
  return QAbstractScrollArea::eventFilter(watched, event);
}

bool TimelineView::use_title_mouse(const QMouseEvent& event) {
  if (event.type() == QEvent::MouseButtonPress) {
    if (event.button() != Qt::LeftButton || event.pos().x() > header_width_ + edge_reach) return false;
    if (is_on_edge(event.pos()))
      edge_drag_ = header_width_ - event.pos().x();
    else
      title_press_ = event.pos();
    return true;
  }
  if (event.type() == QEvent::MouseMove) {
    if (edge_drag_)
      set_header_width(event.pos().x() + *edge_drag_);
    else if (event.buttons() == Qt::NoButton)
      viewport()->setCursor(is_on_edge(event.pos()) ? Qt::SplitHCursor : Qt::ArrowCursor);
    return edge_drag_ || title_press_;
  }
  const bool is_title = title_press_.has_value();
  if (!is_title && !edge_drag_) return false;
  edge_drag_.reset();
  title_press_.reset();
  if (is_title) choose_at(event.pos());
  return true;
}

void TimelineView::select(std::optional<SlicePlace> place) {
  if (place == selected_) return;
  mark(place);
  if (const std::uint32_t round_index = selected_round(); round_index != no_index)
    state_.put_cursor_on_round(round_index);
  if (!selected_) return;
  const TimeRange time = time_of(*state_.timeline(), *selected_);
  if (time.end_ns < state_.range().start_ns || time.start_ns >= state_.range().end_ns) state_.move_to(time);
}

bool TimelineView::is_shown(TimeRange time) const {
  const TimeRange shown = state_.range();
  return (time.start_ns >= shown.start_ns && time.start_ns < shown.end_ns) ||
         (time.start_ns < shown.start_ns && time.end_ns >= shown.end_ns);
}

void TimelineView::mark(std::optional<SlicePlace> place) {
  selected_ = place;
  launch_ = selected_ ? call_of(*state_.recording(), *state_.timeline(), *selected_) : std::nullopt;
  if (selected_ && !launch_) launch_ = launch_of(*state_.timeline(), *selected_);
  update_description();
  viewport()->update();
  emit slice_selected();
}

std::uint32_t TimelineView::selected_round() const {
  return selected_ ? state_.timeline()->lanes[selected_->lane].slices[selected_->slice].round_index
                   : no_index;
}

void TimelineView::scroll_to_row(const LaneRow& row) {
  if (row.is_pinned) return;
  // The axis and the pinned rows cover rows that scroll below them.
  const int highest = row.top - rows_.pinned_height();
  const int lowest = row.top + row.height + axis_height - viewport()->height();
  verticalScrollBar()->setValue(std::clamp(verticalScrollBar()->value(), std::min(lowest, highest), highest));
}

void TimelineView::reveal_lane(std::size_t lane) {
  const auto group = rows_.group_of(lane);
  if (!group) return;
  const ShownGroup& of = rows_.groups()[*group];
  rows_.set_hidden(of, false);
  const auto while_collapsed = collapsed_lanes(*state_.timeline(), of);
  if (std::find(while_collapsed.begin(), while_collapsed.end(), lane) == while_collapsed.end())
    rows_.set_collapsed(of, false);
  lay_out();
  for (const LaneRow& row : rows_.rows())
    if (row.kind == LaneRow::RowKind::lane && row.index == lane && row.group == *group) {
      scroll_to_row(row);
      make_current(row);
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
  // A search does not ask for another run, so other views stay with theirs.
  if (const std::uint32_t round_index = selected_round();
      round_index != no_index && state_.recording()->run_of(round_index) == state_.run())
    state_.put_cursor_on_round(round_index);
  const TimeRange time = time_of(*state_.timeline(), *match);
  const TimeRange shown = state_.range();
  const bool is_narrow = axis().x(time.end_ns) - axis().x(time.start_ns) < min_match_pixels;
  if (is_narrow || time.start_ns < shown.start_ns || time.end_ns > shown.end_ns) {
    const std::int64_t half = is_narrow ? matches_per_half * time.duration_ns() : shown.duration_ns() / 2;
    state_.set_range({time.start_ns - half, time.start_ns + half});
    state_.end_range_change();
  }
  reveal_lane(match->lane);
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
  const auto mark = marks_.mark_at(axis(), point);
  marks_.choose(mark);
  if (mark) return;
  const LaneRow* row = row_at(point.y());
  if (row != nullptr) make_current(*row);
  if (point.x() < header_width_) {
    if (row != nullptr && row->begins_group)
      collapse(row->group, !rows_.is_collapsed(rows_.groups()[row->group]));
    return;
  }
  select(place_at(point));
  if (!selected_) state_.set_selection(std::nullopt);
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!state_.timeline() || event->pos().x() < header_width_) return;
  if (marks_.mark_at(axis(), event->pos())) return edit_mark();
  select(place_at(event->pos()));
  if (selected_) fit_selection();
}

}  // namespace draftscope::gui
