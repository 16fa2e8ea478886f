// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/chart_svg.h"

#include <draftscope/base/number_text.h>
#include <draftscope/base/round_step.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "terminal/table.h"

namespace draftscope::cli {

namespace {

constexpr std::array<std::string_view, light_grey + 1> colors{
    "#3b3b3b", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a8a3c", "#56b4e9", "#e69f00", "#dcdcdc"};
// Pixels. A letter is as wide as the mean of a sans-serif font of 12 pixels.
constexpr double width = 480.0;
constexpr double left = 66.0;
constexpr double right = width - 14.0;
constexpr double panel_height = 200.0;
constexpr double line_height = 17.0;
constexpr double letter_width = 6.7;

std::string escaped_xml(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += c;
  }
  return result;
}

double width_of(std::string_view text) {
  return letter_width * static_cast<double>(display_width(text));
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     escaped_xml(printable(text)));
}

std::string line_from(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     style);
}

/// The text in lines that are no wider than the picture; bold letters are wider.
std::vector<std::string> lines_of(std::string_view text, double boldness = 1.0) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!lines.back().empty() && boldness * (width_of(lines.back()) + width_of(word)) > width - 36.0)
      lines.emplace_back();
    lines.back().append(lines.back().empty() ? "" : " ").append(word);
  }
  return lines;
}

/// Values of an axis with its round ticks; `pixel` takes a value to its place.
struct Scale {
  double low = 0.0, high = 1.0;
  double first_pixel = 0.0, last_pixel = 1.0;
  double step = 1.0;

  [[nodiscard]] double pixel(double value) const {
    return first_pixel + (value - low) / (high - low) * (last_pixel - first_pixel);
  }
  [[nodiscard]] double inside(double value) const { return std::clamp(value, low, high); }
  /// A tick with as many decimals as the step has.
  [[nodiscard]] std::string tick_text(double value) const {
    constexpr int max_decimals = 4;
    const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
    const double shown = std::abs(value) < step * 1e-6 ? 0.0 : value;
    return decimals > max_decimals ? number_text(shown) : fmt::format("{:.{}f}", shown, decimals);
  }
};

/// A scale whose ticks are 1, 2 or 5 times a power of ten apart.
Scale scale_of(double low, double high, double first_pixel, double last_pixel) {
  // Ends that differ in their last digits have no ticks between them.
  if (!(high - low > 1e-6 * std::max(std::abs(low), std::abs(high)))) {
    const double around = std::max(std::abs(low) / 10.0, 1e-9);
    low -= around;
    high += around;
  }
  constexpr double ticks = 5.0;
  return {low, high, first_pixel, last_pixel, round_step((high - low) / ticks)};
}

using Ends = std::pair<double, double>;

/// Least and greatest value of a coordinate; an end of an interval counts up to half the height of the
/// points, so that a wide one does not flatten them.
Ends range_of(const Chart& chart, std::vector<double> ChartSeries::*coordinate) {
  Ends ends{HUGE_VAL, -HUGE_VAL};
  const auto include = [](Ends& into, double value) {
    if (!std::isfinite(value)) return;
    into = {std::min(into.first, value), std::max(into.second, value)};
  };
  for (const ChartSeries& series : chart.series)
    for (const double value : series.*coordinate) include(ends, value);
  if (coordinate == &ChartSeries::x || ends.first > ends.second) return ends;
  if (chart.level) include(ends, *chart.level);
  const double beyond = (ends.second - ends.first) / 2.0;
  const Ends points = ends;
  for (const ChartSeries& series : chart.series) {
    for (const double value : series.low)
      include(ends, series.mark == ChartMark::bar ? value : std::max(value, points.first - beyond));
    for (const double value : series.high) include(ends, std::min(value, points.second + beyond));
    if (series.mark == ChartMark::bar && series.low.empty()) include(ends, 0.0);
  }
  const double margin = (ends.second - ends.first) * 0.05;
  return {ends.first == 0.0 ? 0.0 : ends.first - margin, ends.second + margin};
}

