// SPDX-License-Identifier: GPL-3.0-or-later
#include "skip_map.h"

#include <draftscope/base/statistics.h>

#include <QComboBox>
#include <QImage>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <array>

#include "data/decisions/decision_history.h"
#include "views/rounds/round_charts.h"
#include "widgets/drawing.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

/// Rounds in the window of a skip share, or those of a column if it has more.
constexpr std::size_t skip_share_window = 50;
constexpr int bar_room = 150;

/// Interpolates between two colours, fast enough for thousands of calls per frame.
class ColorMix {
 public:
  ColorMix(const QColor& from, const QColor& to)
      : from_{from.red() + 0.5, from.green() + 0.5, from.blue() + 0.5},
        by_{to.red() - from.red(), to.green() - from.green(), to.blue() - from.blue()} {}

  /// Colour at a share of the way, from 0 to 1.
  [[nodiscard]] QRgb at(double share) const { return qRgb(part(0, share), part(1, share), part(2, share)); }

 private:
  [[nodiscard]] int part(std::size_t channel, double share) const {
    return static_cast<int>(from_[channel] + by_[channel] * share);
  }

  /// Includes half a step, so that truncation gives the nearest colour.
  std::array<double, 3> from_;
  std::array<int, 3> by_;
};

/// Colour of a sublayer that runs; attention and MLP differ.
QColor run_color(std::size_t sublayer, bool dark) {
  return phase_color(sublayer % 2 == 1 ? traces::Phase::draft : traces::Phase::verify, dark);
}

double share_of(const SkipSummary& sum, std::size_t sublayer) {
  return sum.drafting == 0 ? 0.0
                           : static_cast<double>(sum.skipped[sublayer]) / static_cast<double>(sum.drafting);
}

/// Paints one cell per column and row, row 0 at the bottom, with gaps where cells are large. `color` gives a
/// function from rows to colours for each column.
template <typename Color>
void paint_cells(QPainter& painter, const QRect& area, const std::vector<RoundColumn>& columns,
                 std::size_t rows, const QColor& gap, const Color& color) {
  QImage image(area.width(), static_cast<int>(rows), QImage::Format_RGB32);
  auto* const top = reinterpret_cast<QRgb*>(image.bits()) - area.left();
  const std::size_t per_row = static_cast<std::size_t>(image.bytesPerLine()) / sizeof(QRgb);
  for (const RoundColumn& column : columns) {
    const auto color_of = color(column);
    for (std::size_t row = 0; row < rows; ++row) {
      QRgb* const line = top + (rows - 1 - row) * per_row;
      std::fill(line + column.left, line + column.right, color_of(row));
    }
  }
  painter.drawImage(area, image);
  for (const RoundColumn& column : columns)
    if (column.width() > 4) painter.fillRect(column.right - 1, area.top(), 1, area.height(), gap);
  if (area.height() > 5 * static_cast<int>(rows))
    for (std::size_t row = 1; row < rows; ++row)
      painter.fillRect(area.left(),
                       area.top() + static_cast<int>(row) * area.height() / static_cast<int>(rows),
                       area.width(), 1, gap);
}

}  // namespace

SkipMap::SkipMap(ViewState& state, QWidget* parent)
    : RoundsPlot(state, parent),
      choice_(add_choice(tr("What the skip map shows"),
                         {tr("ran or skipped"), tr("how often skipped"), tr("time per layer")})) {
  setAccessibleName(tr("Skip map: rounds by sublayers"));
}

BackgroundJob::Job SkipMap::reading_job(const RecordingPointer& recording, std::size_t run_index) {
  times_.set_source({recording, run_index});
  decisions_.set_source(with_rows(state().recording()));
  return read_and_take([recording, run_index](const auto&) { return SkipPyramid(*recording, run_index); },
                       [this](SkipPyramid skips) { take(std::move(skips)); });
}

void SkipMap::forget_run() {
  times_.set_source({});
  decisions_.set_source(with_rows(state().recording()));  // Releases decisions of another recording.
  skips_ = SkipPyramid();
}

void SkipMap::take(SkipPyramid skips) {
  skips_ = std::move(skips);
  bool changes = false;
  for (std::size_t place = 0; place < skips_.rounds() && !changes; ++place) changes = skips_.is_change(place);
  // The text about a change names the decision, so reading starts here.
  if (changes) (void)decisions_.ask();
  SkipSummary all;
  skips_.summarise(0, skips_.rounds(), all);
  double skipped = 0.0;
  for (const std::uint32_t count : all.skipped) skipped += count;
  const double cells =
      static_cast<double>(all.drafting) * static_cast<double>(std::max<std::size_t>(skips_.sublayers(), 1));
  description_ = tr("%1 of %2 rounds draft; they skip %3 of their sublayers")
                     .arg(all.drafting)
                     .arg(all.rounds)
                     .arg(percent_text(cells > 0.0 ? skipped / cells : 0.0));
}

