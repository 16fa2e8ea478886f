// SPDX-License-Identifier: GPL-3.0-or-later
#include "breakdown_view.h"

#include <QPainter>
#include <numeric>

#include "views/theme.h"
#include "views/time_text.h"

namespace draftscope::gui {

namespace {

QString part_words(std::size_t part) {
  return part == round_parts
             ? BreakdownView::tr("round")
             : QString::fromStdString(std::string(round_part_name(static_cast<RoundPart>(part))));
}

}  // namespace

BreakdownView::BreakdownView(ViewState& state, QWidget* parent) : RoundsPlot(state, parent) {
  setAccessibleName(tr("Breakdown of the rounds' time"));
}

void BreakdownView::read_run() {
  times_ = state().run_rounds() == nullptr ? RoundTimes() : RoundTimes(*state().recording(), state().run());
  first_ = last_ = 0;
}

void BreakdownView::paint(QPainter& painter, const RoundAxis& axis) {
  const QRect area = plot_area();
  const bool dark = is_dark(palette());
  if (axis.first != first_ || axis.last != last_) {
    first_ = axis.first;
    last_ = axis.last;
    percentiles_ = part_percentiles(times_, first_, last_);
  }
  // Outliers may leave the picture: the scale is for the many.
  const PartPercentiles& whole = percentiles_[round_parts];
  const double top = std::max(
      1.0, std::min(1.15 * static_cast<double>(whole.p99_ns), 1.05 * static_cast<double>(whole.most_ns)));
  const std::int64_t step = tick_step_ns(std::max<std::int64_t>(1, std::llround(top / 5.0)));
  for (std::int64_t tick = 0; static_cast<double>(tick) <= top; tick += step) {
    const int y = area.bottom() - static_cast<int>(static_cast<double>(tick) / top * area.height());
    painter.setPen(grid_color(palette()));
    painter.drawLine(area.left(), y, area.right(), y);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(QRect(0, y - 9, area.left() - 6, 18), Qt::AlignRight | Qt::AlignVCenter,
                     tick_text(tick, step));
  }
  painter.drawText(
      QRect(area.left(), 0, area.width(), area.top()), Qt::AlignLeft | Qt::AlignVCenter,
      axis.rounds_a_pixel() > 1.0
          ? tr("time of a round, mean of the %1 in a column").arg(std::ceil(axis.rounds_a_pixel()))
          : tr("time of a round"));
  painter.save();
  painter.setClipRect(area);
  for (int pixel = area.left(); pixel <= area.right();) {
    const std::size_t first = axis.place(pixel);
    std::size_t last = first + 1;
    int next = pixel + 1;
    if (axis.rounds_a_pixel() < 1.0)
      next = std::max(next, static_cast<int>(std::ceil(axis.x(static_cast<double>(last)))));
    else
      last = std::max(last, std::min(axis.place(pixel + 1.0), axis.last));
    const PartTimes sum = times_.sum(first, last);
    double below = 0.0;
    const int gap = next - pixel > 4 ? 1 : 0;
    for (std::size_t part = 0; part < round_parts; ++part) {
      const double ns = static_cast<double>(sum[part]) / static_cast<double>(last - first);
      if (ns <= 0.0) continue;
      const int y0 = area.bottom() + 1 - static_cast<int>(std::lround(below / top * area.height()));
      const int y1 = area.bottom() + 1 - static_cast<int>(std::lround((below + ns) / top * area.height()));
      painter.fillRect(pixel, y1, next - pixel - gap, y0 - y1,
                       phase_color(phase_of(static_cast<RoundPart>(part)), dark));
      below += ns;
    }
    pixel = next;
  }
  painter.restore();
  paint_percentiles(painter, axis);
}

void BreakdownView::paint_percentiles(QPainter& painter, const RoundAxis& axis) {
  const QRect area = plot_area();
  const bool dark = is_dark(palette());
  const int left = area.right() + 14;
  constexpr int row_height = 22;
  constexpr int name_width = 90;
  constexpr int cell_width = 62;
  int top = area.top();
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(QRect(left, 0, 400, area.top()), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("the %1 rounds shown").arg(axis.count()));
  const QStringList heads{tr("share"), tr("mean"), tr("p50"), tr("p95"), tr("p99")};
  for (int column = 0; column < heads.size(); ++column)
    painter.drawText(QRect(left + name_width + column * cell_width, top, cell_width - 4, row_height),
                     Qt::AlignRight | Qt::AlignVCenter, heads[column]);
  const double whole = percentiles_[round_parts].mean_ns;
  QStringList spoken;
  for (std::size_t part = 0; part <= round_parts; ++part) {
    top += row_height;
    const PartPercentiles& of = percentiles_[part];
    if (part < round_parts)
      painter.fillRect(left, top + 5, 12, 12, phase_color(phase_of(static_cast<RoundPart>(part)), dark));
    painter.drawText(QRect(left + 18, top, name_width - 18, row_height), Qt::AlignLeft | Qt::AlignVCenter,
                     part_words(part));
    const QStringList cells{percent_text(whole > 0.0 ? of.mean_ns / whole : 0.0),
                            duration_text(std::llround(of.mean_ns)), duration_text(of.p50_ns),
                            duration_text(of.p95_ns), duration_text(of.p99_ns)};
    for (int column = 0; column < cells.size(); ++column)
      painter.drawText(QRect(left + name_width + column * cell_width, top, cell_width - 4, row_height),
                       Qt::AlignRight | Qt::AlignVCenter, cells[column]);
    spoken << QStringLiteral("%1 %2").arg(part_words(part), cells.front());
  }
  setAccessibleDescription(spoken.join(u", "));
}

QString BreakdownView::words_at(const RoundAxis& axis, const QPoint& point) const {
  const std::size_t place = axis.place(point.x());
  const PartTimes times = times_.sum(place, place + 1);
  QStringList lines{tr("round %1: %2")
                        .arg(place)
                        .arg(duration_text(std::accumulate(times.begin(), times.end(), std::int64_t{0})))};
  for (std::size_t part = 0; part < round_parts; ++part)
    if (times[part] > 0) lines << QStringLiteral("%1: %2").arg(part_words(part), duration_text(times[part]));
  return lines.join(u'\n');
}

}  // namespace draftscope::gui
