// SPDX-License-Identifier: GPL-3.0-or-later
// Actions of keys and menus on the timeline's lanes.
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QMenu>
#include <algorithm>

#include "timeline/lane_painter.h"
#include "timeline/time_axis.h"
#include "timeline/timeline_bar.h"
#include "timeline_view.h"

namespace draftscope::gui {

namespace {

constexpr double selection_step = 0.05;

}  // namespace

void TimelineView::collapse(std::size_t group, bool is_collapsed) {
  rows_.set_collapsed(rows_.groups()[group], is_collapsed);
  lay_out();
}

void TimelineView::pin(std::size_t group, bool is_pinned) {
  rows_.set_pinned(rows_.groups()[group], is_pinned);
  lay_out();
}

void TimelineView::hide_group(std::size_t group) {
  rows_.set_hidden(rows_.groups()[group], true);
  lay_out();
}

void TimelineView::show_hidden_groups() {
  rows_.show_hidden();
  lay_out();
}

void TimelineView::set_folding(bool folds) {
  rows_.set_folds(folds);
  lay_out();
}

std::optional<std::size_t> TimelineView::current_row() const {
  if (!current_) return std::nullopt;
  std::optional<std::size_t> of_group;  // First row of the group, if the lane is gone.
  for (std::size_t i = 0; i < rows_.rows().size(); ++i) {
    const LaneRow& row = rows_.rows()[i];
    if (rows_.groups()[row.group].key != current_->group) continue;
    if (row.kind == current_->kind && row.index == current_->index) return i;
    if (!of_group) of_group = i;
  }
  return of_group;
}

void TimelineView::make_current(const LaneRow& row) {
  current_ = RowName{rows_.groups()[row.group].key, row.kind, row.index};
  update_description();
  viewport()->update();
}

void TimelineView::step_row(int by) {
  const auto count = static_cast<int>(rows_.rows().size());
  if (count == 0) return;
  const auto at = current_row();
  const int next = at ? std::clamp(static_cast<int>(*at) + by, 0, count - 1) : by > 0 ? 0 : count - 1;
  const LaneRow row = rows_.rows()[static_cast<std::size_t>(next)];
  make_current(row);
  scroll_to_row(row);
}

void TimelineView::step_slice(int by) {
  if (!current_row() && !rows_.rows().empty()) make_current(rows_.rows().front());
  const auto at = current_row();
  if (!at || rows_.rows()[*at].kind != LaneRow::RowKind::lane) return;
  const LaneRow row = rows_.rows()[*at];
  const LaneSlices& slices = state_.timeline()->lanes[row.index].slices;
  auto next = static_cast<std::ptrdiff_t>(slices.size());
  if (selected_ && selected_->lane == row.index) {
    next = static_cast<std::ptrdiff_t>(selected_->slice) + by;
  } else {
    const TimeRange shown = state_.range();
    const std::int64_t middle = shown.start_ns + shown.duration_ns() / 2;
    next = static_cast<std::ptrdiff_t>(slices.first_ending_after(middle));
  }
  const auto count = static_cast<std::ptrdiff_t>(slices.size());
  if (next < 0 || next >= count) return;
  const SlicePlace place{row.index, static_cast<std::size_t>(next)};
  select(place);
  if (const TimeRange time = time_of(*state_.timeline(), place); !is_shown(time)) state_.move_to(time);
}

void TimelineView::stretch_selection(double share) {
  const TimeRange shown = state_.range();
  const auto by = static_cast<std::int64_t>(share * static_cast<double>(shown.duration_ns()));
  TimeRange range{shown.start_ns + shown.duration_ns() / 2, shown.start_ns + shown.duration_ns() / 2};
  if (state_.selection())
    range = *state_.selection();
  else if (selected_)
    range = time_of(*state_.timeline(), *selected_);
  state_.set_selection(TimeRange{range.start_ns, std::max(range.start_ns, range.end_ns + by)});
}

bool TimelineView::press_lane_key(const QKeyEvent& event) {
  const bool is_control = event.modifiers().testFlag(Qt::ControlModifier);
  const bool is_alt = event.modifiers().testFlag(Qt::AltModifier);
  const bool is_shift = event.modifiers().testFlag(Qt::ShiftModifier);
  switch (event.key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
      if (!is_control) return false;
      step_row(event.key() == Qt::Key_Up ? -1 : 1);
      return true;
    case Qt::Key_Left:
    case Qt::Key_Right:
      if (is_alt)
        step_slice(event.key() == Qt::Key_Left ? -1 : 1);
      else if (is_shift && !is_control)
        stretch_selection(event.key() == Qt::Key_Left ? -selection_step : selection_step);
      else
        return false;
      return true;
    case Qt::Key_M:
      if (is_control || is_alt) return false;
      edit_mark();
      return true;
    case Qt::Key_Delete:
      marks_.remove_chosen();
      return true;
    case Qt::Key_Less:
    case Qt::Key_Greater:
      set_header_width(header_width_ + (event.key() == Qt::Key_Less ? -header_step : header_step));
      return true;
    default:
      break;
  }
  const auto at = current_row();
  if (is_control || is_alt) return false;
  if (event.key() == Qt::Key_H && is_shift) {
    show_hidden_groups();
    return true;
  }
  if (!at) return false;
  const std::size_t group = rows_.rows()[*at].group;
  switch (event.key()) {
    case Qt::Key_C:
      collapse(group, !rows_.is_collapsed(rows_.groups()[group]));
      return true;
    case Qt::Key_P:
      pin(group, !rows_.is_pinned(rows_.groups()[group]));
      return true;
    case Qt::Key_H:
      hide_group(group);
      return true;
    default:
      return false;
  }
}

void TimelineView::edit_mark() {
  if (!state_.recording()) return;
  const std::uint32_t round_index = state_.cursor().round_index;
  TimeRange time = state_.selection().value_or(TimeRange{state_.range().start_ns, state_.range().start_ns});
  if (!state_.selection()) {
    if (selected_)
      time.start_ns = time_of(*state_.timeline(), *selected_).start_ns;
    else if (round_index != no_index && state_.recording()->has_rows())
      time.start_ns = state_.recording()->round(round_index).start_ns;
    time.end_ns = time.start_ns;
  }
  marks_.edit(*this, time);
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (!state_.recording()) return;
  if (!press_lane_key(*event)) switch (event->key()) {
      case Qt::Key_F:
        fit_selection();
        break;
      case Qt::Key_Escape:
        mark(std::nullopt);
        marks_.choose(std::nullopt);
        state_.set_selection(std::nullopt);
        break;
      default:
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
  event->accept();
}

void TimelineView::focusInEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusInEvent(event);
  viewport()->update();
}

void TimelineView::focusOutEvent(QFocusEvent* event) {
  QAbstractScrollArea::focusOutEvent(event);
  viewport()->update();
}

void TimelineView::add_group_actions(QMenu& menu, std::size_t group) {
  const ShownGroup& of = rows_.groups()[group];
  const bool is_collapsed = rows_.is_collapsed(of);
  const bool is_pinned = rows_.is_pinned(of);
  if (rows_.is_collapsible(of))
    menu.addAction(is_collapsed ? tr("&Expand\tC") : tr("&Collapse\tC"), this,
                   [this, group, is_collapsed] { collapse(group, !is_collapsed); });
  menu.addAction(is_pinned ? tr("Un&pin\tP") : tr("&Pin on top\tP"), this,
                 [this, group, is_pinned] { pin(group, !is_pinned); });
  menu.addAction(tr("&Hide\tH"), this, [this, group] { hide_group(group); });
}

void TimelineView::fill_lanes_menu() {
  QMenu& menu = bar_->lanes_menu();
  menu.clear();
  const auto collapse_all = [this](bool is_collapsed) {
    for (const ShownGroup& group : rows_.groups()) rows_.set_collapsed(group, is_collapsed);
    lay_out();
  };
  menu.addAction(tr("&Collapse all"), this, [collapse_all] { collapse_all(true); });
  menu.addAction(tr("&Expand all"), this, [collapse_all] { collapse_all(false); });
  QAction* fold = menu.addAction(tr("&Fold empty lanes away"), this, &TimelineView::set_folding);
  fold->setCheckable(true);
  fold->setChecked(rows_.folds());
  menu.addSeparator();
  menu.addAction(tr("&Wider names\t>"), this, [this] { set_header_width(header_width_ + header_step); });
  menu.addAction(tr("&Narrower names\t<"), this, [this] { set_header_width(header_width_ - header_step); });
  menu.addSeparator();
  for (const ShownGroup& group : rows_.groups()) {
    QString name = QString::fromStdString(group.short_name);
    QAction* show = menu.addAction(name.replace(u'&', QStringLiteral("&&")), this, [this, group](bool is_on) {
      rows_.set_hidden(group, !is_on);
      lay_out();
    });
    show->setCheckable(true);
    show->setChecked(!rows_.is_hidden(group));
  }
  menu.addAction(tr("&Show hidden ones\tShift+H"), this, &TimelineView::show_hidden_groups)
      ->setEnabled(rows_.hidden() > 0);
}

void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  if (!state_.timeline()) return;
  const bool is_key = event->reason() == QContextMenuEvent::Keyboard;
  if (!is_key)
    if (const LaneRow* row = row_at(viewport()->mapFromGlobal(event->globalPos()).y())) make_current(*row);
  const auto at = current_row();
  if (!at) return;
  QMenu menu(this);
  add_group_actions(menu, rows_.rows()[*at].group);
  // Its actions are about groups of this timeline.
  connect(&state_, &ViewState::timeline_changed, &menu, &QMenu::close);
  menu.exec(is_key ? viewport()->mapToGlobal(QPoint(header_width_ / 2, top_of(rows_.rows()[*at])))
                   : event->globalPos());
}

}  // namespace draftscope::gui
