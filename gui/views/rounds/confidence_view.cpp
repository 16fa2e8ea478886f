// SPDX-License-Identifier: GPL-3.0-or-later
#include "confidence_view.h"

#include <QImage>
#include <QPainter>
#include <algorithm>
#include <array>

#include "views/rounds/round_charts.h"
#include "widgets/drawing.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr std::size_t max_marks = 2000;
constexpr int confidence_cell_width = 2;
constexpr int panel_gap = 30;
constexpr int dash = 5;
constexpr int dot = 2;

QColor accepted_color(bool dark) {
  return phase_color(traces::Phase::accept, dark);
}

QColor faded(QColor color, double strength) {
  color.setAlphaF(static_cast<float>(strength));
  return color;
}

QColor exit_color(bool dark) {
  return phase_color(traces::Phase::verify, dark);
}

/// Mixes the colours of fates.
class CellColors {
 public:
  explicit CellColors(bool dark) {
    const std::array<QColor, draft_fates> colors{accepted_color(dark), rejected_color(dark),
                                                 untested_color(dark)};
    for (std::size_t fate = 0; fate < draft_fates; ++fate)
      channels_[fate] = {255.0 * colors[fate].redF(), 255.0 * colors[fate].greenF(),
                         255.0 * colors[fate].blueF()};
  }

  /// Mean colour of draft tokens with such fates, premultiplied by a strength of up to 1.
  [[nodiscard]] QRgb of(const std::array<std::uint32_t, draft_fates>& fates, double strength) const {
    const double scale = strength / (fates[0] + fates[1] + fates[2]);
    const auto mean = [&](std::size_t channel) {
      return static_cast<int>((fates[0] * channels_[0][channel] + fates[1] * channels_[1][channel] +
                               fates[2] * channels_[2][channel]) *
                              scale);
    };
    return qRgba(mean(0), mean(1), mean(2), static_cast<int>(255.0 * strength));
  }

 private:
  std::array<std::array<double, 3>, draft_fates> channels_{};
};

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
      painter.setPen(QPen(untested_color(dark), 1));
      painter.setBrush(Qt::NoBrush);
      painter.drawEllipse(at, radius, radius);
      break;
  }
}

/// Columns in which cells count tokens; wide columns end at block boundaries.
std::vector<RoundColumn> density_columns(const RoundAxis& axis) {
  return round_columns(axis, confidence_cell_width, DraftDensity::block);
}

QString position_text(std::size_t position, const simulator::PositionAcceptance& acceptance) {
  return ConfidenceView::tr("draft position %1: %2 of %3 tested were accepted (%4)")
      .arg(position)
      .arg(acceptance.accepted)
      .arg(acceptance.reached)
      .arg(percent_text(acceptance.of_reached()));
}

/// Paints horizontal lines at 0, 0.25, … with their values at the left.
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
  paint_upwards(painter, QPoint(12, area.center().y()), name);
}

/// Paints the mean of a value in each column, dashed, and a band over its range.
template <typename Y>
void paint_value(QPainter& painter, const std::vector<RoundColumn>& columns, const ValuePyramid& value,
                 const Y& y, int on, int off, const QColor& color) {
  const QColor band = faded(color, 0.28);
  for (const RoundColumn& column : columns) {
    const ValueSummary summary = value.summarise(column.first, column.last);
    if (summary.values == 0) continue;
    const int top = y(summary.max);
    const int bottom = y(summary.min);
    if (bottom > top) painter.fillRect(column.left, top, column.width(), bottom - top + 1, band);
    paint_dashes(painter, column.left, column.right, y(summary.mean()), on, off, color);
  }
}

}  // namespace

ConfidenceView::ConfidenceView(ViewState& state, QWidget* parent) : RoundsPlot(state, parent) {
  setAccessibleName(tr("Confidence of drafted tokens, and thresholds"));
}

BackgroundJob::Job ConfidenceView::reading_job(const RecordingPointer& recording, std::size_t run_index) {
  struct Read {
    DraftConfidences drafts;
    DraftDensity density;
    AcceptanceByPosition positions;
  };
  return read_and_take(
      [recording, run_index](const auto&) {
        Read read{draft_confidences(*recording, run_index), {}, AcceptanceByPosition(*recording, run_index)};
        read.density = DraftDensity(read.drafts);
        return read;
      },
      [this](Read read) {
        drafts_ = std::move(read.drafts);
        density_ = std::move(read.density);
        positions_ = std::move(read.positions);
        describe_run();
      });
}

