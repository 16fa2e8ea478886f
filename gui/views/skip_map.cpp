// SPDX-License-Identifier: GPL-3.0-or-later
#include "skip_map.h"

#include <QPainter>

#include "views/theme.h"
#include "views/time_text.h"

namespace draftscope::gui {

namespace {

QColor mixed(const QColor& from, const QColor& to, double share) {
  const auto mix = [&](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * share)); };
  return {mix(from.red(), to.red()), mix(from.green(), to.green()), mix(from.blue(), to.blue())};
}

/// Of a sublayer that runs: attention and MLP apart.
QColor run_color(bool is_mlp, bool dark) {
  return phase_color(is_mlp ? traces::Phase::draft : traces::Phase::verify, dark);
}

}  // namespace

SkipMap::SkipMap(ViewState& state, QWidget* parent) : RoundsPlot(state, parent) {
  setAccessibleName(tr("Skip map: rounds by sublayers"));
}

void SkipMap::read_run() {
  skips_ = state().run_rounds() == nullptr ? SkipPyramid() : SkipPyramid(*state().recording(), state().run());
  SkipSummary all;
  skips_.summarise(0, skips_.rounds(), all);
  double skipped = 0.0;
  for (const std::uint32_t count : all.skipped) skipped += count;
  const double cells =
      static_cast<double>(all.drafting) * static_cast<double>(std::max<std::size_t>(skips_.sublayers(), 1));
  setAccessibleDescription(tr("%1 of %2 rounds draft; they skip %3 of their sublayers")
                               .arg(all.drafting)
                               .arg(all.rounds)
                               .arg(percent_text(cells > 0.0 ? skipped / cells : 0.0)));
}

int SkipMap::row_top(std::size_t sublayer) const {
  // Layer 0 is at the bottom: text flows upwards through the model.
  const QRect area = plot_area();
  const std::size_t row = skips_.sublayers() - sublayer;
  return area.top() + static_cast<int>(static_cast<double>((row - 1)) * area.height() /
                                       static_cast<double>(skips_.sublayers()));
}

void SkipMap::paint(QPainter& painter, const RoundAxis& axis) {
  painter.setPen(palette().color(QPalette::WindowText));
  if (skips_.sublayers() == 0) {
    painter.drawText(rect(), Qt::AlignCenter, tr("no round of this run drafted with layers of the model"));
    return;
  }
  const bool dark = is_dark(palette());
  int x = plot_area().left();
  for (const auto& [words, color] : {std::pair(tr("attention runs"), run_color(false, dark)),
                                     std::pair(tr("MLP runs"), run_color(true, dark)),
                                     std::pair(tr("skipped"), palette().color(QPalette::AlternateBase))}) {
    painter.fillRect(x, 7, 12, 12, color);
    painter.drawRect(x, 7, 12, 12);
    painter.drawText(x + 18, 18, words);
    x += 40 + painter.fontMetrics().horizontalAdvance(words);
  }
  painter.setPen(QPen(cursor_color(dark), 2));
  painter.drawLine(x, 13, x + 14, 13);
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(x + 20, 18, tr("exit layer"));
  paint_cells(painter, axis);
  paint_layer_ticks(painter);
  paint_shares(painter, axis);
}

void SkipMap::paint_cells(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = plot_area();
  const bool dark = is_dark(palette());
  const QColor skipped_color = palette().color(QPalette::AlternateBase);
  const QColor no_draft = palette().color(QPalette::Base);
  const std::size_t sublayers = skips_.sublayers();
  SkipSummary sum;
  double exit_y = -1.0;
  const double rounds_a_pixel = axis.rounds_a_pixel();
  // Whole blocks where many rounds share a column: the ends of columns move by less than half of one.
  const std::size_t grain = rounds_a_pixel >= 2.0 * SkipPyramid::block ? SkipPyramid::block : 1;
  const auto edge = [&](int pixel) {
    const double place = static_cast<double>(axis.first) + (pixel - area.left()) * rounds_a_pixel;
    return std::clamp(static_cast<std::size_t>(place) / grain * grain, axis.first / grain * grain, axis.last);
  };
  for (int pixel = area.left(); pixel <= area.right();) {
    std::size_t first = edge(pixel);
    int next = pixel + 1;
    std::size_t last = std::max(edge(next), first + 1);
    if (rounds_a_pixel < 1.0) {
      first = axis.place(pixel);
      last = first + 1;
      next = std::max(pixel + 1, static_cast<int>(std::ceil(axis.x(static_cast<double>(last)))));
    }
    skips_.summarise(first, last, sum);
    const int width = std::min(next, area.right() + 1) - pixel;
    const int gap = width > 4 ? 1 : 0;
    for (std::size_t sublayer = 0; sublayer < sublayers; ++sublayer) {
      const int top = row_top(sublayer);
      const int height = (sublayer == 0 ? area.bottom() + 1 : row_top(sublayer - 1)) - top;
      const double skipped =
          sum.drafting == 0 ? 1.0
                            : static_cast<double>(sum.skipped[sublayer]) / static_cast<double>(sum.drafting);
      QColor color = mixed(run_color(sublayer % 2 == 1, dark), skipped_color, skipped);
      if (sum.drafting == 0) color = no_draft;
      const QRect cell(pixel, top, width - gap, height - (height > 5 ? 1 : 0));
      painter.fillRect(cell, color);
      if (skipped == 1.0 && sum.drafting > 0 && cell.width() >= 6 && cell.height() >= 6)
        painter.fillRect(cell, QBrush(grid_color(palette()), Qt::BDiagPattern));
    }
    if (sum.drafting > 0) {
      const double exit = sum.exit_sum / static_cast<double>(sum.drafting);
      const double y = area.bottom() + 1 - exit * 2.0 * area.height() / static_cast<double>(sublayers);
      painter.setPen(QPen(cursor_color(dark), 2));
      if (exit_y >= 0.0 && std::abs(exit_y - y) > 0.5)
        painter.drawLine(QPointF(pixel, exit_y), QPointF(pixel, y));
      painter.drawLine(QPointF(pixel, y), QPointF(next, y));
      exit_y = y;
    }
    if (last - first == 1 && skips_.is_change(first)) {
      painter.setPen(palette().color(QPalette::WindowText));
      painter.drawLine(pixel, area.top() - 5, pixel, area.top() - 2);
    }
    pixel = next;
  }
}

