// SPDX-License-Identifier: GPL-3.0-or-later
#include "chart_drawing.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "widgets/elided_apart.h"
#include "widgets/plot_style.h"
#include "widgets/theme.h"

namespace draftscope::gui {

namespace {

constexpr int legend_icon_width = 22;
constexpr int legend_line_gap = 3;
constexpr double smallest_number_height = 9.0;  // Minimum height of a cell that shows its number.

bool is_value(double value) {
  return std::isfinite(value);
}

/// Max share of a chart's width for names beside its vertical axis.
constexpr double share_of_names = 0.4;
constexpr double share_of_slanted = 0.25;
constexpr double slant_degrees = 40.0;
constexpr int label_gap = 16;  // Pixels between names, axis and picture.

/// Width of the widest name, cut to `most`.
int widest_of(const QStringList& names, const QFontMetrics& metrics, double most) {
  int widest = 0;
  for (const QString& name : names) widest = std::max(widest, metrics.horizontalAdvance(name));
  return std::min(widest, static_cast<int>(most));
}

int scale_bar_width(const QFont& font) {
  return std::max(8, QFontMetrics(font).height() - 2);
}

/// Width of the scale of colours with its numbers.
int scale_width(const QFont& font) {
  return scale_bar_width(font) + QFontMetrics(font).horizontalAdvance(QStringLiteral("0.25×")) + label_gap;
}

/// Width of a cell of the first panel.
double cell_width(const Chart& chart, const ChartLook& look) {
  const QStringList rows = chart.panels.empty() ? QStringList() : chart.panels.front().y.names;
  const int names = widest_of(rows, QFontMetrics(look.font), share_of_names * look.size.width());
  return (look.size.width() - names - scale_width(look.font) - 1.5 * label_gap) /
         std::max(1.0, static_cast<double>(chart.x.names.size()));
}

/// Lines of the chart's note; a wider one would push the scale out of the picture.
QStringList note_lines(const Chart& chart, const ChartLook& look) {
  const int width = look.size.width() - scale_width(look.font) - label_gap;
  const QFontMetrics metrics(look.font);
  QStringList lines;
  for (const QString& word : chart.note.split(u' ', Qt::SkipEmptyParts)) {
    const QString longer = lines.isEmpty() ? word : lines.back() + u' ' + word;
    if (!lines.isEmpty() && metrics.horizontalAdvance(longer) <= width)
      lines.back() = longer;
    else
      lines << word;
  }
  return lines;
}

/// Whether names below the axis are wider than their columns, so that they stand slanted.
bool has_slanted_names(const Chart& chart, const ChartLook& look) {
  if (chart.x.names.isEmpty() || chart.panels.empty() || chart.panels.front().cells.empty()) return false;
  const QFontMetrics metrics(look.font);
  return widest_of(chart.x.names, metrics, look.size.width()) > cell_width(chart, look) - 2;
}

/// Draws one panel into its axis rectangle.
class PanelDrawing {
 public:
  PanelDrawing(QCustomPlot& plot, QCPAxisRect& area, const Chart& chart, const ChartPanel& panel,
               const ChartLook& look)
      : plot_(plot),
        area_(area),
        chart_(chart),
        panel_(panel),
        look_(look),
        is_dark_(is_dark(look.palette)) {}

  void draw() {
    for (const ChartLine& line : panel_.lines) draw_line(line);
    draw_cells();
    for (const ChartSeries& series : panel_.series) draw_series(series);
  }

 private:
  [[nodiscard]] QCPAxis* x() const { return area_.axis(QCPAxis::atBottom); }
  [[nodiscard]] QCPAxis* y() const { return area_.axis(QCPAxis::atLeft); }
  [[nodiscard]] QCPAxis* key() const { return panel_.has_values_along_x ? y() : x(); }
  [[nodiscard]] QCPAxis* value() const { return panel_.has_values_along_x ? x() : y(); }