QRect SkipMap::row_box(std::size_t row, std::size_t rows) const {
  // Layer 0 is at the bottom, since text flows upwards through the model.
  const QRect area = plot_area();
  const auto edge = [&](std::size_t of) {
    return area.top() + static_cast<int>(of) * area.height() / static_cast<int>(rows);
  };
  return {area.left(), edge(rows - 1 - row), area.width(), edge(rows - row) - edge(rows - 1 - row)};
}

void SkipMap::paint(QPainter& painter, const RoundAxis& axis) {
  setAccessibleDescription(description_);
  if (mode() == Mode::time)
    paint_times_or_why_not(painter, axis);
  else if (skips_.sublayers() == 0)
    paint_notice(painter, tr("no round of this run drafted with layers of the model"));
  else if (mode() == Mode::runs)
    paint_runs(painter, axis);
  else
    paint_share(painter, axis);
}

void SkipMap::paint_runs(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = plot_area();
  const bool dark = is_dark(palette());
  const QColor skipped_color = palette().color(QPalette::AlternateBase);
  const QColor base = palette().color(QPalette::Base);
  LegendRow legend(painter, palette(), QRect(area.left(), 0, area.width(), area.top()));
  legend.add(run_color(0, dark), tr("attention runs"));
  legend.add(run_color(1, dark), tr("MLP runs"));
  legend.add_sign(tr("skipped"), [&](const QRect& sign) {
    painter.fillRect(sign, skipped_color);
    painter.setBrush(QBrush(grid_color(palette()), Qt::BDiagPattern));
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawRect(sign);
  });
  legend.add_exit(tr("exit layer"));

  const std::size_t sublayers = skips_.sublayers();
  const std::vector<RoundColumn> columns = round_columns(axis, 1, SkipPyramid::block);
  const std::array<ColorMix, 2> mixes{ColorMix(run_color(0, dark), skipped_color),
                                      ColorMix(run_color(1, dark), skipped_color)};
  SkipSummary sum;
  paint_cells(painter, area, columns, sublayers, base, [&](const RoundColumn& column) {
    skips_.summarise(column.first, column.last, sum);
    return [&](std::size_t sublayer) {
      return sum.drafting == 0 ? base.rgb() : mixes[sublayer % 2].at(share_of(sum, sublayer));
    };
  });
  // Large cells also hatch what was skipped.
  const QBrush hatch(grid_color(palette()), Qt::BDiagPattern);
  for (const RoundColumn& column : columns) {
    if (column.width() < 6 || row_box(0, sublayers).height() < 6) continue;
    skips_.summarise(column.first, column.last, sum);
    for (std::size_t sublayer = 0; sublayer < sublayers && sum.drafting > 0; ++sublayer) {
      const QRect box = row_box(sublayer, sublayers);
      if (sum.skipped[sublayer] == sum.drafting)
        painter.fillRect(column.left, box.top(), column.width(), box.height(), hatch);
    }
  }
  paint_skipped(painter, axis, [dark](std::size_t sublayer, double) { return run_color(sublayer, dark); });
}

void SkipMap::paint_share(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = plot_area();
  const bool dark = is_dark(palette());
  const QColor base = palette().color(QPalette::Base);
  const std::size_t sublayers = skips_.sublayers();
  const std::vector<RoundColumn> columns = round_columns(axis, 1, SkipPyramid::block);
  const std::size_t window = std::max(skip_share_window, columns.front().count());
  LegendRow legend(painter, palette(), QRect(area.left(), 0, area.width(), area.top()));
  legend.add_scale(tr("skipped by none to all of %1 rounds").arg(window));
  legend.add_exit(tr("exit layer"));
  SkipSummary sum;
  paint_cells(painter, area, columns, sublayers, base, [&](const RoundColumn& column) {
    const std::size_t middle = (column.first + column.last) / 2;
    const std::size_t first = middle > window / 2 ? middle - window / 2 : 0;
    skips_.summarise(first, first + window, sum);
    return [&](std::size_t sublayer) {
      return sum.drafting == 0 ? base.rgb() : scale_color(share_of(sum, sublayer), dark).rgb();
    };
  });
  paint_skipped(painter, axis, [dark](std::size_t, double share) { return scale_color(share, dark); });
}

