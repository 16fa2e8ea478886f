// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/curve_report.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/speculation/strategy_text.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "report/figure_text.h"
#include "report/report_json.h"
#include "report/reports.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

constexpr std::array<std::string_view, 4> over_keys{"speedup.value", "speedup.interval_95",
                                                    "mean_accepted_length", "acceptance_rate"};
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

Json parameters_of(const traces::Run& run) {
  Json parameters = Json::parse(run.parameters, nullptr, false);
  return parameters.is_object() ? parameters : Json::object();
}

std::string value_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Numbers in their order, then words.
bool is_before(const std::string& a, const std::string& b) {
  const auto number_a = parse_number<double>(a);
  const auto number_b = parse_number<double>(b);
  if (number_a && number_b && *number_a != *number_b) return *number_a < *number_b;
  if (number_a.has_value() != number_b.has_value()) return number_a.has_value();
  return a < b;
}

std::string without_parameter(std::string specification, std::string_view key) {
  const auto value = speculation::parameter_of(specification, key);
  if (!value) return specification;
  // The item, and one of the characters that part it from others.
  const auto end = static_cast<std::size_t>(value->data() - specification.data()) + value->size();
  const std::size_t begin = end - value->size() - key.size() - 1;
  if (end < specification.size()) return specification.erase(begin, end + 1 - begin);
  return specification.erase(begin - 1);
}

/// Sets of runs over a parameter; empty if no two runs differ in it alone.
std::vector<RunsOver> sets_over(const simulator::MeasuredRecording& measured, const std::string& parameter) {
  std::map<std::string, RunsOver> sets;
  std::vector<std::string> order;
  for (const simulator::RunFigures& run : measured.figures.runs) {
    Json parameters = parameters_of(*run.all.run);
    if (!parameters.contains(parameter)) continue;
    const std::string value = value_text(parameters[parameter]);
    parameters.erase(parameter);
    const std::string key = run.all.run->strategy + parameters.dump();
    const auto [found, is_new] = sets.try_emplace(key);
    if (is_new) order.push_back(key);
    if (is_new) found->second.setting = without_parameter(run.all.run->specification, parameter);
    found->second.points.push_back({value, &run});
  }
  std::vector<RunsOver> curves;
  for (const std::string& key : order) {
    RunsOver& set = sets[key];
    std::stable_sort(set.points.begin(), set.points.end(),
                     [](const auto& a, const auto& b) { return is_before(a.value, b.value); });
    if (set.points.front().value != set.points.back().value) curves.push_back(std::move(set));
  }
  return curves;
}

double number_of(const RunsOver::Point& point, std::string_view key) {
  return simulator::figure_number(simulator::measured_figure(key).get(point.run->all)).value_or(no_number);
}

}  // namespace

Result<std::vector<RunsOver>> runs_over(const simulator::MeasuredRecording& measured,
                                        const std::string& parameter) {
  std::vector<RunsOver> curves = sets_over(measured, parameter);
  if (!curves.empty()) return curves;
  std::set<std::string> parameters;
  for (const traces::Run& run : measured.recording->runs) {
    const Json of_run = parameters_of(run);
    for (const auto& [key, value] : of_run.items())
      if (!sets_over(measured, key).empty()) parameters.insert(key);
  }
  return fail("--over {}: found no two runs that differ in it alone, expected {}", quote(parameter),
              parameters.empty() ? "a recording with such runs"
                                 : fmt::format("one of {}", fmt::join(parameters, ", ")));
}

std::string curve_table(const std::string& parameter, const std::vector<std::string>& titles,
                        const std::vector<CurvePoint>& points, const Glyphs& glyphs) {
  double highest = 1.0;
  for (const CurvePoint& point : points) highest = std::max(highest, point.speedup.value_or(1.0));
  Table table({printable(parameter)}, titles, {""});
  for (const CurvePoint& point : points) {
    table.add_row({printable(point.value)});
    for (const std::string& cell : point.cells) table.add_cell(cell);
    table.add_cell(point.speedup ? bar(*point.speedup / highest, bar_width, glyphs) : "");
  }
  return table.text(2, glyphs.columns);
}

