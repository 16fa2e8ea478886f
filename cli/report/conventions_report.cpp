// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/reports.h"

#include <draftscope/simulator/analysis/figure_tables.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "report/figure_text.h"
#include "report/report_json.h"
#include "terminal/table.h"

namespace draftscope::cli {

namespace {

using simulator::ConventionFigures;
using simulator::ConventionRow;
using simulator::FigureOf;

constexpr std::string_view every_convention = "all";

/// Explanation of a convention, with its key and its title.
struct Explained {
  std::string_view key;
  std::string_view title;
  std::string_view ConventionRow::*text;
};

constexpr std::array<Explained, 4> explained{{
    {"sample", "a sample is", &ConventionRow::sample},
    {"acceptance", "acceptance", &ConventionRow::acceptance},
    {"accepted_length", "accepted length", &ConventionRow::accepted_length},
    {"speed", "speed", &ConventionRow::speed},
}};

bool is_absent(const FigureOf<ConventionFigures>& figure, const std::vector<ConventionFigures>& runs) {
  return std::all_of(runs.begin(), runs.end(), [&](const ConventionFigures& run) {
    return std::holds_alternative<std::monostate>(figure.get(run));
  });
}

std::string convention_table(const std::vector<ConventionFigures>& runs, const Glyphs& glyphs) {
  std::vector<const FigureOf<ConventionFigures>*> shown;
  std::vector<Column> columns{{"run", Align::left}};
  for (const FigureOf<ConventionFigures>& figure : simulator::convention_figures()) {
    if (is_absent(figure, runs)) continue;
    shown.push_back(&figure);
    columns.push_back({figure.title});
  }
  Table table(std::move(columns));
  for (const ConventionFigures& run : runs) {
    std::vector<std::string> cells{printable(run.run->specification)};
    for (const FigureOf<ConventionFigures>* figure : shown)
      cells.push_back(figure_cell(*figure, run, glyphs));
    table.add_row(std::move(cells));
  }
  return table.text(2, glyphs.columns);
}

}  // namespace

std::vector<std::string> convention_words() {
  std::vector<std::string> words;
  for (const ConventionRow& row : simulator::conventions()) words.emplace_back(row.key);
  words.emplace_back(every_convention);
  return words;
}

std::vector<ConventionRow> conventions_named(const std::string& word) {
  std::vector<ConventionRow> named;
  for (const ConventionRow& row : simulator::conventions())
    if (word == every_convention || word == row.key) named.push_back(row);
  return named;
}

std::string conventions_text(const simulator::MeasuredRecording& measured,
                             const std::vector<ConventionRow>& asked, bool tables_only,
                             const Glyphs& glyphs) {
  std::string text = header_text(measured, glyphs);
  for (const ConventionRow& row : asked) {
    text += fmt::format("\nAs {}\n{}", row.title,
                        convention_table(figures_as(row.convention, *measured.recording), glyphs));
    if (tables_only) continue;
    for (const Explained& part : explained)
      if (const std::string_view words = row.*part.text; !words.empty())
        text += fmt::format("  {}: {}\n", part.title, words);
  }
  return text;
}

std::string conventions_json(const simulator::MeasuredRecording& measured,
                             const std::vector<ConventionRow>& asked) {
  Json json = new_document();
  json["recording"] = recording_json(measured);
  Json& conventions = json["conventions"] = Json::array();
  for (const ConventionRow& row : asked) {
    Json convention = Json::object();
    convention["convention"] = row.key;
    convention["title"] = row.title;
    for (const Explained& part : explained)
      convention[std::string(part.key)] = (row.*part.text).empty() ? Json(nullptr) : Json(row.*part.text);
    Json& runs = convention["runs"] = Json::array();
    for (const ConventionFigures& run : figures_as(row.convention, *measured.recording)) {
      Json figures = Json::object();
      add_run(figures, *run.run);
      add_figures(figures, named_figures(simulator::convention_figures(), run));
      runs.push_back(std::move(figures));
    }
    conventions.push_back(std::move(convention));
  }
  return json_text(json);
}

std::string conventions_csv(const simulator::MeasuredRecording& measured,
                            const std::vector<ConventionRow>& asked) {
  std::string text;
  for (const ConventionRow& row : asked)
    for (const ConventionFigures& run : figures_as(row.convention, *measured.recording)) {
      Json line = Json::object();
      line["recording"] = measured.recording->path.filename().string();
      line["convention"] = row.key;
      add_run(line, *run.run);
      add_csv_figures(line, named_figures(simulator::convention_figures(), run));
      if (text.empty()) text = csv_header(line);
      text += csv_line(line);
    }
  return text;
}

}  // namespace draftscope::cli
