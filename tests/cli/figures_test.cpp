// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the catalogues of figures with their outputs: JSON, CSV and cli/OUTPUT.md.

#include <draftscope/simulator/analysis/decisions.h>
#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/figure_json.h>
#include <draftscope/simulator/analysis/round_columns.h>
#include <draftscope/simulator/answers/answer_figures.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "printed.h"
#include "report/report_json.h"
#include "trace_files.h"

namespace draftscope::cli {
namespace {

using nlohmann::json;
using simulator::FigureFormat;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::Not;

/// Compares with the table after a heading comment of cli/OUTPUT.md.
void expect_documented(const std::string& name, const std::string& table) {
  expect_on_page("cli/OUTPUT.md", "<!-- figures of " + name + " -->\n", "<!-- end of figures -->\n", table);
}

/// The table without the rows of earlier tables, `said`, which a line above it names.
std::string without_repeated_rows(const std::string& table, std::set<std::string>& said) {
  std::string rows, repeated;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("| `") && !said.insert(line).second)
      repeated += (repeated.empty() ? "As above: " : ", ") + line.substr(2, line.find(" |", 2) - 2);
    else
      rows += line + "\n";
  return repeated.empty() ? rows : repeated + ".\n\n" + rows;
}

TEST(Figures, AreDocumentedUnderTheirKeysTitlesAndMeanings) {
  std::set<std::string> said;
  const auto expect_said = [&](const std::string& name, const std::string& table) {
    expect_documented(name, without_repeated_rows(table, said));
  };
  expect_said("a run", simulator::figures_markdown(simulator::measured_figures()));
  expect_said("a run as a publication counts", simulator::figures_markdown(simulator::convention_figures()));
  std::string series = "| kind | key | title | meaning |\n|---|---|---|---|\n";
  for (const simulator::SeriesRow& row : simulator::decision_series())
    series += fmt::format("| {} | `{}` | {} | {}{} |\n", row.kind, row.key, row.title, row.explanation,
                          row.per_exit ? "; one series an exit" : "");
  expect_documented("decisions", series);
  expect_said("a predicted decoding", simulator::figures_markdown(simulator::predicted_decoding_figures()));
  expect_said("a measured decoding", simulator::figures_markdown(simulator::measured_decoding_figures()));
  expect_said("an answer", simulator::figures_markdown(simulator::answer_figures()));
}

TEST(Figures, OfARatioAreThoseOfARunsSpeedup) {
  for (const auto& figure : simulator::ratio_figures()) {
    const auto& of_run = simulator::measured_figure("speedup." + std::string(figure.key));
    EXPECT_EQ(figure.title, of_run.title) << figure.key;
    EXPECT_EQ(figure.unit, of_run.unit) << figure.key;
    EXPECT_EQ(figure.explanation, of_run.explanation) << figure.key;
  }
}

template <typename Source>
void expect_well_named(std::span<const simulator::FigureOf<Source>> catalogue) {
  std::set<std::string> keys;
  for (const simulator::FigureOf<Source>& figure : catalogue) {
    EXPECT_TRUE(keys.insert(figure.key).second) << figure.key << " is there twice";
    EXPECT_THAT(figure.key, Not(ContainsRegex("_a_|most_|least_|greatest|minimum|maximum"))) << figure.key;
    EXPECT_FALSE(figure.title.empty()) << figure.key;
    EXPECT_FALSE(figure.explanation.empty()) << figure.key;
    EXPECT_EQ(figure.unit == "ns", figure.key.find("_ns") != std::string::npos) << figure.key;
  }
}

TEST(Figures, HaveOneNameEachThatSaysItsUnit) {
  expect_well_named(simulator::measured_figures());
  expect_well_named(simulator::ratio_figures());
  expect_well_named(simulator::convention_figures());
  expect_well_named(simulator::answer_figures());
  expect_well_named(simulator::predicted_decoding_figures());
  expect_well_named(simulator::measured_decoding_figures());
}

/// Expects that a figure in both catalogues has the same name.
template <typename A, typename B>
std::size_t expect_same_names(std::span<const simulator::FigureOf<A>> a,
                              std::span<const simulator::FigureOf<B>> b) {
  std::size_t shared = 0;
  for (const simulator::FigureOf<A>& figure : a) {
    const simulator::FigureOf<B>* other = simulator::find_figure(b, figure.key);
    if (other == nullptr) continue;
    ++shared;
    EXPECT_EQ(figure.title, other->title) << figure.key;
    EXPECT_EQ(figure.unit, other->unit) << figure.key;
  }
  return shared;
}

TEST(Figures, AreCalledTheSameWhetherMeasuredOrPredicted) {
  EXPECT_GE(expect_same_names(simulator::answer_figures(), simulator::measured_figures()), 9U);
  EXPECT_GE(expect_same_names(simulator::predicted_decoding_figures(), simulator::measured_figures()), 3U);
  EXPECT_GE(
      expect_same_names(simulator::predicted_decoding_figures(), simulator::measured_decoding_figures()), 7U);
  EXPECT_GE(expect_same_names(simulator::predicted_decoding_figures(), simulator::answer_figures()), 8U);
}

TEST(Figures, OfEveryTableAreInTheCatalogue) {
  using simulator::FigureTable;
  for (const FigureTable table : {FigureTable::speed, FigureTable::speed_by_category, FigureTable::drafting,
                                  FigureTable::comparison, FigureTable::comparison_csv, FigureTable::app})
    for (const std::string_view key : simulator::figure_table(table)) {
      EXPECT_EQ(simulator::measured_figure(key).key, key);
      EXPECT_NE(simulator::measured_figure(key).format, FigureFormat::list) << key;
    }
  for (const std::string_view key : simulator::answer_table())
    EXPECT_EQ(simulator::answer_figure(key).key, key);
  EXPECT_TRUE(simulator::measured_figure("nothing").title.empty());
}

bool has(const json& run, const std::string& key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string::npos) return run.contains(key);
  const json& object = run.at(key.substr(0, dot));
  return object.is_object() && object.contains(key.substr(dot + 1));
}

