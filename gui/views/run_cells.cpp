// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_cells.h"

#include <draftscope/simulator/analysis/speedup.h>
#include <QAbstractItemView>
#include <QApplication>
#include <QHelpEvent>
#include <QPainter>
#include <QSortFilterProxyModel>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/plot_style.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int speedup_text_width = 62;
constexpr int speedup_width = 160;
constexpr int min_axis_width = 24;
constexpr int phases_width = 140;
constexpr int wall_text_width = 62;
constexpr int cell_margin = 6;

/// Row of the runs' model that a cell of the sorted table shows.
int row_of(const QModelIndex& index) {
  const auto* sorted = qobject_cast<const QSortFilterProxyModel*>(index.model());
  return sorted == nullptr ? index.row() : sorted->mapToSource(index).row();
}

QString name_of(traces::Phase phase) {
  return QString::fromStdString(std::string(traces::phase_name(phase)));
}

std::optional<simulator::Interval> interval_of(const RunsModel& runs, int row, RunSpan span) {
  const simulator::Figures* figures = runs.figures(row);
  if (figures == nullptr || !figures->speedup) return std::nullopt;
  return span == RunSpan::whole ? figures->speedup->interval : figures->speedup->decode_interval;
}

/// Paints the cell's background, selected or not; returns the text colour.
QColor paint_back(QPainter& painter, const QStyleOptionViewItem& option, const QModelIndex& index) {
  QStyleOptionViewItem back = option;
  back.index = index;
  back.text.clear();
  if (index.row() % 2 == 1) back.features |= QStyleOptionViewItem::Alternate;
  const QStyle* style = option.widget == nullptr ? QApplication::style() : option.widget->style();
  style->drawControl(QStyle::CE_ItemViewItem, &back, &painter, option.widget);
  const auto group = option.state.testFlag(QStyle::State_Active) ? QPalette::Active : QPalette::Inactive;
  return option.palette.color(
      group, option.state.testFlag(QStyle::State_Selected) ? QPalette::HighlightedText : QPalette::Text);
}

}  // namespace

std::optional<double> speedup_of(const RunsModel& runs, int row, RunSpan span) {
  const simulator::Figures* figures = runs.figures(row);
  if (figures == nullptr || !figures->speedup || runs.is_baseline(row)) return std::nullopt;
  return span == RunSpan::whole ? std::optional(figures->speedup->value) : figures->speedup->decode_value;
}

SpeedupScale speedup_scale(const RunsModel& runs, RunSpan span) {
  double low = 1.0;
  double high = 1.0;
  for (int row = 0; row < runs.rowCount(); ++row) {
    const std::optional<double> speedup = speedup_of(runs, row, span);
    if (!speedup || !std::isfinite(*speedup)) continue;
    const auto interval = interval_of(runs, row, span);
    low = std::min({low, *speedup, interval ? interval->low : *speedup});
    high = std::max({high, *speedup, interval ? interval->high : *speedup});
  }
  // The margin keeps marks off the edge, and centres the line of a lone vanilla run.
  constexpr double share_of_margin = 0.05;
  constexpr double min_margin = 0.02;
  const double margin = std::max(share_of_margin * (high - low), min_margin);
  return {low - margin, high + margin};
}

QSize SpeedupCell::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  return {speedup_width, QStyledItemDelegate::sizeHint(option, index).height()};
}

void SpeedupCell::paint(QPainter* painter, const QStyleOptionViewItem& option,
                        const QModelIndex& index) const {
  painter->save();
  const QColor ink = paint_back(*painter, option, index);
  const int row = row_of(index);
  const QRect cell = option.rect.adjusted(cell_margin, 0, -cell_margin, 0);
  painter->setPen(ink);
  painter->drawText(QRect(cell.left(), cell.top(), speedup_text_width, cell.height()),
                    Qt::AlignLeft | Qt::AlignVCenter, index.data().toString());
  const QRect axis = cell.adjusted(speedup_text_width + 4, 0, -4, 0);
  // In less room every mark would stand at the line, whatever its speedup.
  if (axis.width() < min_axis_width) return painter->restore();
  const SpeedupScale scale = speedup_scale(runs_, span_);
  const auto x = [&](double speedup) {
    return axis.left() + std::clamp(scale.share(speedup), 0.0, 1.0) * axis.width();
  };
  painter->setRenderHint(QPainter::Antialiasing);
  QColor faint = ink;
  faint.setAlpha(110);
  painter->setPen(QPen(faint, 1, Qt::DashLine));
  painter->drawLine(QPointF(x(1.0), axis.top()), QPointF(x(1.0), axis.bottom() + 1));
  const double middle = axis.top() + axis.height() / 2.0;
  const std::optional<double> speedup = speedup_of(runs_, row, span_);
  constexpr double radius = 4.0;
  constexpr double cap = 4.0;
  const QColor color = option.state.testFlag(QStyle::State_Selected)
                           ? ink
                           : series_color(runs_.color_index(row), is_dark(option.palette));
  painter->setPen(QPen(color, 1.5));
  if (speedup) {
    if (const auto interval = interval_of(runs_, row, span_)) {
      painter->drawLine(QPointF(x(interval->low), middle), QPointF(x(interval->high), middle));
      for (const double end : {interval->low, interval->high})
        painter->drawLine(QPointF(x(end), middle - cap), QPointF(x(end), middle + cap));
    }
    painter->setBrush(color);
    painter->drawEllipse(QPointF(x(*speedup), middle), radius, radius);
  } else if (runs_.is_baseline(row)) {
    painter->setBrush(option.palette.color(QPalette::Base));
    painter->drawEllipse(QPointF(x(1.0), middle), radius, radius);
  }
  painter->restore();
}