void ConfidenceView::forget_run() {
  drafts_ = {};
  density_ = {};
  positions_ = {};
}

void ConfidenceView::describe_run() {
  QStringList words{tr("%1 drafted tokens, of which %2 were accepted")
                        .arg(drafts_.confidence.size())
                        .arg(percent_text(drafts_.acceptance_rate(0, drafts_.rounds())))};
  const auto positions = positions_.count(0, drafts_.rounds());
  for (std::size_t k = 0; k < positions.size(); ++k) words << position_text(k, positions[k]);
  setAccessibleDescription(words.join(u"; "));
}

QRect ConfidenceView::confidence_area() const {
  const QRect area = plot_area();
  return area.adjusted(0, 0, 0, -area.height() / 3 - panel_gap / 2);
}

QRect ConfidenceView::trend_area() const {
  const QRect area = plot_area();
  return area.adjusted(0, area.height() - area.height() / 3 + panel_gap / 2, 0, 0);
}

bool ConfidenceView::has_marks(const RoundAxis& axis) const {
  return drafts_.first[axis.last] - drafts_.first[axis.first] <= max_marks;
}

double ConfidenceView::x_of_token(const RoundAxis& axis, std::size_t place, std::size_t token_index) const {
  const std::uint32_t count = drafts_.first[place + 1] - drafts_.first[place];
  const double within =
      (static_cast<double>(token_index - drafts_.first[place]) + 0.5) / std::max<std::uint32_t>(count, 1);
  return axis.x(static_cast<double>(place) + within);
}

void ConfidenceView::paint(QPainter& painter, const RoundAxis& axis) {
  painter.setPen(palette().color(QPalette::WindowText));
  if (drafts_.confidence.empty()) {
    painter.drawText(rect(), Qt::AlignCenter, tr("this run drafted no token"));
    return;
  }
  paint_legend(painter, axis);
  paint_share_axis(painter, confidence_area(), palette(), tr("confidence"));
  if (has_marks(axis))
    paint_marks(painter, axis);
  else
    paint_density(painter, axis);
  paint_threshold(painter, axis);
  paint_trends(painter, axis);
  paint_calibration(painter, axis);
  paint_positions(painter, axis);
}

void ConfidenceView::paint_legend(QPainter& painter, const RoundAxis& axis) const {
  const bool dark = is_dark(palette());
  const QRect area = plot_area();
  LegendRow legend(painter, palette(), QRect(area.left(), 0, area.width(), area.top()));
  const bool is_density = !has_marks(axis);
  for (const auto& [fate, words] :
       {std::pair(DraftFate::accepted, tr("accepted")), std::pair(DraftFate::rejected, tr("rejected")),
        std::pair(DraftFate::untested, tr("not tested"))}) {
    const std::array<std::uint32_t, draft_fates> alone{
        fate == DraftFate::accepted, fate == DraftFate::rejected, fate == DraftFate::untested};
    if (is_density)
      legend.add(QColor::fromRgba(CellColors(dark).of(alone, 1.0)), words);
    else
      legend.add_sign(words, [&, fate = fate](const QRect& sign) {
        painter.setRenderHint(QPainter::Antialiasing);
        paint_mark(painter, fate, QRectF(sign).center(), 4, dark);
      });
  }
  if (drafts_.has_threshold)
    legend.add_sign(tr("draft-exit threshold"), [&](const QRect& sign) {
      paint_dashes(painter, sign.left() - 2, sign.right() + 4, sign.center().y(), dash, 3,
                   cursor_color(dark));
    });
  if (is_density)
    legend.add_sign(tr("stronger: more tokens"), [&](const QRect& sign) {
      for (int i = 0; i < sign.width(); ++i)
        painter.fillRect(sign.left() + i, sign.top(), 1, sign.height(),
                         faded(accepted_color(dark), 0.25 + 0.75 * i / sign.width()));
    });
}