void SkipMap::paint_layer_ticks(QPainter& painter) const {
  const QRect area = plot_area();
  const std::size_t layers = skips_.sublayers() / 2;
  const double layer_height =
      static_cast<double>(area.height()) / static_cast<double>(std::max<std::size_t>(layers, 1));
  const auto step = static_cast<std::size_t>(
      tick_step_ns(std::max<std::int64_t>(1, std::llround(std::ceil(16.0 / layer_height)))));
  painter.setPen(palette().color(QPalette::WindowText));
  for (std::size_t layer = 0; layer < layers; layer += step) {
    const double y = area.bottom() + 1 - (static_cast<double>(layer) + 0.5) * layer_height;
    painter.drawText(QRectF(0, y - 9, area.left() - 6, 18), Qt::AlignRight | Qt::AlignVCenter,
                     tr("layer %1").arg(layer));
  }
}

void SkipMap::paint_shares(QPainter& painter, const RoundAxis& axis) const {
  SkipSummary sum;
  skips_.summarise(axis.first, axis.last, sum);
  const QRect area = plot_area();
  const int left = area.right() + 10;
  const int width = rect().right() - left - 42;
  const bool dark = is_dark(palette());
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(QRect(left, 0, width + 40, area.top()), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("share skipped"));
  for (std::size_t sublayer = 0; sublayer < skips_.sublayers(); ++sublayer) {
    const double share = sum.drafting == 0
                             ? 0.0
                             : static_cast<double>(sum.skipped[sublayer]) / static_cast<double>(sum.drafting);
    const int top = row_top(sublayer);
    const int height = (sublayer == 0 ? area.bottom() + 1 : row_top(sublayer - 1)) - top;
    painter.fillRect(left, top, std::max(1, static_cast<int>(share * width)), height - (height > 4 ? 1 : 0),
                     run_color(sublayer % 2 == 1, dark));
  }
}

QString SkipMap::words_at(const RoundAxis& axis, const QPoint& point) const {
  if (skips_.sublayers() == 0) return {};
  const QRect area = plot_area();
  const auto layer = static_cast<std::size_t>(static_cast<double>(area.bottom() - point.y()) / area.height() *
                                              static_cast<double>(skips_.sublayers()) / 2.0);
  const std::size_t place = axis.place(point.x());
  const std::size_t last = std::max(place + 1, axis.place(point.x() + 1.0));
  SkipSummary sum;
  skips_.summarise(place, last, sum);
  if (2 * layer + 1 >= skips_.sublayers()) return {};
  if (sum.drafting == 0) return tr("round %1 drafted with no layer of the model").arg(place);
  const auto state_words = [&](std::size_t sublayer) {
    if (sum.drafting == 1) return sum.skipped[sublayer] == 1 ? tr("skipped") : tr("run");
    return tr("skipped in %1")
        .arg(percent_text(static_cast<double>(sum.skipped[sublayer]) / static_cast<double>(sum.drafting)));
  };
  return tr("round %1%2, layer %3\nattention %4, MLP %5")
      .arg(place)
      .arg(last - place > 1 ? tr(" and %1 more").arg(last - place - 1) : QString())
      .arg(layer)
      .arg(state_words(2 * layer), state_words(2 * layer + 1));
}

}  // namespace draftscope::gui
