// SPDX-License-Identifier: GPL-3.0-or-later
// Curves over a parameter, and charts as SVG.
#include "report/curve_report.h"

#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "report/chart_svg.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A measured recording of runs with these parameters, without any figure.
simulator::MeasuredRecording with_parameters(const std::vector<json>& parameters) {
  simulator::MeasuredRecording measured;
  measured.recording = std::make_unique<traces::Recording>();
  for (const json& one : parameters) {
    std::string specification = "layerskip";
    for (const auto& [key, value] : one.items())
      specification += (specification.size() > 9 ? "," : ":") + key + "=" + value.dump();
    std::vector<traces::Run>& runs = measured.recording->runs;
    runs.push_back({traces::RunId::from(runs.size() + 1), "layerskip", specification, one.dump(), false});
  }
  for (const traces::Run& run : measured.recording->runs) {
    measured.figures.runs.emplace_back();
    measured.figures.runs.back().all.run = &run;
  }
  return measured;
}

json without(json parameters, const std::string& key) {
  parameters.erase(key);
  return parameters;
}

TEST(RunsOver, HoldEveryPairThatDiffersInTheParameterAloneInItsOrder) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> value(1, 12);
  std::uniform_int_distribution<int> few(1, 2);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<json> parameters;
    for (int run = 0; run < 6; ++run)
      parameters.push_back({{"exit", few(random)}, {"gamma", value(random)}, {"verify", few(random)}});
    const simulator::MeasuredRecording measured = with_parameters(parameters);
    const auto curves = runs_over(measured, "gamma");
    std::set<std::string> expected;
    for (const json& a : parameters)
      for (const json& b : parameters)
        if (a != b && without(a, "gamma") == without(b, "gamma")) expected.insert(without(a, "gamma").dump());
    ASSERT_EQ(curves.has_value(), !expected.empty());
    if (!curves) continue;
    std::set<std::string> found;
    for (const RunsOver& curve : *curves) {
      EXPECT_EQ(curve.setting.find("gamma"), std::string::npos) << curve.setting;
      double last = 0.0;
      const json rest = without(json::parse(curve.points.front().run->all.run->parameters), "gamma");
      EXPECT_TRUE(found.insert(rest.dump()).second);
      for (const RunsOver::Point& point : curve.points) {
        EXPECT_EQ(without(json::parse(point.run->all.run->parameters), "gamma"), rest);
        EXPECT_GE(std::stod(point.value), last);
        last = std::stod(point.value);
      }
      EXPECT_EQ(static_cast<long>(curve.points.size()),
                std::count_if(parameters.begin(), parameters.end(),
                              [&](const json& one) { return without(one, "gamma") == rest; }));
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(RunsOver, AreRefusedByTheParametersThatHaveSome) {
  const auto measured = with_parameters({{{"exit", 4}, {"gamma", 2}}, {{"exit", 4}, {"gamma", 6}}});
  const auto refused = runs_over(measured, "exit");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "--over 'exit': found no two runs that differ in it alone, expected one of gamma");
}

TEST(ReportOver, PrintsTheSameRunsAsTextJsonAndPicture) {
  const TemporaryFolder folder;
  const auto trace = folder / "lengths.dstrace";
  record_trace(trace,
               "-n 8 --limit 2 --repeats 1 -q -s vanilla -s layerskip:gamma=6 -s layerskip:gamma=2,exit=3 "
               "-s layerskip:gamma=4");
  const json curves = printed_json("report {} --over gamma --json", trace)["curves"];
  const json runs = printed_json("report {} --json", trace)["runs"];
  const std::string text = run_line("report {} --over gamma", trace).out;
  const std::string svg = run_line("report {} --over gamma --svg", trace).out;
  ASSERT_EQ(curves.size(), 1U) << "an exit of 3 is the default for 12 layers";
  ASSERT_EQ(curves[0]["points"].size(), 3U);
  EXPECT_EQ(curves[0]["setting"], "layerskip");
  for (const json& point : curves[0]["points"])
    for (const json& run : runs)
      if (run["run_id"] == point["run_id"]) {
        EXPECT_EQ(run["speedup"], point["speedup"]);
      }
  EXPECT_THAT(text, HasSubstr("acceptance"));
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg.substr(0, 80);
  EXPECT_THAT(svg, HasSubstr("speedup by gamma"));
  expect_one_line(run_line("report {} --over omega", trace), "expected one of gamma");
  expect_usage_error(run_line("report {} --svg", trace), "found --svg, expected it only with --over");
}