std::set<std::string> csv_columns(const std::string& csv) {
  std::set<std::string> columns;
  std::istringstream head(csv.substr(0, csv.find('\n')));
  for (std::string column; std::getline(head, column, ',');) columns.insert(column);
  return columns;
}

class FiguresOfATrace : public SmallTrace {};

TEST_F(FiguresOfATrace, AreAllInJsonAndCsv) {
  const json run = printed_json("report {} --json", path_)["runs"][1];
  const std::set<std::string> columns = csv_columns(run_line("report {} --csv", path_).out);
  for (const simulator::MeasuredFigure& figure : simulator::measured_figures()) {
    EXPECT_TRUE(has(run, figure.key)) << figure.key;
    std::string column = figure.key;
    std::replace(column.begin(), column.end(), '.', '_');
    if (figure.format == FigureFormat::list || figure.format == FigureFormat::repeats) {
      EXPECT_THAT(columns, Not(Contains(column)));
    } else if (figure.format == FigureFormat::interval) {
      EXPECT_THAT(columns, Contains(column + "_low"));
      EXPECT_THAT(columns, Contains(column + "_high"));
    } else {
      EXPECT_THAT(columns, Contains(column));
    }
  }
}

TEST_F(FiguresOfATrace, AreInDocumentsThatSayTheirFormat) {
  for (const std::string command : {"report", "explain", "compare", "inspect"})
    EXPECT_EQ(printed_json(command + " {} --json", path_).at("format"), json_format) << command;
  EXPECT_EQ(printed_json("strategies --json").at("format"), json_format);
  EXPECT_EQ(json_format, 2);
}

TEST(RoundColumns, HaveOneNameEach) {
  std::set<std::string_view> keys;
  std::set<std::string_view> titles;
  for (const simulator::RoundColumn& column : simulator::round_columns()) {
    EXPECT_TRUE(keys.insert(column.key).second) << column.key;
    EXPECT_TRUE(titles.insert(column.title).second) << column.title;
    EXPECT_FALSE(column.explanation.empty()) << column.key;
    EXPECT_EQ(simulator::round_columns()[simulator::round_column_index(column.key)].key, column.key);
  }
  EXPECT_EQ(simulator::round_column_index("nothing"), simulator::round_columns().size());
}

TEST(RoundColumns, SayWhatARoundIsWithoutAPromptOrDraft) {
  const traces::Round round{.start_ns = 10, .end_ns = 30, .verify_ns = 15};
  const traces::Request request{.repeat = 2};
  const simulator::RoundRow row{.round = &round, .request = &request, .place = 7};
  const auto value = [&](std::string_view key) {
    return simulator::round_columns()[simulator::round_column_index(key)].get(row);
  };
  EXPECT_EQ(std::get<std::int64_t>(value("round")), 7);
  EXPECT_EQ(std::get<simulator::RequestLabel>(value("request")).repeat, 2);
  EXPECT_EQ(std::get<std::string_view>(value("category")), "");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(value("exit_layer")));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(value("threshold")));
  EXPECT_EQ(std::get<std::int64_t>(value("other_ns")), 5);
  EXPECT_EQ(std::get<std::int64_t>(value("round_ns")), 20);
}

}  // namespace
}  // namespace draftscope::cli