  void draw_line(const ChartLine& line) {
    auto* across = new QCPItemStraightLine(&plot_);
    for (QCPItemPosition* point : {across->point1, across->point2}) {
      point->setAxes(x(), y());
      point->setAxisRect(&area_);
    }
    across->setClipAxisRect(&area_);
    QColor color = look_.palette.color(QPalette::WindowText);
    color.setAlpha(170);
    across->setPen(QPen(color, 1.0, Qt::DashLine));
    // A straight line needs two places; on a logarithmic axis both are above 0.
    const double one = 1.0;
    const double two = 2.0;
    across->point1->setCoords(line.is_upright ? line.at : one, line.is_upright ? one : line.at);
    across->point2->setCoords(line.is_upright ? line.at : two, line.is_upright ? two : line.at);
  }

  void draw_series(const ChartSeries& series) {
    // QCustomPlot needs points in the order of their keys.
    std::vector<std::size_t> order(series.x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::vector<double>& keys = panel_.has_values_along_x ? series.y : series.x;
    const std::vector<double>& values = panel_.has_values_along_x ? series.x : series.y;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    QVector<double> key_list;
    QVector<double> value_list;
    QVector<double> below;
    QVector<double> above;
    const bool has_intervals = !series.low.empty();
    for (const std::size_t i : order) {
      if (!is_value(keys[i])) continue;
      key_list << keys[i];
      value_list << values[i];
      if (!has_intervals) continue;
      const bool is_known = is_value(series.low[i]) && is_value(series.high[i]);
      below << (is_known ? values[i] - series.low[i] : 0.0);
      above << (is_known ? series.high[i] - values[i] : 0.0);
    }
    const bool is_line = series.mark == ChartMark::line || series.mark == ChartMark::line_with_points;
    if (has_intervals && is_line) draw_band(series, key_list, value_list, below, above);
    QCPAbstractPlottable* drawn = series.mark == ChartMark::bars ? draw_bars(series, key_list, value_list)
                                                                 : draw_graph(series, key_list, value_list);
    if (has_intervals && !is_line) draw_whiskers(series, *drawn, below, above);
    if (!series.name.isEmpty() && plot_.legend != nullptr) drawn->addToLegend(plot_.legend);
  }

  QCPAbstractPlottable* draw_graph(const ChartSeries& series, const QVector<double>& keys,
                                   const QVector<double>& values) {
    auto* graph = new QCPGraph(key(), value());
    graph->setName(series.name);
    const QColor color = series_color(series.color, is_dark_);
    graph->setPen(QPen(color, 1.5));
    switch (series.mark) {
      case ChartMark::points:
      case ChartMark::bars:
        graph->setLineStyle(QCPGraph::lsNone);
        break;
      case ChartMark::line:
      case ChartMark::line_with_points:
        graph->setLineStyle(QCPGraph::lsLine);
        break;
      case ChartMark::steps_to_left:
        graph->setLineStyle(QCPGraph::lsStepLeft);
        break;
      case ChartMark::filled_steps:
        graph->setLineStyle(QCPGraph::lsStepLeft);
        graph->setPen(Qt::NoPen);
        graph->setBrush(color);
        if (last_filled_ != nullptr) graph->setChannelFillGraph(last_filled_);
        last_filled_ = graph;
        break;
    }
    if (series.mark == ChartMark::points || series.mark == ChartMark::line_with_points) {
      const double size = 0.6 * QFontMetricsF(look_.font).height();
      const QBrush fill = series.is_hollow ? look_.palette.color(QPalette::Base) : color;
      graph->setScatterStyle(QCPScatterStyle(series_shape(series.color == 0 ? 0 : series.color - 1),
                                             QPen(color, 1.5), fill, size));
    }
    graph->setData(keys, values, true);
    return graph;
  }

  QCPAbstractPlottable* draw_bars(const ChartSeries& series, const QVector<double>& keys,
                                  const QVector<double>& values) {
    auto* bars = new QCPBars(key(), value());
    bars->setName(series.name);
    bars->setPen(Qt::NoPen);
    bars->setBrush(series_color(series.color, is_dark_));
    bars->setWidth(0.6);
    bars->setData(keys, values, true);
    return bars;
  }

  void draw_whiskers(const ChartSeries& series, QCPAbstractPlottable& of, const QVector<double>& below,
                     const QVector<double>& above) {
    auto* whiskers = new QCPErrorBars(key(), value());
    whiskers->setDataPlottable(&of);
    whiskers->setErrorType(QCPErrorBars::etValueError);
    const QColor color = series.mark == ChartMark::bars ? look_.palette.color(QPalette::WindowText)
                                                        : series_color(series.color, is_dark_);
    whiskers->setPen(QPen(color, 1.25));
    whiskers->setWhiskerWidth(0.5 * QFontMetricsF(look_.font).height());
    whiskers->setSymbolGap(0.0);
    whiskers->setData(below, above);
  }

  /// Draws the interval along a line, pale.
  void draw_band(const ChartSeries& series, const QVector<double>& keys, const QVector<double>& values,
                 const QVector<double>& below, const QVector<double>& above) {
    QVector<double> low;
    QVector<double> high;
    for (qsizetype i = 0; i < values.size(); ++i) {
      low << values[i] - below[i];
      high << values[i] + above[i];
    }
    auto* lower = new QCPGraph(key(), value());
    auto* upper = new QCPGraph(key(), value());
    lower->setPen(Qt::NoPen);
    upper->setPen(Qt::NoPen);
    lower->setData(keys, low, true);
    upper->setData(keys, high, true);
    QColor pale = series_color(series.color, is_dark_);
    pale.setAlpha(50);
    upper->setBrush(pale);
    upper->setChannelFillGraph(lower);
  }

  void draw_cells() {
    if (panel_.cells.empty()) return;
    const bool has_numbers = shows_numbers(chart_, look_);
    for (const ChartCell& cell : panel_.cells) draw_cell(cell, has_numbers);
  }

  void draw_cell(const ChartCell& cell, bool has_number) {
    auto* box = new QCPItemRect(&plot_);
    for (QCPItemPosition* corner : {box->topLeft, box->bottomRight}) {
      corner->setAxes(x(), y());
      corner->setAxisRect(&area_);
    }
    box->setClipAxisRect(&area_);
    box->topLeft->setCoords(cell.column - 0.48, cell.row - 0.48);
    box->bottomRight->setCoords(cell.column + 0.48, cell.row + 0.48);
    const QColor text = look_.palette.color(QPalette::WindowText);
    QColor faint = text;
    faint.setAlpha(60);
    const QColor back = cell.speedup ? diverging_color(*cell.speedup, chart_.scale_limit, is_dark_) : faint;
    box->setBrush(cell.speedup ? QBrush(back) : QBrush(faint, Qt::DiagCrossPattern));
    box->setPen(!cell.is_marked     ? QPen(Qt::NoPen)
                : cell.is_uncertain ? QPen(text, 1.5, Qt::DashLine)
                                    : QPen(text, 2.5));
    if (!has_number || cell.text.isEmpty()) return;
    auto* number = new QCPItemText(&plot_);
    number->position->setAxes(x(), y());
    number->position->setAxisRect(&area_);
    number->position->setCoords(cell.column, cell.row);
    number->setClipAxisRect(&area_);
    number->setPositionAlignment(Qt::AlignCenter);
    QFont font = look_.font;
    font.setBold(cell.is_marked);
    number->setFont(font);
    number->setColor(cell.speedup ? ink_on(back) : text);
    number->setText(cell.text);
  }

  QCustomPlot& plot_;
  QCPAxisRect& area_;
  const Chart& chart_;
  const ChartPanel& panel_;
  const ChartLook& look_;
  bool is_dark_;
  QCPGraph* last_filled_ = nullptr;
};

void dress_axis(QCPAxis& axis, const ChartAxis& of, const ChartLook& look, bool has_labels,
                bool is_slanted = false) {
  axis.setLabel(has_labels ? of.label : QString());
  axis.setTickLabels(has_labels);
  axis.setLabelFont(look.font);
  axis.setTickLabelFont(look.font);
  axis.grid()->setVisible(of.names.isEmpty());
  if (!of.names.isEmpty()) {
    const bool is_upright = axis.orientation() == Qt::Vertical;
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const double share = is_upright   ? share_of_names
                         : is_slanted ? share_of_slanted
                                      : 0.9 / static_cast<double>(of.names.size());
    if (is_slanted) axis.setTickLabelRotation(slant_degrees);
    for (qsizetype i = 0; i < of.names.size(); ++i)
      ticker->addTick(static_cast<double>(i), elided_apart(of.names[i], of.names, QFontMetrics(look.font),
                                                           static_cast<int>(share * look.size.width())));
    axis.setTicker(ticker);
    axis.setSubTicks(false);
    axis.setTickLength(0, 3);
    axis.setRangeReversed(is_upright);
    axis.setRange(-0.5, static_cast<double>(of.names.size()) - 0.5);
    return;
  }
  if (of.has_whole_numbers) {
    auto ticker = QSharedPointer<QCPAxisTickerFixed>::create();
    ticker->setTickStep(1.0);
    ticker->setScaleStrategy(QCPAxisTickerFixed::ssMultiples);
    axis.setTicker(ticker);
    axis.setSubTicks(false);
  }
  if (of.is_logarithmic) {
    axis.setScaleType(QCPAxis::stLogarithmic);
    axis.setTicker(QSharedPointer<QCPAxisTickerLog>::create());
    axis.setNumberFormat(QStringLiteral("eb"));
    axis.setNumberPrecision(0);
  }
}

/// Range of the data on an axis, with intervals and lines.
class Extent {
 public:
  void add(double value) {
    if (!is_value(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  void give(QCPAxis& axis, const ChartAxis& of) const {
    if (!of.names.isEmpty()) return;
    double low = low_;
    double high = high_;
    if (!(low <= high)) {
      low = 0.0;
      high = 1.0;
    }
    const double margin = 0.05 * std::max(high - low, 1e-9 + 0.02 * std::abs(high));
    if (of.is_logarithmic) {
      low /= 1.5;
      high *= 1.5;
    } else {
      low -= margin;
      high += margin;
    }
    axis.setRange(of.low.value_or(low), of.high.value_or(high));
  }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

void set_ranges(const Chart& chart, const std::vector<QCPAxisRect*>& areas) {
  Extent along;
  for (std::size_t i = 0; i < chart.panels.size(); ++i) {
    const ChartPanel& panel = chart.panels[i];
    Extent up;
    for (const ChartSeries& series : panel.series) {
      for (const double x : series.x) along.add(x);
      for (const double y : series.y) up.add(y);
      Extent& of_values = panel.has_values_along_x ? along : up;
      for (const double end : series.low) of_values.add(end);
      for (const double end : series.high) of_values.add(end);
      // Bars begin at 0.
      if (series.mark == ChartMark::bars) of_values.add(0.0);
    }
    for (const ChartLine& line : panel.lines) (line.is_upright ? along : up).add(line.at);
    up.give(*areas[i]->axis(QCPAxis::atLeft), panel.y);
  }
  for (QCPAxisRect* area : areas) along.give(*area->axis(QCPAxis::atBottom), chart.x);
}

/// A list this long is scrolled, so that its scale stands at both ends.
bool is_long_list(const ChartPanel& panel) {
  constexpr qsizetype long_list = 24;
  return panel.has_values_along_x && panel.y.names.size() > long_list;
}

void add_scale_above(QCPAxisRect& area, const ChartLook& look) {
  QCPAxis& above = *area.axis(QCPAxis::atTop);
  above.setVisible(true);
  above.setTickLabels(true);
  above.setTickLabelFont(look.font);
  above.grid()->setVisible(false);
  above.setRange(area.axis(QCPAxis::atBottom)->range());
}

QStringList legend_names(const Chart& chart) {
  QStringList names;
  for (const ChartPanel& panel : chart.panels)
    for (const ChartSeries& series : panel.series)
      if (!series.name.isEmpty()) names << series.name;
  return names;
}

int legend_columns(const QStringList& names, const QFont& font, int width) {
  int widest = 1;
  for (const QString& name : names)
    widest = std::max(widest, QFontMetrics(font).horizontalAdvance(name) + legend_icon_width + 16);
  return std::clamp(width / widest, 1, std::max(1, static_cast<int>(names.size())));
}

/// Adds no legend without names: an empty one would make its column as narrow as itself.
void add_legend(QCustomPlot& plot, const QStringList& names, const ChartLook& look) {
  plot.legend = new QCPLegend;
  plot.plotLayout()->addElement(0, 0, plot.legend);
  plot.plotLayout()->setRowStretchFactor(0, 0.001);
  plot.legend->setFillOrder(QCPLegend::foColumnsFirst);
  plot.legend->setWrap(legend_columns(names, look.font, look.size.width() - 16));
  plot.legend->setFont(look.font);
  // Lower icons would cut the parts of letters below the baseline.
  plot.legend->setIconSize(legend_icon_width, QFontMetrics(look.font).height() + legend_line_gap);
  plot.legend->setRowSpacing(0);
  plot.legend->setMargins(QMargins(2, 6, 2, 2));
}

void add_scale(QCustomPlot& plot, QCPAxisRect& area, const Chart& chart, const ChartLook& look, int row) {
  auto* scale = new QCPColorScale(&plot);
  plot.plotLayout()->addElement(row, 1, scale);
  scale->setType(QCPAxis::atRight);
  // The shared margin group makes the scale as high as the panel's axis.
  auto* group = plot.findChild<QCPMarginGroup*>();
  scale->setMarginGroup(QCP::msTop | QCP::msBottom, group);
  area.setMarginGroup(QCP::msTop | QCP::msBottom, group);
  // A tick whose label would leave the plot is dropped.
  QMargins margins = area.minimumMargins();
  margins.setTop(std::max(margins.top(), QFontMetrics(look.font).height() / 2 + 2));
  area.setMinimumMargins(margins);
  scale->setDataScaleType(QCPAxis::stLogarithmic);
  QCPColorGradient gradient;
  gradient.clearColorStops();
  constexpr int stops = 8;
  for (int i = 0; i <= stops; ++i) {
    const double place = static_cast<double>(i) / stops;
    gradient.setColorStopAt(place, diverging_color(std::pow(chart.scale_limit, 2.0 * place - 1.0),
                                                   chart.scale_limit, is_dark(look.palette)));
  }
  scale->setGradient(gradient);
  scale->setDataRange(QCPRange(1.0 / chart.scale_limit, chart.scale_limit));
  auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  // Slightly inside the range, so that rounding does not drop the tick.
  constexpr double inside = 1.0001;
  ticker->addTick(inside / chart.scale_limit, QStringLiteral("%1×").arg(1.0 / chart.scale_limit, 0, 'g', 2));
  ticker->addTick(1.0, QStringLiteral("1×"));
  ticker->addTick(chart.scale_limit / inside, QStringLiteral("%1×").arg(chart.scale_limit));
  scale->axis()->setTicker(ticker);
  scale->axis()->setTickLabelFont(look.font);
  scale->setBarWidth(scale_bar_width(look.font));
  const QColor text = look.palette.color(QPalette::WindowText);
  for (QCPAxis* axis : {scale->axis()}) {
    axis->setBasePen(text);
    axis->setTickPen(text);
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelColor(text);
  }
}

/// Height of all but the panels.
int height_around(const Chart& chart, const ChartLook& look) {
  const QFontMetrics metrics(look.font);
  const int width = look.size.width();
  int height = 2 * metrics.height() + 24;  // Height of the horizontal axis with its name.
  if (has_slanted_names(chart, look))
    height += static_cast<int>(0.65 * widest_of(chart.x.names, metrics, share_of_slanted * width));
  if (!chart.note.isEmpty())
    height += static_cast<int>(note_lines(chart, look).size()) * metrics.height() + 6;
  if (const QStringList names = legend_names(chart); !names.isEmpty()) {
    const int columns = legend_columns(names, look.font, width - 16);
    height +=
        (static_cast<int>(names.size()) + columns - 1) / columns * (metrics.height() + legend_line_gap) + 10;
  }
  return height;
}

void add_note(QCustomPlot& plot, const Chart& chart, const ChartLook& look, int row) {
  auto* note = new QCPTextElement(&plot, note_lines(chart, look).join(u'\n'), look.font);
  note->setTextFlags(Qt::AlignLeft | Qt::AlignVCenter);
  note->setTextColor(look.palette.color(QPalette::WindowText));
  note->setMargins(QMargins(6, 2, 2, 4));
  plot.plotLayout()->addElement(row, 0, note);
  plot.plotLayout()->setRowStretchFactor(row, 0.001);
}

}  // namespace

bool shows_numbers(const Chart& chart, const ChartLook& look) {
  QFont bold = look.font;
  bold.setBold(true);
  const QFontMetricsF metrics(bold);
  if (chart.panels.empty()) return false;
  const double height = (look.size.height() - height_around(chart, look)) /
                        std::max(1.0, static_cast<double>(chart.panels.front().y.names.size()));
  double widest = 0.0;
  for (const ChartPanel& panel : chart.panels)
    for (const ChartCell& of : panel.cells) widest = std::max(widest, metrics.horizontalAdvance(of.text));
  return widest > 0.0 && height >= std::max(smallest_number_height, metrics.height()) &&
         cell_width(chart, look) >= widest + 2.0;
}

void draw_chart(QCustomPlot& plot, const Chart& chart, const ChartLook& look) {
  plot.setAutoAddPlottableToLegend(false);
  plot.clearPlottables();
  plot.clearItems();
  plot.plotLayout()->clear();
  plot.plotLayout()->setRowSpacing(0);
  plot.setFont(look.font);
  auto* group = plot.findChild<QCPMarginGroup*>();
  if (group == nullptr) group = new QCPMarginGroup(&plot);
  const QStringList names = look.has_legend ? legend_names(chart) : QStringList();
  if (!names.isEmpty()) add_legend(plot, names, look);
  const int first_row = names.isEmpty() ? 0 : 1;
  std::vector<QCPAxisRect*> areas;
  for (std::size_t i = 0; i < chart.panels.size(); ++i) {
    const ChartPanel& panel = chart.panels[i];
    auto* area = new QCPAxisRect(&plot, true);
    const int row = static_cast<int>(i) + first_row;
    plot.plotLayout()->addElement(row, 0, area);
    plot.plotLayout()->setRowStretchFactor(row, panel.share);
    area->setMarginGroup(QCP::msLeft | QCP::msRight, group);
    area->setMinimumMargins(QMargins(6, 4, 10, 2));
    const bool is_last = i + 1 == chart.panels.size();
    dress_axis(*area->axis(QCPAxis::atBottom), chart.x, look, is_last, has_slanted_names(chart, look));
    dress_axis(*area->axis(QCPAxis::atLeft), panel.y, look, true);
    areas.push_back(area);
  }
  if (!areas.empty()) {
    plot.xAxis = areas.front()->axis(QCPAxis::atBottom);
    plot.yAxis = areas.front()->axis(QCPAxis::atLeft);
  }
  apply_look(plot, look.palette);
  if (plot.legend != nullptr) plot.legend->setBorderPen(Qt::NoPen);
  for (std::size_t i = 0; i < chart.panels.size(); ++i)
    PanelDrawing(plot, *areas[i], chart, chart.panels[i], look).draw();
  for (std::size_t i = 0; i < chart.panels.size(); ++i)
    if (!chart.panels[i].cells.empty())
      add_scale(plot, *areas[i], chart, look, static_cast<int>(i) + first_row);
  if (!chart.note.isEmpty()) add_note(plot, chart, look, first_row + static_cast<int>(chart.panels.size()));
  set_ranges(chart, areas);
  for (std::size_t i = 0; i < chart.panels.size(); ++i)
    if (is_long_list(chart.panels[i])) add_scale_above(*areas[i], look);
}

int min_chart_height(const Chart& chart, const QFont& font, int width) {
  const QFontMetrics metrics(font);
  int height = height_around(chart, {.palette = {}, .font = font, .size = QSize(width, 0)});
  for (const ChartPanel& panel : chart.panels) {
    const auto names =
        std::ranges::count_if(panel.y.names, [](const QString& name) { return !name.isEmpty(); });
    const int by_names = static_cast<int>(names) * (metrics.height() + 3);
    height += std::max({metrics.horizontalAdvance(panel.y.label) + 12, by_names, 60}) + 10;
    if (is_long_list(panel)) height += metrics.height() + 12;
  }
  return height;
}

}  // namespace draftscope::gui