std::vector<double> places_of(const std::vector<std::string>& values, std::vector<std::string> all,
                              Chart& chart) {
  std::sort(all.begin(), all.end(), is_before);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  constexpr double far = 8.0;
  const auto least = parse_number<double>(all.front());
  const auto greatest = parse_number<double>(all.back());
  const bool are_numbers = least && greatest && (*least <= 0.0 || *greatest < far * *least);
  if (!are_numbers) chart.places = all;
  std::vector<double> places;
  places.reserve(values.size());
  for (const std::string& value : values)
    places.push_back(are_numbers
                         ? parse_number<double>(value).value_or(no_number)
                         : static_cast<double>(std::find(all.begin(), all.end(), value) - all.begin()));
  return places;
}

std::string over_text(const simulator::MeasuredRecording& measured, const std::vector<RunsOver>& curves,
                      const std::string& parameter, const Glyphs& glyphs) {
  std::vector<std::string> titles;
  titles.reserve(over_keys.size());
  for (const std::string_view key : over_keys) titles.push_back(simulator::measured_figure(key).title);
  std::string text = header_text(measured, glyphs);
  for (const RunsOver& curve : curves) {
    std::vector<CurvePoint> points;
    for (const RunsOver::Point& point : curve.points) {
      CurvePoint& row = points.emplace_back();
      row.value = point.value;
      for (const std::string_view key : over_keys)
        row.cells.push_back(figure_cell(simulator::measured_figure(key), point.run->all, glyphs));
      if (point.run->all.speedup) row.speedup = point.run->all.speedup->value;
    }
    text += fmt::format("\n{}\n", printable(curve.setting)) + curve_table(parameter, titles, points, glyphs);
  }
  return text;
}

std::string over_json(const simulator::MeasuredRecording& measured, const std::vector<RunsOver>& curves,
                      const std::string& parameter) {
  Json json = recording_document(measured);
  json["parameter"] = parameter;
  const auto point_json = [](const RunsOver::Point& point) {
    Json row{{"value", point.value}};
    row.update(figures_json(point.run->all));
    return row;
  };
  json["curves"] = json_list(curves, [&](const RunsOver& curve) -> Json {
    return {{"setting", curve.setting}, {"points", json_list(curve.points, point_json)}};
  });
  return json_text(json);
}

std::string over_svg(const std::vector<RunsOver>& curves, const std::string& parameter) {
  std::vector<std::string> all;
  for (const RunsOver& curve : curves)
    for (const RunsOver::Point& point : curve.points) all.push_back(point.value);
  std::vector<Chart> charts;
  for (const std::string_view key : {over_keys[0], over_keys[2], over_keys[3]}) {
    const simulator::MeasuredFigure& figure = simulator::measured_figure(key);
    Chart& chart = charts.emplace_back();
    chart.title = fmt::format("{} by {}", figure.title, parameter);
    chart.x_title = parameter;
    chart.y_title = figure.title;
    const bool is_speedup = key == over_keys.front();
    if (is_speedup) chart.level = 1.0;
    chart.sentence = is_speedup
                         ? "Measured over vanilla decoding on the same prompts, with the 95 % interval "
                           "over prompts; along a line only this parameter changes."
                         : figure.explanation + ".";
    for (const RunsOver& curve : curves) {
      const std::size_t color = series_color(chart.series.size());
      ChartSeries& series = chart.series.emplace_back();
      series.name = curve.setting;
      series.color = color;
      series.is_joined = true;
      std::vector<std::string> values;
      for (const RunsOver::Point& point : curve.points) {
        values.push_back(point.value);
        series.y.push_back(number_of(point, key));
        const auto& speedup = point.run->all.speedup;
        const bool has_interval = is_speedup && speedup && speedup->interval;
        series.low.push_back(has_interval ? speedup->interval->low : no_number);
        series.high.push_back(has_interval ? speedup->interval->high : no_number);
      }
      series.x = places_of(values, all, chart);
    }
  }
  return charts_svg(charts);
}

}  // namespace draftscope::cli