std::string mark_at(const ChartSeries& series, double x, double y) {
  const std::string_view color = colors[series.color % colors.size()];
  switch (series.mark) {
    case ChartMark::dot:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, y, color);
    case ChartMark::ring:
      return fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\" fill=\"#fff\" stroke=\"{}\" "
          "stroke-width=\"1.4\"/>\n",
          x, y, color);
    case ChartMark::cross:
      return fmt::format("<path d=\"M{0:.1f} {1:.1f}l7 7m0 -7l-7 7\" stroke=\"{2}\" stroke-width=\"1.8\"/>\n",
                         x - 3.5, y - 3.5, color);
    default:
      return {};
  }
}

std::string series_svg(const Chart& chart, const ChartSeries& series, const Scale& x, const Scale& y) {
  const std::string_view color = colors[series.color % colors.size()];
  std::string path, marks;
  bool is_broken = true;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool begins = series.mark != ChartMark::bar || series.low.empty() || std::isfinite(series.low[i]);
    if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i]) || !begins) {
      is_broken = true;
      continue;
    }
    const double at_x = x.pixel(series.x[i]);
    const double at_y = y.pixel(series.y[i]);
    if (series.mark == ChartMark::bar) {
      const double begin = y.pixel(series.low.empty() ? 0.0 : series.low[i]);
      const double wide = chart.bar_width * std::abs(x.pixel(1.0) - x.pixel(0.0));
      marks +=
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                      at_x - wide / 2.0, std::min(at_y, begin), wide, std::abs(at_y - begin), color);
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", is_broken ? 'M' : 'L', at_x, at_y);
    is_broken = false;
    if (i < series.low.size() && i < series.high.size() && std::isfinite(series.low[i]))
      marks += line_from(at_x, y.pixel(y.inside(series.low[i])), at_x, y.pixel(y.inside(series.high[i])),
                         fmt::format("stroke=\"{}\" stroke-width=\"1.2\" opacity=\"0.6\"", color));
    marks += mark_at(series, at_x, at_y);
  }
  if (series.is_joined && !path.empty())
    path = fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{}/>\n", path, color,
                       series.is_dashed ? " stroke-dasharray=\"5 4\"" : "");
  else
    path.clear();
  return path + marks;
}

/// The legend from `top` on, in as many lines as it needs; moves `top` below it.
std::string legend_svg(const Chart& chart, double& top) {
  constexpr double sample = 26.0;
  constexpr double gap = 14.0;
  std::string svg;
  double x = left;
  for (const ChartSeries& series : chart.series) {
    if (series.name.empty()) continue;
    const double wide = sample + width_of(series.name) + gap;
    if (x > left && x + wide > width) {
      x = left;
      top += line_height;
    }
    const std::string_view color = colors[series.color % colors.size()];
    if (series.mark == ChartMark::bar)
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"9\" fill=\"{}\"/>\n", x + 5.0,
                         top - 8.5, color);
    if (series.is_joined)
      svg += line_from(x, top - 4.0, x + sample - 6.0, top - 4.0,
                       fmt::format("stroke=\"{}\" stroke-width=\"1.6\"{}", color,
                                   series.is_dashed ? " stroke-dasharray=\"5 4\"" : ""));
    svg +=
        mark_at(series, x + (sample - 6.0) / 2.0, top - 4.0) + text_at(x + sample, top, "start", series.name);
    x += wide;
  }
  top += line_height / 2.0;
  return svg;
}

