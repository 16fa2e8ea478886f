// SPDX-License-Identifier: GPL-3.0-or-later
#include "breakdown_view.h"

#include <draftscope/simulator/analysis/what_is_traced.h>

#include <QComboBox>
#include <QPainter>
#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "views/rounds/round_charts.h"
#include "widgets/plot_style.h"
#include "widgets/theme.h"
#include "widgets/time_text.h"

namespace draftscope::gui {

namespace {

constexpr int row_height = 22;
constexpr int name_width = 134;
constexpr int cell_width = 56;

QString part_text(std::size_t part) {
  return QString::fromStdString(std::string(round_part_name(static_cast<RoundPart>(part))));
}

/// Colour of an operation, the same in every recording, from Tol's "muted" scheme, which no phase uses.
QColor operation_color(const std::string& name, bool dark) {
  static constexpr std::array<std::string_view, 9> operations{
      "qkv",  "attention", "output projection", "gate up", "down",
      "head", "embedding", "attention norm",    "mlp norm"};
  static constexpr std::array<QRgb, 9> colors{0xff332288, 0xff882255, 0xff44aa99, 0xffcc6677, 0xffddcc77,
                                              0xff117733, 0xff88ccee, 0xffaa4499, 0xff999933};
  const auto known = std::find(operations.begin(), operations.end(), name);
  const std::size_t place = known != operations.end()
                                ? static_cast<std::size_t>(known - operations.begin())
                                : std::accumulate(name.begin(), name.end(), std::size_t{0}) % colors.size();
  const QColor color = QColor::fromRgb(colors[place]);
  const QColor seen = dark && color.lightness() < 110 ? color.lighter(170) : color;
  return known != operations.end() ? seen : seen.darker(150);
}

/// Colour of a part: layers go from pale to strong, each operation has its own, and greys mark the rest.
QColor part_color(std::size_t part, std::size_t named, const std::string& name, bool is_layer, bool dark) {
  if (part < named && is_layer)
    return scale_color(0.25 + 0.75 * static_cast<double>(part) / static_cast<double>(named), dark);
  if (part < named) return operation_color(name, dark);
  constexpr std::array<traces::Phase, 6> rest{traces::Phase::sync,    traces::Phase::idle,
                                              traces::Phase::idle,    traces::Phase::sync,
                                              traces::Phase::prefill, traces::Phase::idle};
  return phase_color(rest[std::min(part - named, rest.size() - 1)], dark);
}

/// Head of the column of the cursor's round: its number, as in every view.
QString head_of(std::uint32_t number) {
  return QStringLiteral("#%1").arg(number);
}

std::int64_t total(const std::vector<std::int64_t>& times) {
  return std::accumulate(times.begin(), times.end(), std::int64_t{0});
}

}  // namespace

BreakdownView::BreakdownView(ViewState& state, QWidget* parent)
    : RoundsPlot(state, parent),
      choice_(
          add_choice(tr("What the breakdown shows"), {tr("by phase"), tr("by layer"), tr("by operation")})) {
  setAccessibleName(tr("Breakdown of the rounds' time"));
}

int BreakdownView::min_area_height() const {
  // The table of percentiles needs rows for a head, the parts, and the round.
  return (static_cast<int>(round_parts) + 2) * row_height;
}

BackgroundJob::Job BreakdownView::reading_job(const RecordingPointer& recording, std::size_t run_index) {
  details_.set_source({recording, run_index});
  return read_and_take([recording, run_index](const auto&) { return RoundTimes(*recording, run_index); },
                       [this](RoundTimes times) {
                         times_ = std::move(times);
                         first_ = last_ = 0;
                       });
}

void BreakdownView::forget_run() {
  details_.set_source({});
  times_ = RoundTimes();
}

const DetailedTimes::Side* BreakdownView::side(const DetailedTimes* times) const {
  if (times == nullptr) return nullptr;
  return mode() == Mode::layers ? &times->by_layer : &times->by_operation;
}

BreakdownView::Parts BreakdownView::phase_parts() const {
  Parts parts;
  for (std::size_t part = 0; part < round_parts; ++part) {
    parts.names << part_text(part);
    parts.colors.push_back(phase_color(phase_of(static_cast<RoundPart>(part)), is_dark(palette())));
  }
  parts.sum = [this](std::size_t first, std::size_t last) {
    const PartTimes sum = times_.sum(first, last);
    return std::vector<std::int64_t>(sum.begin(), sum.end());
  };
  return parts;
}

BreakdownView::Parts BreakdownView::detailed_parts(const DetailedTimes::Side& times) const {
  Parts parts;
  for (std::size_t part = 0; part < times.times.names().size(); ++part) {
    parts.names << QString::fromStdString(times.times.names()[part]);
    parts.colors.push_back(
        part_color(part, times.named, times.times.names()[part], mode() == Mode::layers, is_dark(palette())));
  }
  parts.sum = [&times](std::size_t first, std::size_t last) { return times.times.sum(first, last); };
  return parts;
}

std::optional<BreakdownView::Parts> BreakdownView::parts() const {
  if (mode() == Mode::phases) return phase_parts();
  const DetailedTimes::Side* times = side(details_.so_far().get());
  if (times == nullptr || times->source == TimeSource::none) return std::nullopt;
  return detailed_parts(*times);
}

QString BreakdownView::why_no_parts() const {
  if (!details_.problem().isEmpty()) return details_.problem();
  if (details_.so_far() == nullptr) return tr("reading what was recorded inside the phases …");
  return mode() == Mode::layers
             ? tr("This recording has no times of layers. On a CPU, record with --level layers or --level "
                  "ops; "
                  "on a GPU, with --cuda-pass plain.")
             : tr("This recording has no times of operations. On a CPU, record with --level ops; on a GPU, "
                  "with --cuda-pass plain.");
}

void BreakdownView::paint(QPainter& painter, const RoundAxis& axis) {
  if (axis.first != first_ || axis.last != last_) {
    first_ = axis.first;
    last_ = axis.last;
    percentiles_ = times_.percentiles(first_, last_);
    if (beside_ != nullptr) beside_->update();
  }
  if (mode() != Mode::phases) (void)details_.ask();
  const std::optional<Parts> shown = parts();
  if (!shown) {
    paint_notice(painter, why_no_parts());
    return;
  }
  const double top_ns = paint_scale(painter, axis);
  paint_columns(painter, axis, *shown, top_ns);
  painter.setPen(palette().color(QPalette::WindowText));
  const std::optional<std::size_t> at = cursor_place();
  const QRect beside(plot_area().right() + 190, 0, right_margin() - 196, plot_area().top());
  const QString of = counted(static_cast<std::int64_t>(axis.count()), tr("of the 1 round shown"),
                             tr("of the %1 rounds shown"));
  painter.drawText(beside, Qt::AlignLeft | Qt::AlignVCenter,
                   at ? tr("round %1, and %2").arg(head_of(round_number(*at)), of) : of);
  if (mode() == Mode::phases)
    paint_percentiles(painter, axis, *shown);
  else
    paint_shares(painter, axis, *shown);
}

void BreakdownView::share_scale(BreakdownView& other) {
  beside_ = &other;
  other.beside_ = this;
}

double BreakdownView::own_top_ns() const {
  const PartPercentiles& whole = percentiles_[round_parts];
  return std::max(
      1.0, std::min(1.15 * static_cast<double>(whole.p99_ns), 1.05 * static_cast<double>(whole.max_ns)));
}

double BreakdownView::paint_scale(QPainter& painter, const RoundAxis& axis) const {
  const QRect area = plot_area();
  // Outliers may leave the picture, since the scale is chosen for most rounds.
  const PartPercentiles& whole = percentiles_[round_parts];
  const double top =
      std::max(own_top_ns(), beside_ == nullptr || !beside_->isVisible() ? 1.0 : beside_->own_top_ns());
  const std::int64_t step = tick_step_ns(std::max<std::int64_t>(1, std::llround(top / 5.0)));
  for (std::int64_t tick = 0; static_cast<double>(tick) <= top; tick += step) {
    const int y = area.bottom() - static_cast<int>(static_cast<double>(tick) / top * area.height());
    painter.setPen(grid_color(palette()));
    painter.drawLine(area.left(), y, area.right(), y);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(QRect(0, y - 9, area.left() - 6, 18), Qt::AlignRight | Qt::AlignVCenter,
                     tick_text(tick, step));
  }
  QString words =
      axis.rounds_per_pixel() > 1.0
          ? tr("time of a round, mean of up to %1 in a column").arg(std::ceil(axis.rounds_per_pixel()))
          : tr("time of a round");
  if (mode() != Mode::phases && !simulator::what_is_traced(state().recording()->recording().meta).empty())
    words += tr("; every kernel was traced, so gaps are longer than without");
  if (static_cast<double>(whole.max_ns) > top)
    words += tr("; the longest takes %1, its column is cut").arg(duration_text(whole.max_ns));
  painter.drawText(QRect(area.left(), 0, area.width(), area.top()), Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(words, Qt::ElideRight, area.width()));
  return top;
}

void BreakdownView::paint_columns(QPainter& painter, const RoundAxis& axis, const Parts& parts,
                                  double top_ns) const {
  const QRect area = plot_area();
  painter.save();
  painter.setClipRect(area);
  for (const RoundColumn& column : round_columns(axis)) {
    const std::vector<std::int64_t> sum = parts.sum(column.first, column.last);
    const int gap = column.width() > 4 ? 1 : 0;
    double below = 0.0;
    const auto y = [&](double ns) {
      return area.bottom() + 1 - static_cast<int>(std::lround(ns / top_ns * area.height()));
    };
    for (std::size_t part = 0; part < sum.size(); ++part) {
      const double ns = static_cast<double>(sum[part]) / static_cast<double>(column.count());
      if (ns <= 0.0) continue;
      painter.fillRect(column.left, y(below + ns), column.width() - gap, y(below) - y(below + ns),
                       parts.colors[part]);
      below += ns;
    }
  }
  painter.restore();
}

void BreakdownView::paint_row(QPainter& painter, int row, const QColor& color, const QString& name,
                              const QStringList& cells) const {
  const int left = plot_area().right() + 14;
  const int top = plot_area().top() + row * row_height;
  if (color.isValid()) {
    painter.setPen(grid_color(palette()));
    painter.setBrush(color);
    painter.drawRect(left, top + 5, 12, 12);
  }
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(QRect(left + 18, top, name_width - 18, row_height), Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(name, Qt::ElideMiddle, name_width - 20));
  for (int column = 0; column < cells.size(); ++column)
    painter.drawText(QRect(left + name_width + column * cell_width, top, cell_width - 4, row_height),
                     Qt::AlignRight | Qt::AlignVCenter, cells[column]);
}

std::optional<std::size_t> BreakdownView::cursor_place() const {
  const std::uint32_t round_index = state().cursor().round_index;
  if (round_index == no_index || state().recording()->run_of(round_index) != state().run())
    return std::nullopt;
  const std::uint32_t place = state().filtered()->place_in_run(round_index);
  return place == no_index ? std::nullopt : std::optional<std::size_t>(place);
}

std::vector<std::int64_t> BreakdownView::cursor_times(const Parts& parts) const {
  const std::optional<std::size_t> place = cursor_place();
  if (!place) return {};
  std::vector<std::int64_t> times = parts.sum(*place, *place + 1);
  times.push_back(total(times));
  return times;
}

void BreakdownView::paint_percentiles(QPainter& painter, const RoundAxis& axis, const Parts& parts) {
  const double whole = percentiles_[round_parts].mean_ns;
  const std::vector<std::int64_t> here = cursor_times(parts);
  QStringList spoken;
  QStringList heads{tr("mean"), tr("share"), tr("p50"), tr("p95"), tr("p99")};
  if (!here.empty()) heads.prepend(head_of(round_number(*cursor_place())));
  paint_row(painter, 0, QColor(), QString(), heads);
  int row = 1;
  for (std::size_t part = 0; part <= round_parts; ++part) {
    const PartPercentiles& of = percentiles_[part];
    // What took no time has no part of the columns either.
    if (of.max_ns == 0) continue;
    const bool is_whole = part == round_parts;
    const QString name = is_whole ? tr("round") : part_text(part);
    const QString share = percent_text(whole > 0.0 ? of.mean_ns / whole : 0.0);
    QStringList cells{duration_text(std::llround(of.mean_ns)), share, duration_text(of.p50_ns),
                      duration_text(of.p95_ns), duration_text(of.p99_ns)};
    if (!here.empty()) cells.prepend(duration_text(here[part]));
    paint_row(painter, row++, is_whole ? QColor() : parts.colors[part], name, cells);
    spoken << (here.empty() ? QStringLiteral("%1 %2").arg(name, share)
                            : QStringLiteral("%1 %2, here %3").arg(name, share, cells.front()));
  }
  setAccessibleDescription(spoken.join(u", "));
  if (axis.count() <= RoundTimes::max_exact) return;
  const QRect area = plot_area();
  const int top = area.top() + row * row_height;
  painter.drawText(QRect(area.right() + 32, top, right_margin() - 40, row_height), Qt::AlignLeft,
                   tr("percentiles of so many rounds: within %1").arg(percent_text(quantile_error)));
}

void BreakdownView::paint_shares(QPainter& painter, const RoundAxis& axis, const Parts& parts) {
  const std::vector<std::int64_t> sum = parts.sum(axis.first, axis.last);
  const auto whole = static_cast<double>(std::max<std::int64_t>(total(sum), 1));
  const auto rounds = static_cast<double>(axis.count());
  const std::vector<std::int64_t> here = cursor_times(parts);
  // Each share stands beside the time that it is of.
  const auto cells = [&](std::int64_t ns, std::int64_t here_ns) {
    QStringList texts{duration_text(std::llround(static_cast<double>(ns) / rounds)),
                      percent_text(static_cast<double>(ns) / whole)};
    if (!here.empty())
      texts = QStringList{duration_text(here_ns),
                          percent_text(static_cast<double>(here_ns) /
                                       static_cast<double>(std::max<std::int64_t>(here.back(), 1)))} +
              texts;
    return texts;
  };
  const auto here_of = [&](std::size_t part) { return here.empty() ? std::int64_t{0} : here[part]; };
  QStringList spoken;
  QStringList heads{tr("mean"), tr("share")};
  if (!here.empty()) heads = QStringList{head_of(round_number(*cursor_place())), tr("of it")} + heads;
  paint_row(painter, 0, QColor(), QString(), heads);
  const int max_rows = plot_area().height() / row_height - 1;
  int row = 1;
  std::int64_t left_over = 0;
  std::int64_t left_over_here = 0;
  int left_out = 0;
  std::vector<std::size_t> order;
  order.reserve(sum.size());
  for (std::size_t part = sum.size(); part-- > 0;)
    if (sum[part] > 0 || here_of(part) > 0) order.push_back(part);
  // Layers stand as in a column. The longest operations come first; what has no room is one row.
  if (mode() == Mode::operations)
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t part) { return sum[part]; });
  for (const std::size_t i : order) {
    const QString& name = parts.names[static_cast<qsizetype>(i)];
    spoken << QStringLiteral("%1 %2").arg(name, percent_text(static_cast<double>(sum[i]) / whole));
    if (row < max_rows - 1) {
      paint_row(painter, row++, parts.colors[i], name, cells(sum[i], here_of(i)));
    } else {
      ++left_out;
      left_over += sum[i];
      left_over_here += here_of(i);
    }
  }
  if (left_out > 0)
    paint_row(painter, row++, QColor(), tr("%1 others").arg(left_out), cells(left_over, left_over_here));
  paint_row(painter, row, QColor(), tr("round"), cells(total(sum), here_of(sum.size())));
  setAccessibleDescription(spoken.join(u", "));
}

Chart BreakdownView::figure_of(const RoundAxis& axis) const {
  const std::optional<Parts> shown = parts();
  if (!shown) return {};
  return breakdown_chart(axis, shown->names, shown->sum,
                         [this](std::size_t place) { return round_number(place); });
}

QString BreakdownView::tooltip_at(const RoundAxis& axis, const QPoint& point) const {
  const std::optional<Parts> shown = parts();
  if (!shown) return {};
  const std::size_t place = axis.place(point.x());
  const std::vector<std::int64_t> sum = shown->sum(place, place + 1);
  QStringList lines{tr("round %1: %2").arg(round_number(place)).arg(duration_text(total(sum)))};
  for (std::size_t part = 0; part < sum.size(); ++part)
    if (sum[part] > 0)
      lines << QStringLiteral("%1: %2").arg(shown->names[static_cast<qsizetype>(part)],
                                            duration_text(sum[part]));
  return lines.join(u'\n');
}

}  // namespace draftscope::gui