std::vector<double> SkipMap::skipped_shares(const RoundAxis& axis) const {
  SkipSummary sum;
  skips_.summarise(axis.first, axis.last, sum);
  std::vector<double> shares(skips_.sublayers());
  for (std::size_t sublayer = 0; sublayer < shares.size(); ++sublayer)
    shares[sublayer] = share_of(sum, sublayer);
  return shares;
}

Chart SkipMap::figure_of(const RoundAxis& axis) const {
  if (mode() != Mode::time) return skip_chart(skipped_shares(axis));
  if (times_.so_far() == nullptr) return {};
  const DetailedTimes::Side& times = times_.so_far()->by_layer;
  const std::vector<std::int64_t> sum = times.times.sum(axis.first, axis.last);
  std::vector<double> per_round_ns;
  for (std::size_t layer = 0; layer < times.named; ++layer)
    per_round_ns.push_back(static_cast<double>(sum[layer]) / static_cast<double>(axis.count()));
  return layer_time_chart(per_round_ns);
}

void SkipMap::paint_skipped(QPainter& painter, const RoundAxis& axis,
                            const std::function<QColor(std::size_t, double)>& color) const {
  const std::size_t sublayers = skips_.sublayers();
  paint_exit(painter, axis);
  paint_layer_ticks(painter, sublayers / 2);
  const std::vector<double> shares = skipped_shares(axis);
  paint_bars(painter, tr("share that skipped it"), shares,
             [&](std::size_t sublayer) { return color(sublayer, shares[sublayer]); });
}

void SkipMap::paint_times_or_why_not(QPainter& painter, const RoundAxis& axis) {
  const DetailedTimes* times = times_.ask().get();
  if (times != nullptr && times->by_layer.source != TimeSource::none)
    paint_times(painter, axis, times->by_layer);
  else if (times == nullptr)
    paint_notice(painter, times_.problem().isEmpty() ? tr("reading the layers' times …") : times_.problem());
  else
    paint_notice(painter, tr("This recording has no times of layers. On a CPU, record with --level layers or "
                             "--level ops; on a GPU, with --cuda-pass plain."));
}

void SkipMap::paint_times(QPainter& painter, const RoundAxis& axis, const DetailedTimes::Side& times) const {
  const QRect area = plot_area();
  const bool dark = is_dark(palette());
  const std::size_t layers = times.named;
  const std::vector<RoundColumn> columns = round_columns(axis, 1, SkipPyramid::block);
  std::vector<std::vector<double>> means;  // [column][layer]
  std::vector<double> all;
  for (const RoundColumn& column : columns) {
    const std::vector<std::int64_t> sum = times.times.sum(column.first, column.last);
    std::vector<double>& mean = means.emplace_back(layers);
    for (std::size_t layer = 0; layer < layers; ++layer)
      mean[layer] = static_cast<double>(sum[layer]) / static_cast<double>(column.count());
    all.insert(all.end(), mean.begin(), mean.end());
  }
  // A few interrupted rounds must not make the others pale, so the scale ends at the 99th percentile.
  const double top = std::max(1.0, quantile_below(all, 0.99));
  LegendRow legend(painter, palette(), QRect(area.left(), 0, area.width(), area.top()));
  legend.add_scale(tr("0 to %1 per round, %2")
                       .arg(duration_text(std::llround(top)), times.source == TimeSource::kernels
                                                                  ? tr("of the device's kernels")
                                                                  : tr("of the host's spans")));
  legend.add_exit(tr("exit layer"));
  std::size_t next = 0;
  paint_cells(painter, area, columns, layers, palette().color(QPalette::Base), [&](const RoundColumn&) {
    const std::vector<double>& mean = means[next++];
    return [&](std::size_t layer) { return scale_color(mean[layer] / top, dark).rgb(); };
  });
  if (2 * layers == skips_.sublayers()) paint_exit(painter, axis);
  paint_layer_ticks(painter, layers);
  const std::vector<std::int64_t> sum = times.times.sum(axis.first, axis.last);
  const auto longest = static_cast<double>(std::max<std::int64_t>(
      1, *std::max_element(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(layers))));
  std::vector<double> lengths(layers);
  for (std::size_t layer = 0; layer < layers; ++layer)
    lengths[layer] = static_cast<double>(sum[layer]) / longest;
  paint_bars(painter,
             tr("longest: %1 per round")
                 .arg(duration_text(std::llround(longest / static_cast<double>(axis.count())))),
             lengths, [&](std::size_t) { return phase_color(traces::Phase::verify, dark); });
}

