// SPDX-License-Identifier: GPL-3.0-or-later
#include "confidence_view.h"

#include <QImage>
#include <QPainter>
#include <QPainterPath>
#include <array>

#include "views/theme.h"
#include "views/time_text.h"

namespace draftscope::gui {

namespace {

constexpr std::size_t most_marks = 5000;
constexpr int panel_gap = 16;

QColor accepted_color(bool dark) {
  return phase_color(traces::Phase::accept, dark);
}

void paint_mark(QPainter& painter, DraftFate fate, const QPointF& at, double radius, bool dark) {
  switch (fate) {
    case DraftFate::accepted:
      painter.setPen(Qt::NoPen);
      painter.setBrush(accepted_color(dark));
      painter.drawEllipse(at, radius, radius);
      break;
    case DraftFate::rejected:
      painter.setPen(QPen(rejected_color(dark), 1.6));
      painter.drawLine(at + QPointF(-radius, -radius), at + QPointF(radius, radius));
      painter.drawLine(at + QPointF(-radius, radius), at + QPointF(radius, -radius));
      break;
    case DraftFate::untested:
      painter.setPen(QPen(rejected_color(dark), 1));
      painter.setBrush(Qt::NoBrush);
      painter.drawEllipse(at, radius, radius);
      break;
  }
}

/// Horizontal lines at 0, 0.25, … with their values at the left.
void paint_share_axis(QPainter& painter, const QRect& area, const QPalette& palette, const QString& name) {
  for (int quarter = 0; quarter <= 4; ++quarter) {
    const int y = area.bottom() - quarter * (area.height() - 1) / 4;
    painter.setPen(grid_color(palette));
    painter.drawLine(area.left(), y, area.right(), y);
    if (area.height() < 90 && quarter % 2 == 1) continue;
    painter.setPen(palette.color(QPalette::WindowText));
    painter.drawText(QRect(area.left() - 60, y - 9, 54, 18), Qt::AlignRight | Qt::AlignVCenter,
                     QString::number(quarter * 0.25, 'g', 2));
  }
  painter.save();
  painter.translate(12, area.center().y());
  painter.rotate(-90);
  painter.drawText(QRect(-120, -10, 240, 20), Qt::AlignCenter, name);
  painter.restore();
}

}  // namespace

ConfidenceView::ConfidenceView(ViewState& state, QWidget* parent) : RoundsPlot(state, parent) {
  setAccessibleName(tr("Confidence of drafted tokens, and thresholds"));
}

void ConfidenceView::read_run() {
  drafts_ = state().run_rounds() == nullptr ? DraftConfidences{}
                                            : draft_confidences(*state().recording(), state().run());
  if (drafts_.first.empty()) return;
  setAccessibleDescription(tr("%1 drafted tokens, of which %2 were accepted")
                               .arg(drafts_.confidence.size())
                               .arg(percent_text(drafts_.acceptance_rate(0, drafts_.rounds()))));
}

QRect ConfidenceView::confidence_area() const {
  const QRect area = plot_area();
  return area.adjusted(0, 0, 0, -area.height() / 3 - panel_gap / 2);
}

QRect ConfidenceView::trend_area() const {
  const QRect area = plot_area();
  return area.adjusted(0, area.height() - area.height() / 3 + panel_gap / 2, 0, 0);
}

double ConfidenceView::x_of_token(const RoundAxis& axis, std::size_t place, std::size_t token) const {
  const std::uint32_t count = drafts_.first[place + 1] - drafts_.first[place];
  const double within =
      (static_cast<double>(token - drafts_.first[place]) + 0.5) / std::max<std::uint32_t>(count, 1);
  return axis.x(static_cast<double>(place) + within);
}

void ConfidenceView::paint(QPainter& painter, const RoundAxis& axis) {
  painter.setPen(palette().color(QPalette::WindowText));
  if (drafts_.confidence.empty()) {
    painter.drawText(rect(), Qt::AlignCenter, tr("this run drafted no token"));
    return;
  }
  paint_legend(painter);
  paint_share_axis(painter, confidence_area(), palette(), tr("confidence"));
  if (drafts_.first[axis.last] - drafts_.first[axis.first] <= most_marks)
    paint_marks(painter, axis);
  else
    paint_density(painter, axis);
  paint_threshold(painter, axis);
  paint_trends(painter, axis);
  paint_calibration(painter, axis);
}

void ConfidenceView::paint_legend(QPainter& painter) const {
  const bool dark = is_dark(palette());
  int x = plot_area().left() + 6;
  painter.setRenderHint(QPainter::Antialiasing);
  for (const auto& [fate, words] :
       {std::pair(DraftFate::accepted, tr("accepted")), std::pair(DraftFate::rejected, tr("rejected")),
        std::pair(DraftFate::untested, tr("not tested"))}) {
    paint_mark(painter, fate, QPointF(x, 13), 4, dark);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(x + 10, 18, words);
    x += 34 + painter.fontMetrics().horizontalAdvance(words);
  }
  if (drafts_.has_threshold) {
    painter.setPen(QPen(cursor_color(dark), 2, Qt::DashLine));
    painter.drawLine(x, 13, x + 18, 13);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(x + 24, 18, tr("draft-exit threshold"));
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void ConfidenceView::paint_marks(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = confidence_area();
  const bool dark = is_dark(palette());
  const double tokens = drafts_.first[axis.last] - drafts_.first[axis.first];
  const double radius = std::clamp(area.width() / std::max(tokens, 1.0) * 0.4, 2.0, 5.0);
  painter.setRenderHint(QPainter::Antialiasing);
  for (std::size_t place = axis.first; place < axis.last; ++place)
    for (std::size_t token = drafts_.first[place]; token < drafts_.first[place + 1]; ++token) {
      const double confidence = drafts_.confidence[token];
      if (std::isnan(confidence)) continue;
      paint_mark(painter, drafts_.fate[token],
                 {x_of_token(axis, place, token), area.bottom() - confidence * (area.height() - 1)}, radius,
                 dark);
    }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void ConfidenceView::paint_density(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = confidence_area();
  const bool dark = is_dark(palette());
  const auto width = static_cast<std::size_t>(area.width());
  const auto height = static_cast<std::size_t>(area.height());
  struct Cell {
    std::uint32_t all = 0;
    std::uint32_t accepted = 0;
  };
  std::vector<Cell> cells(width * height);
  std::uint32_t most = 1;
  const double scale = static_cast<double>(width) / static_cast<double>(axis.count());
  for (std::size_t place = axis.first; place < axis.last; ++place) {
    const auto column =
        std::min(width - 1, static_cast<std::size_t>(static_cast<double>(place - axis.first) * scale));
    for (std::size_t token = drafts_.first[place]; token < drafts_.first[place + 1]; ++token) {
      const float confidence = drafts_.confidence[token];
      if (std::isnan(confidence)) continue;
      const auto row = static_cast<std::size_t>((1.0F - std::clamp(confidence, 0.0F, 1.0F)) *
                                                static_cast<float>(height - 1));
      Cell& cell = cells[row * width + column];
      ++cell.all;
      cell.accepted += drafts_.fate[token] == DraftFate::accepted ? 1 : 0;
      most = std::max(most, cell.all);
    }
  }
  QImage image(area.size(), QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  const QColor yes = accepted_color(dark);
  const QColor no = rejected_color(dark);
  const double strongest = std::log1p(most);
  for (std::size_t row = 0; row < height; ++row) {
    auto* line = reinterpret_cast<QRgb*>(image.scanLine(static_cast<int>(row)));
    for (std::size_t column = 0; column < width; ++column) {
      const Cell& cell = cells[row * width + column];
      if (cell.all == 0) continue;
      const double share = static_cast<double>(cell.accepted) / cell.all;
      const double alpha = 0.25 + 0.75 * std::log1p(cell.all) / strongest;
      const auto mix = [&](int a, int b) { return static_cast<int>((a + (b - a) * share) * alpha); };
      line[column] = qRgba(mix(no.red(), yes.red()), mix(no.green(), yes.green()), mix(no.blue(), yes.blue()),
                           static_cast<int>(255 * alpha));
    }
  }
  painter.drawImage(area.topLeft(), image);
}

void ConfidenceView::paint_threshold(QPainter& painter, const RoundAxis& axis) const {
  if (!drafts_.has_threshold) return;
  const QRect area = confidence_area();
  QPainterPath path;
  bool is_open = false;
  const std::size_t step = std::max<std::size_t>(1, static_cast<std::size_t>(axis.rounds_a_pixel()));
  for (std::size_t place = axis.first; place < axis.last; place += step) {
    const double threshold = drafts_.threshold[place];
    if (threshold < 0.0 || std::isnan(threshold)) {
      is_open = false;
      continue;
    }
    const double y = area.bottom() - std::min(threshold, 1.0) * (area.height() - 1);
    const double x = axis.x(static_cast<double>(place));
    is_open ? path.lineTo(x, y) : path.moveTo(x, y);
    path.lineTo(axis.x(static_cast<double>(std::min(place + step, axis.last))), y);
    is_open = true;
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(cursor_color(is_dark(palette())), 2, Qt::DashLine));
  painter.drawPath(path);
}

void ConfidenceView::paint_trends(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = trend_area();
  const bool dark = is_dark(palette());
  paint_share_axis(painter, area, palette(), tr("α"));
  // α over a window of the rounds around, so that a line shows a trend: at least 20 rounds, or a column's.
  const auto window = std::max<std::size_t>(20, static_cast<std::size_t>(axis.rounds_a_pixel()));
  QPainterPath rate;
  QPainterPath exit;
  bool rate_is_open = false;
  bool exit_is_open = false;
  for (int pixel = area.left(); pixel <= area.right(); ++pixel) {
    const std::size_t place = axis.place(pixel);
    const std::size_t begin = place > window / 2 ? place - window / 2 : 0;
    const double value = drafts_.acceptance_rate(begin, std::min(drafts_.rounds(), begin + window));
    if (!std::isnan(value)) {
      const QPointF at(pixel, area.bottom() - value * (area.height() - 1));
      rate_is_open ? rate.lineTo(at) : rate.moveTo(at);
      rate_is_open = true;
    }
    if (drafts_.deepest_exit > 0 && drafts_.exit_layer[place] > 0) {
      const double share = static_cast<double>(drafts_.exit_layer[place]) / drafts_.deepest_exit;
      const QPointF at(pixel, area.bottom() - share * (area.height() - 1));
      exit_is_open ? exit.lineTo(at) : exit.moveTo(at);
      exit_is_open = true;
    }
  }
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(phase_color(traces::Phase::verify, dark), 1, Qt::DotLine));
  painter.drawPath(exit);
  painter.setPen(QPen(accepted_color(dark), 2));
  painter.drawPath(rate);
  const int left = area.right() + 10;
  painter.drawLine(left, area.top() + 8, left + 18, area.top() + 8);
  painter.setPen(QPen(phase_color(traces::Phase::verify, dark), 1, Qt::DotLine));
  painter.drawLine(left, area.top() + 28, left + 18, area.top() + 28);
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(left + 24, area.top() + 13, tr("α of %1 rounds").arg(window));
  if (drafts_.deepest_exit > 0)
    painter.drawText(left + 24, area.top() + 33, tr("exit (top: %1)").arg(drafts_.deepest_exit));
}

void ConfidenceView::paint_calibration(QPainter& painter, const RoundAxis& axis) const {
  const QRect whole = confidence_area();
  const int side = std::min(rect().right() - whole.right() - 34, whole.height() - 40);
  if (side < 40) return;
  const QRect box(whole.right() + 28, whole.top() + 20, side, side);
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(QRect(box.left() - 20, whole.top() - 4, side + 26, 20), Qt::AlignLeft | Qt::AlignVCenter,
                   tr("calibration"));
  painter.drawRect(box);
  painter.setPen(grid_color(palette()));
  painter.drawLine(box.bottomLeft(), box.topRight());
  const std::vector<CalibrationBin> bins = calibration(drafts_, axis.first, axis.last);
  std::int64_t most = 1;
  for (const CalibrationBin& bin : bins) most = std::max(most, bin.tested);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(accepted_color(is_dark(palette())));
  for (const CalibrationBin& bin : bins) {
    const double share = static_cast<double>(bin.accepted) / static_cast<double>(bin.tested);
    const double radius = 2.0 + 4.0 * std::sqrt(static_cast<double>(bin.tested) / static_cast<double>(most));
    painter.drawEllipse(
        QPointF(box.left() + bin.mean_confidence * box.width(), box.bottom() - share * box.height()), radius,
        radius);
  }
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(QRect(box.left() - 16, box.bottom() + 2, side + 30, 18), Qt::AlignHCenter | Qt::AlignTop,
                   tr("confidence"));
  painter.save();
  painter.translate(box.left() - 9, box.center().y());
  painter.rotate(-90);
  painter.drawText(QRect(-60, -9, 120, 18), Qt::AlignCenter, tr("accepted"));
  painter.restore();
}

QString ConfidenceView::words_at(const RoundAxis& axis, const QPoint& point) const {
  if (drafts_.confidence.empty()) return {};
  const std::size_t place = axis.place(point.x());
  const std::uint32_t round = state().run_rounds()->rounds[place];
  QStringList lines{
      tr("round %1: α so far %2").arg(place).arg(percent_text(drafts_.acceptance_rate(0, place + 1)))};
  if (drafts_.threshold[place] >= 0.0F)
    lines << tr("threshold %1").arg(number_text(drafts_.threshold[place]));
  constexpr std::size_t most_lines = 16;
  for (const traces::DraftToken& token : state().recording()->draft_tokens(round)) {
    if (lines.size() > static_cast<qsizetype>(most_lines)) break;
    lines << tr("%1  %2  %3")
                 .arg(token.accepted ? QStringLiteral("●")
                      : token.tested ? QStringLiteral("✕")
                                     : QStringLiteral("○"),
                      visible_text(state().recording()->token_text(token.token)),
                      number_text(token.confidence));
  }
  return lines.join(u'\n');
}

}  // namespace draftscope::gui