/// Numbers after these attributes of a picture.
std::vector<double> numbers_after(const std::string& svg, const std::string& attributes) {
  std::vector<double> numbers;
  const std::regex expression(" (?:" + attributes + ")=\"([^\"]*)\"");
  for (std::sregex_iterator found(svg.begin(), svg.end(), expression), end; found != end; ++found)
    numbers.push_back(std::stod((*found)[1]));
  return numbers;
}

TEST(ChartSvg, StaysInsideThePictureWhateverIsDrawn) {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> exponent(-6.0, 6.0);
  std::uniform_int_distribution<int> few(0, 4);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (int trial = 0; trial < 200; ++trial) {
    Chart chart{.title = "a < b & c", .x_title = "x", .y_title = "y", .sentence = "A sentence. "};
    if (few(random) == 0) chart.places = {"one", "two", "three"};
    for (int i = 0; i <= few(random); ++i) {
      ChartSeries& series = chart.series.emplace_back();
      series.name = "series <" + std::to_string(i) + ">";
      series.mark = static_cast<ChartMark>(few(random));
      series.is_joined = few(random) > 1;
      for (int point = 0; point < 3; ++point) {
        series.x.push_back(point);
        series.y.push_back(few(random) == 0 ? nan : std::pow(10.0, exponent(random)));
        series.low.push_back(few(random) == 0 ? nan : series.y.back() / 3.0);
        series.high.push_back(few(random) == 0 ? HUGE_VAL : series.y.back() * 40.0);
      }
    }
    const std::string svg = charts_svg({&chart, 1});
    const bool has_points = std::any_of(chart.series.begin(), chart.series.end(), [](const auto& series) {
      return std::any_of(series.y.begin(), series.y.end(), [](double value) { return std::isfinite(value); });
    });
    ASSERT_EQ(svg.empty(), !has_points);
    if (svg.empty()) continue;
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    EXPECT_THAT(svg, HasSubstr("a &lt; b &amp; c"));
    const double height = numbers_after(svg, "height").front();
    for (const double x : numbers_after(svg, "x1|x2|cx")) EXPECT_TRUE(x >= 0.0 && x <= 480.0) << x;
    for (const double y : numbers_after(svg, "y1|y2|cy")) EXPECT_TRUE(y >= 0.0 && y <= height) << y;
    for (const double side : numbers_after(svg, "width|height")) EXPECT_GE(side, 0.0);
  }
}

TEST(ChartSvg, TakesTextsThatXmlDoesNot) {
  const std::string odd = "a\x1b[31m\x01\xff\xc2\x9b<b";
  Chart chart{.title = odd, .x_title = odd, .y_title = odd, .places = {odd}, .sentence = odd};
  chart.series = {{.name = odd, .x = {0.0}, .y = {1.0}}};
  const std::string svg = charts_svg({&chart, 1});
  EXPECT_THAT(svg, HasSubstr("a?[31m???&lt;b"));
  for (const char c : svg) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
}

TEST(ChartSvg, DrawsNoneOfManySeriesInGrey) {
  std::set<std::size_t> colors;
  for (std::size_t i = 0; i < 3 * light_grey; ++i) colors.insert(series_color(i));
  EXPECT_EQ(colors.size(), light_grey - 1) << "each colour but the grey and that of text";
  EXPECT_FALSE(colors.contains(light_grey));
  EXPECT_FALSE(colors.contains(0));
}

TEST(ChartSvg, NamesPlacesWhereValuesAreFarApart) {
  Chart chart;
  EXPECT_EQ(places_of({"2", "4"}, {"4", "2", "6"}, chart), (std::vector<double>{2.0, 4.0}));
  EXPECT_TRUE(chart.places.empty());
  EXPECT_EQ(places_of({"8", "128"}, {"128", "32", "8"}, chart), (std::vector<double>{0.0, 2.0}));
  EXPECT_EQ(chart.places, (std::vector<std::string>{"8", "32", "128"}));
}

}  // namespace
}  // namespace draftscope::cli