void ConfidenceView::paint_marks(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = confidence_area();
  const bool dark = is_dark(palette());
  const double tokens = drafts_.first[axis.last] - drafts_.first[axis.first];
  const double radius = std::clamp(area.width() / std::max(tokens, 1.0) * 0.4, 2.0, 5.0);
  painter.setRenderHint(QPainter::Antialiasing);
  const MarkPictures marks(painter, draft_fates, radius,
                           [&](QPainter& into, std::size_t fate, const QPointF& at) {
                             paint_mark(into, static_cast<DraftFate>(fate), at, radius, dark);
                           });
  for (std::size_t place = axis.first; place < axis.last; ++place)
    for (std::size_t token = drafts_.first[place]; token < drafts_.first[place + 1]; ++token) {
      const double confidence = drafts_.confidence[token];
      if (std::isnan(confidence)) continue;
      marks.paint(static_cast<std::size_t>(drafts_.fate[token]),
                  {x_of_token(axis, place, token), area.bottom() - confidence * (area.height() - 1)});
    }
  painter.setRenderHint(QPainter::Antialiasing, false);
}

void ConfidenceView::paint_density(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = confidence_area();
  const bool dark = is_dark(palette());
  const std::vector<RoundColumn> columns = density_columns(axis);
  std::vector<DensityCounts> counts;
  counts.reserve(columns.size());
  std::uint32_t most = 1;
  const auto fates_at = [](const DensityCounts& of, std::size_t bin) {
    return std::array{count_of(of, DraftFate::accepted, bin), count_of(of, DraftFate::rejected, bin),
                      count_of(of, DraftFate::untested, bin)};
  };
  for (const RoundColumn& column : columns) {
    counts.push_back(density_.count(drafts_, column.first, column.last));
    for (std::size_t bin = 0; bin < confidence_bins; ++bin) {
      const auto fates = fates_at(counts.back(), bin);
      most = std::max(most, fates[0] + fates[1] + fates[2]);
    }
  }
  // Each image row is a bin, with the most confident on top.
  QImage image(area.width(), static_cast<int>(confidence_bins), QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::transparent);
  const CellColors colors(dark);
  std::array<double, 1024> strengths{};  // Strengths of small counts, which most cells have.
  const auto strength_of = [strongest = std::log1p(most)](std::uint32_t tokens) {
    return 0.25 + 0.75 * std::log1p(tokens) / strongest;
  };
  for (std::uint32_t tokens = 0; tokens < std::min<std::size_t>(strengths.size(), most + 1); ++tokens)
    strengths[tokens] = strength_of(tokens);
  std::array<QRgb*, confidence_bins> lines{};
  for (std::size_t bin = 0; bin < confidence_bins; ++bin)
    lines[bin] =
        reinterpret_cast<QRgb*>(image.scanLine(static_cast<int>(confidence_bins - 1 - bin))) - area.left();
  for (std::size_t i = 0; i < columns.size(); ++i)
    for (std::size_t bin = 0; bin < confidence_bins; ++bin) {
      const auto fates = fates_at(counts[i], bin);
      const std::uint32_t all = fates[0] + fates[1] + fates[2];
      if (all == 0) continue;
      const QRgb color = colors.of(fates, all < strengths.size() ? strengths[all] : strength_of(all));
      std::fill(lines[bin] + columns[i].left, lines[bin] + columns[i].right, color);
    }
  painter.drawImage(area, image);
}

void ConfidenceView::paint_threshold(QPainter& painter, const RoundAxis& axis) const {
  if (!drafts_.has_threshold) return;
  const QRect area = confidence_area();
  const auto y = [&](double threshold) {
    return area.bottom() - static_cast<int>(std::lround(std::min(threshold, 1.0) * (area.height() - 1)));
  };
  paint_value(painter, round_columns(axis), drafts_.threshold, y, dash, 3, cursor_color(is_dark(palette())));
}