/// Ticks and names of the x axis. Names that would touch the one before them are left out.
std::string x_axis_svg(const Chart& chart, const Scale& x, double bottom) {
  std::string svg;
  double used = -HUGE_VAL;
  const auto tick = [&](double value, const std::string& name) {
    const double at = x.pixel(value);
    svg += line_from(at, bottom, at, bottom + 4.0, "stroke=\"#3b3b3b\"");
    if (at - width_of(name) / 2.0 < used) return;
    used = at + width_of(name) / 2.0 + letter_width;
    svg += text_at(at, bottom + 17.0, "middle", name);
  };
  if (!chart.places.empty())
    for (std::size_t i = 0; i < chart.places.size(); ++i) tick(static_cast<double>(i), chart.places[i]);
  else
    for (double value = std::ceil(x.low / x.step) * x.step; value <= x.high + x.step * 1e-6; value += x.step)
      tick(value, x.tick_text(value));
  return svg + text_at((left + right) / 2.0, bottom + 34.0, "middle", chart.x_title);
}

/// One chart from `top` on; moves `top` below it.
std::string chart_svg(const Chart& chart, double& top) {
  top += 5.0;
  std::string svg;
  for (const std::string& line : lines_of(chart.title, 1.12))
    svg += text_at(12.0, top += line_height, "start", line, " font-weight=\"bold\"");
  top += line_height + 3.0;
  svg += legend_svg(chart, top);
  const double bottom = top + panel_height;
  Ends places = range_of(chart, &ChartSeries::x);
  const bool has_bars = std::any_of(chart.series.begin(), chart.series.end(),
                                    [](const ChartSeries& series) { return series.mark == ChartMark::bar; });
  if (has_bars) places = {places.first - 0.5, places.second + 0.5};
  if (!chart.places.empty()) places = {-0.5, static_cast<double>(chart.places.size()) - 0.5};
  const Ends values = range_of(chart, &ChartSeries::y);
  const double pad = chart.places.empty() && !has_bars ? 12.0 : 0.0;
  const Scale x = scale_of(places.first, places.second, left + pad, right - pad);
  const Scale y = scale_of(values.first, values.second, bottom, top);
  for (std::size_t row = 0; row < chart.rows.size(); ++row)
    svg += text_at(left - 6.0, y.pixel(static_cast<double>(row) + 0.45) + 4.0, "end", chart.rows[row]);
  for (double value = std::ceil(y.low / y.step) * y.step; value <= y.high && chart.rows.empty();
       value += y.step) {
    svg += line_from(left, y.pixel(value), right, y.pixel(value), "stroke=\"#e4e4e4\"");
    svg += text_at(left - 6.0, y.pixel(value) + 4.0, "end", y.tick_text(value));
  }
  if (chart.level)
    svg += line_from(left, y.pixel(*chart.level), right, y.pixel(*chart.level),
                     "stroke=\"#8a8a8a\" stroke-dasharray=\"2 3\"");
  for (const ChartSeries& series : chart.series) svg += series_svg(chart, series, x, y);
  svg += line_from(left, top, left, bottom, "stroke=\"#3b3b3b\"");
  svg += line_from(left, bottom, right, bottom, "stroke=\"#3b3b3b\"") + x_axis_svg(chart, x, bottom);
  svg += fmt::format("<g transform=\"translate(14 {:.1f}) rotate(-90)\">{}</g>\n", (top + bottom) / 2.0,
                     text_at(0.0, 0.0, "middle", chart.y_title));
  top = bottom + (chart.x_title.empty() ? 20.0 : 36.0);
  for (const std::string& line : lines_of(chart.sentence))
    svg += text_at(12.0, top += line_height, "start", line, " fill=\"#5f5f5f\"");
  top += line_height;
  return svg;
}

}  // namespace

std::string charts_svg(std::span<const Chart> charts) {
  std::string svg;
  double height = 0.0;
  for (const Chart& chart : charts) {
    const Ends values = range_of(chart, &ChartSeries::y);
    if (values.first <= values.second) svg += chart_svg(chart, height);
  }
  if (svg.empty()) return {};
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
             "{0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#202020\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
             width, height) +
         svg + "</svg>\n";
}

}  // namespace draftscope::cli
