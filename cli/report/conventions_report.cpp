// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/reports.h"

#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/question_names.h>
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

/// The figures of all runs by one convention: those of each run, or of each run and category, run by run.
std::vector<ConventionFigures> rows_as(simulator::Convention convention, const traces::Recording& recording,
                                       bool by_category) {
  if (!by_category) return figures_as(convention, recording);
  std::vector<ConventionFigures> rows;
  for (const auto& parts : category_figures_as(convention, recording))
    rows.insert(rows.end(), parts.begin(), parts.end());
  return rows;
}

std::string convention_table(const std::vector<ConventionFigures>& runs, bool by_category,
                             const Glyphs& glyphs) {
  std::vector<const FigureOf<ConventionFigures>*> shown;
  Table table({{"run", Align::left}});
  if (by_category) table.add_column("category", Align::left);
  for (const FigureOf<ConventionFigures>& figure : simulator::convention_figures()) {
    if (is_absent(figure, runs)) continue;
    shown.push_back(&figure);
    table.add_column(figure.title);
  }
  for (const ConventionFigures& run : runs) {
    table.add_row({printable(run.run->specification)});
    if (by_category) table.add_cell(printable(simulator::category_name(run.category)));
    for (const FigureOf<ConventionFigures>* figure : shown) table.add_cell(figure_cell(*figure, run, glyphs));
  }
  return table.text(2, glyphs.columns);
}

Json run_json(const ConventionFigures& run) {
  Json figures = Json::object();
  add_run(figures, *run.run);
  add_figures(figures, named_figures(simulator::convention_figures(), run));
  return figures;
}

/// A run's figures for one category of prompts.
Json part_json(const ConventionFigures& run) {
  Json figures{{"category", run.category}};
  figures.update(run_json(run));
  return figures;
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

std::string convention_explanation(const ConventionRow& row) {
  std::string text;
  for (const Explained& part : explained)
    if (const std::string_view words = row.*part.text; !words.empty())
      text += fmt::format("  {}: {}\n", part.title, words);
  return text;
}

std::string conventions_text(const simulator::MeasuredRecording& measured,
                             const std::vector<ConventionRow>& asked, const ReportOptions& options,
                             const Glyphs& glyphs) {
  std::string text = header_text(measured, glyphs);
  for (const ConventionRow& row : asked) {
    const auto table_by = [&](bool by_category) {
      return convention_table(rows_as(row.convention, *measured.recording, by_category), by_category, glyphs);
    };
    text += fmt::format("\nAs {}\n{}", row.title, table_by(false));
    if (options.by_category) text += "  By category\n" + table_by(true);
    if (!options.tables_only) text += convention_explanation(row);
  }
  return text;
}

std::string conventions_json(const simulator::MeasuredRecording& measured,
                             const std::vector<ConventionRow>& asked, bool by_category) {
  Json json = recording_document(measured);
  json["conventions"] = json_list(asked, [&](const ConventionRow& row) {
    Json convention = Json::object();
    convention["convention"] = row.key;
    convention["title"] = row.title;
    for (const Explained& part : explained)
      convention[std::string(part.key)] = (row.*part.text).empty() ? Json(nullptr) : Json(row.*part.text);
    Json& runs = convention["runs"] = json_list(figures_as(row.convention, *measured.recording), run_json);
    if (by_category) {
      const auto by_run = category_figures_as(row.convention, *measured.recording);
      for (std::size_t i = 0; i < runs.size(); ++i)
        runs.at(i)["categories"] = json_list(by_run[i], part_json);
    }
    return convention;
  });
  return json_text(json);
}

std::string conventions_csv(const simulator::MeasuredRecording& measured,
                            const std::vector<ConventionRow>& asked, bool by_category) {
  std::string text;
  for (const ConventionRow& row : asked)
    for (const ConventionFigures& run : rows_as(row.convention, *measured.recording, by_category)) {
      Json line = Json::object();
      line["recording"] = measured.recording->path.filename().string();
      line["convention"] = row.key;
      if (by_category) line["category"] = run.category;
      add_run(line, *run.run);
      add_csv_figures(line, named_figures(simulator::convention_figures(), run));
      add_csv_row(text, line);
    }
  return text;
}

}  // namespace draftscope::cli