void ConfidenceView::paint_trends(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = trend_area();
  const bool dark = is_dark(palette());
  paint_share_axis(painter, area, palette(), tr("α"));
  const auto y = [&](double share) {
    return area.bottom() - static_cast<int>(std::lround(share * (area.height() - 1)));
  };
  const std::vector<RoundColumn> columns = round_columns(axis);
  if (drafts_.deepest_exit > 0)
    paint_value(
        painter, columns, drafts_.exit_layer, [&](double exit) { return y(exit / drafts_.deepest_exit); },
        dot, dot, exit_color(dark));
  // α is taken over a window of the surrounding rounds, so that the line shows a trend: at least 20 rounds,
  // or those of a column.
  const auto window = std::max<std::size_t>(20, static_cast<std::size_t>(axis.rounds_per_pixel()));
  StepLine rate(painter, accepted_color(dark));
  for (const RoundColumn& column : columns) {
    const std::size_t middle = (column.first + column.last) / 2;
    const std::size_t begin = middle > window / 2 ? middle - window / 2 : 0;
    const double value = drafts_.acceptance_rate(begin, std::min(drafts_.rounds(), begin + window));
    std::isnan(value) ? rate.lift() : rate.add(column.left, column.right, y(value));
  }
  paint_trend_legend(painter, window);
}

void ConfidenceView::paint_trend_legend(QPainter& painter, std::size_t window) const {
  const bool dark = is_dark(palette());
  const QRect area = trend_area();
  LegendRow legend(painter, palette(), QRect(area.left(), area.top() - 24, area.width(), 20));
  legend.add_sign(tr("α of %1 rounds").arg(window), [&](const QRect& sign) {
    painter.fillRect(sign.left() - 2, sign.center().y() - 1, sign.width() + 4, 2, accepted_color(dark));
  });
  if (drafts_.deepest_exit > 0)
    legend.add_sign(tr("exit layer (top: %1)").arg(drafts_.deepest_exit), [&](const QRect& sign) {
      paint_dashes(painter, sign.left() - 2, sign.right() + 4, sign.center().y(), dot, dot, exit_color(dark));
    });
}

QRect ConfidenceView::small_plot(int place) const {
  constexpr int beside = 36;
  constexpr int above = 24;
  constexpr int below = 24;
  const QRect area = plot_area();
  const int height = area.height() / 2;
  const int side = std::min(right_margin() - beside - 12, height - above - below);
  if (side < 40) return {};
  return {area.right() + beside, area.top() + place * height + above, side, side};
}

void ConfidenceView::paint_frame(QPainter& painter, const QRect& box, const QString& title,
                                 const QString& x) const {
  painter.setPen(palette().color(QPalette::WindowText));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(box);
  // The words take all the room beside the plot, however small the box is.
  const int left = box.left() - 20;
  const int room = width() - left - 4;
  painter.drawText(QRect(left, box.top() - 22, room, 20), Qt::AlignLeft | Qt::AlignVCenter, title);
  const bool is_wide = painter.fontMetrics().horizontalAdvance(x) > box.width() + 32;
  painter.drawText(QRect(left, box.bottom() + 3, is_wide ? room : box.width() + 32, 18),
                   (is_wide ? Qt::AlignLeft : Qt::AlignHCenter) | Qt::AlignTop, x);
  paint_upwards(painter, QPoint(box.left() - 10, box.center().y()), tr("accepted"));
}

void ConfidenceView::paint_calibration(QPainter& painter, const RoundAxis& axis) const {
  const QRect box = small_plot(0);
  if (box.isEmpty()) return;
  paint_frame(painter, box, tr("calibration"), tr("confidence"));
  painter.setPen(grid_color(palette()));
  painter.drawLine(box.bottomLeft(), box.topRight());
  const std::vector<CalibrationBin> bins = calibration(density_.count(drafts_, axis.first, axis.last));
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
}