bool SpeedupCell::helpEvent(QHelpEvent* event, QAbstractItemView* view,
                            const QStyleOptionViewItem& /*option*/, const QModelIndex& index) {
  if (event->type() != QEvent::ToolTip) return false;
  const int row = row_of(index);
  const std::optional<double> speedup = speedup_of(runs_, row, span_);
  QString words = runs_.is_baseline(row) ? tr("the baseline: 1×")
                                         : tr("no speedup: there is no vanilla run on these prompts");
  if (speedup) {
    words = speedup_text(*speedup);
    if (const auto interval = interval_of(runs_, row, span_))
      words += tr("; 95 % of prompts: %1").arg(range_text(interval->low, interval->high));
    else
      words += tr("; no interval: that takes %1 prompts").arg(simulator::min_prompts_for_interval);
  }
  QToolTip::showText(event->globalPos(), words, view);
  return true;
}

std::int64_t PhasesCell::shown_ns(const simulator::Figures& figures) const {
  std::int64_t ns = figures.throughput.wall_ns;
  if (span_ == RunSpan::decoding)
    ns -= figures.breakdown.by_phase[static_cast<std::size_t>(traces::Phase::prefill)];
  return std::max<std::int64_t>(ns, 0);
}

QSize PhasesCell::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  return {phases_width + wall_text_width, QStyledItemDelegate::sizeHint(option, index).height()};
}

std::vector<PhasesCell::Part> PhasesCell::parts(int row, const QRect& cell) const {
  std::int64_t longest_ns = 1;
  for (int other = 0; other < runs_.rowCount(); ++other)
    longest_ns = std::max(longest_ns, shown_ns(*runs_.figures(other)));
  const simulator::Figures& figures = *runs_.figures(row);
  const int room = std::max(1, cell.width() - wall_text_width);
  std::int64_t before_ns = 0;
  const auto x = [&](std::int64_t ns) {
    return cell.left() + static_cast<int>(static_cast<double>(ns) / static_cast<double>(longest_ns) * room);
  };
  std::vector<Part> list;
  for (int i = 0; i < traces::phase_count; ++i) {
    const auto phase = static_cast<traces::Phase>(i);
    const std::int64_t ns = figures.breakdown.by_phase[static_cast<std::size_t>(i)];
    if (ns <= 0 || (span_ == RunSpan::decoding && phase == traces::Phase::prefill)) continue;
    const int left = x(before_ns);
    list.push_back(
        {QRect(left, cell.top() + 4, std::max(1, x(before_ns + ns) - left), cell.height() - 8), phase, ns});
    before_ns += ns;
  }
  return list;
}

void PhasesCell::paint(QPainter* painter, const QStyleOptionViewItem& option,
                       const QModelIndex& index) const {
  painter->save();
  const QColor ink = paint_back(*painter, option, index);
  const int row = row_of(index);
  const QRect cell = option.rect.adjusted(cell_margin, 0, -2, 0);
  const std::vector<Part> shown = parts(row, cell);
  for (const Part& part : shown)
    painter->fillRect(part.box, phase_color(part.phase, is_dark(option.palette)));
  painter->setPen(ink);
  const int right = shown.empty() ? cell.left() : shown.back().box.right() + 4;
  painter->drawText(QRect(right, cell.top(), wall_text_width, cell.height()),
                    Qt::AlignLeft | Qt::AlignVCenter,
                    shown.empty() ? tr("–") : duration_text(shown_ns(*runs_.figures(row))));
  painter->restore();
}

bool PhasesCell::helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                           const QModelIndex& index) {
  if (event->type() != QEvent::ToolTip) return false;
  const int row = row_of(index);
  const auto wall = static_cast<double>(std::max<std::int64_t>(shown_ns(*runs_.figures(row)), 1));
  QString words = phase_shares_text(*runs_.figures(row));
  for (const Part& part : parts(row, option.rect.adjusted(cell_margin, 0, -2, 0)))
    if (part.box.contains(event->pos()))
      words = tr("%1: %2, %3 of the time shown")
                  .arg(name_of(part.phase), duration_text(part.ns),
                       percent_text(static_cast<double>(part.ns) / wall));
  QToolTip::showText(event->globalPos(), words, view);
  return true;
}

}  // namespace draftscope::gui