void SkipMap::paint_exit(QPainter& painter, const RoundAxis& axis) const {
  if (skips_.sublayers() == 0) return;
  const QRect area = plot_area();
  SkipSummary sum;
  StepLine line(painter, cursor_color(is_dark(palette())));
  for (const RoundColumn& column : round_columns(axis, 1, SkipPyramid::block)) {
    if (column.count() == 1 && skips_.is_change(column.first)) {
      painter.setPen(palette().color(QPalette::WindowText));
      painter.drawLine(column.left, area.top() - 5, column.left, area.top() - 2);
    }
    skips_.summarise(column.first, column.last, sum);
    if (sum.drafting == 0) continue;
    const double exit = sum.exit_sum / static_cast<double>(sum.drafting);
    const double height = exit * 2.0 * area.height() / static_cast<double>(skips_.sublayers());
    line.add(column.left, column.right, area.bottom() + 1 - static_cast<int>(std::lround(height)));
  }
}

void SkipMap::paint_layer_ticks(QPainter& painter, std::size_t layers) const {
  const QRect area = plot_area();
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

void SkipMap::paint_bars(QPainter& painter, const QString& title, const std::vector<double>& lengths,
                         const std::function<QColor(std::size_t)>& color) const {
  const int left = plot_area().right() + 10;
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const QRect box = row_box(row, lengths.size());
    painter.fillRect(left, box.top(), static_cast<int>(std::ceil(lengths[row] * bar_room)),
                     box.height() - (box.height() > 4 ? 1 : 0), color(row));
  }
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(left, plot_area().bottom() + 5 + painter.fontMetrics().ascent(), title);
}

QString SkipMap::change_text(std::size_t place) const {
  if (place >= skips_.rounds() || !skips_.is_change(place)) return {};
  const auto& history = decisions_.so_far();
  if (!history) return tr("the mask changed here");
  return QString::fromStdString(mask_change_text(*history, state().run(), round_number(place))) +
         tr("\nReturn or a double click: that decision");
}

void SkipMap::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter)
    return RoundsPlot::keyPressEvent(event);
  if (state().cursor().round_index != no_index) emit decision_asked(state().cursor().round_index);
  event->accept();
}

void SkipMap::mouseDoubleClickEvent(QMouseEvent* event) {
  const RoundAxis axis = this->axis();
  if (event->button() != Qt::LeftButton || axis.count() == 0 || !plot_area().contains(event->pos()))
    return RoundsPlot::mouseDoubleClickEvent(event);
  emit decision_asked(state().shown_rounds()->rounds[axis.place(event->position().x())]);
}

QString SkipMap::layer_text(std::size_t first, std::size_t last, std::size_t layer) const {
  SkipSummary sum;
  skips_.summarise(first, last, sum);
  if (2 * layer + 1 >= skips_.sublayers()) return {};
  if (sum.drafting == 0) return tr("drafted with no layer of the model");
  const auto state_text = [&](std::size_t sublayer) {
    if (sum.drafting == 1) return sum.skipped[sublayer] == 1 ? tr("skipped") : tr("run");
    return tr("skipped in %1").arg(percent_text(share_of(sum, sublayer)));
  };
  return tr("attention %1, MLP %2").arg(state_text(2 * layer), state_text(2 * layer + 1));
}

QString SkipMap::tooltip_at(const RoundAxis& axis, const QPoint& point) const {
  const DetailedTimes::Side* times =
      mode() == Mode::time && times_.so_far() != nullptr ? &times_.so_far()->by_layer : nullptr;
  const std::size_t layers = times != nullptr ? times->named : skips_.sublayers() / 2;
  if (layers == 0) return {};
  const QRect area = plot_area();
  const auto layer = static_cast<std::size_t>(static_cast<double>(area.bottom() - point.y()) / area.height() *
                                              static_cast<double>(layers));
  const std::size_t first = axis.place(point.x());
  const std::size_t last = std::max(first + 1, axis.place(point.x() + 1.0));
  QStringList lines{
      last - first == 1
          ? tr("round %1, layer %2").arg(round_number(first)).arg(layer)
          : tr("rounds %1 to %2, layer %3").arg(round_number(first)).arg(round_number(last - 1)).arg(layer)};
  if (times != nullptr)
    lines << tr("%1 per round")
                 .arg(duration_text(times->times.sum(first, last)[layer] /
                                    static_cast<std::int64_t>(last - first)));
  lines << layer_text(first, last, layer);
  if (last - first == 1)
    if (const QString change = change_text(first); !change.isEmpty()) lines << change;
  return lines.join(u'\n');
}

}  // namespace draftscope::gui