void ConfidenceView::paint_positions(QPainter& painter, const RoundAxis& axis) const {
  const QRect box = small_plot(1);
  if (box.isEmpty()) return;
  const std::vector<simulator::PositionAcceptance> positions = positions_.count(axis.first, axis.last);
  paint_frame(painter, box, tr("accepted of those tested"), tr("draft position, from 0"));
  if (positions.empty()) return;
  const double width = static_cast<double>(box.width()) / static_cast<double>(positions.size());
  int widest = 0;
  for (const simulator::PositionAcceptance& position : positions)
    widest = std::max(widest, painter.fontMetrics().horizontalAdvance(QString::number(position.reached)));
  for (std::size_t k = 0; k < positions.size(); ++k) {
    if (positions[k].reached == 0) continue;
    const int left = box.left() + 1 + static_cast<int>(width * static_cast<double>(k));
    const int bar = std::max(1, static_cast<int>(width) - 1);
    const int height = static_cast<int>(positions[k].of_reached() * (box.height() - 1));
    painter.fillRect(left, box.bottom() + 1 - height, bar, height,
                     faded(accepted_color(is_dark(palette())), 0.6));
    painter.setPen(palette().color(QPalette::WindowText));
    // Show the number of tested tokens where it is legible.
    const QString tested = QString::number(positions[k].reached);
    if (bar >= widest + 2)
      painter.drawText(QRect(left, box.top(), bar, box.height()), Qt::AlignCenter, tested);
    else if (bar >= painter.fontMetrics().height())
      paint_upwards(painter, QPoint(left + bar / 2, box.center().y()), tested);
  }
}

QString ConfidenceView::tooltip_beside(const RoundAxis& axis, const QPoint& point) const {
  const QRect box = small_plot(1);
  const auto positions = positions_.count(axis.first, axis.last);
  if (!box.contains(point) || positions.empty()) return {};
  const auto k = static_cast<std::size_t>(point.x() - box.left()) * positions.size() /
                 static_cast<std::size_t>(box.width());
  return position_text(k, positions[k]);
}

Chart ConfidenceView::figure_of(const RoundAxis& axis) const {
  return confidence_chart(drafts_, axis, [this](std::size_t place) { return round_number(place); });
}

QString ConfidenceView::tooltip_at(const RoundAxis& axis, const QPoint& point) const {
  if (drafts_.confidence.empty()) return {};
  return has_marks(axis) ? round_text(axis.place(point.x())) : rounds_text(axis, point);
}

QString ConfidenceView::rounds_text(const RoundAxis& axis, const QPoint& point) const {
  const std::vector<RoundColumn> columns = density_columns(axis);
  const auto column = std::partition_point(columns.begin(), columns.end(), [&](const RoundColumn& candidate) {
    return candidate.right <= point.x();
  });
  if (column == columns.end()) return {};
  QStringList lines{
      column->count() == 1
          ? tr("round %1").arg(round_number(column->first))
          : tr("rounds %1 to %2").arg(round_number(column->first)).arg(round_number(column->last - 1))};
  lines.back() += tr(": α %1").arg(percent_text(drafts_.acceptance_rate(column->first, column->last)));
  if (const ValueSummary threshold = drafts_.threshold.summarise(column->first, column->last);
      threshold.values > 0)
    lines << (threshold.min < threshold.max
                  ? tr("threshold %1 to %2").arg(number_text(threshold.min), number_text(threshold.max))
                  : tr("threshold %1").arg(number_text(threshold.min)));
  const QRect area = confidence_area();
  if (area.contains(point)) {
    const double share = static_cast<double>(area.bottom() - point.y()) / std::max(1, area.height() - 1);
    const std::size_t bin = confidence_bin(static_cast<float>(share));
    const DensityCounts counts = density_.count(drafts_, column->first, column->last);
    lines << tr("confidence %1 to %2: %3 accepted, %4 rejected, %5 not tested")
                 .arg(static_cast<double>(bin) / confidence_bins)
                 .arg(static_cast<double>(bin + 1) / confidence_bins)
                 .arg(count_of(counts, DraftFate::accepted, bin))
                 .arg(count_of(counts, DraftFate::rejected, bin))
                 .arg(count_of(counts, DraftFate::untested, bin));
  }
  return lines.join(u'\n');
}

QString ConfidenceView::round_text(std::size_t place) const {
  const std::uint32_t round_index = state().shown_rounds()->rounds[place];
  QStringList lines{tr("round %1: α so far %2")
                        .arg(round_number(place))
                        .arg(percent_text(drafts_.acceptance_rate(0, place + 1)))};
  if (!std::isnan(drafts_.threshold[place]))
    lines << tr("threshold %1").arg(number_text(drafts_.threshold[place]));
  constexpr std::size_t max_lines = 16;
  for (const traces::DraftToken& token : state().recording()->draft_tokens(round_index)) {
    if (lines.size() > static_cast<qsizetype>(max_lines)) break;
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
