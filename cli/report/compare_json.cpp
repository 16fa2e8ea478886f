// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/figure_tables.h>

#include "report/compare_text.h"

namespace draftscope::cli {

namespace {

using simulator::Figures;
using simulator::NamedFigure;
using simulator::RunComparison;

Json comparison_json(const RunComparison& run) {
  Json json = Json::object();
  json["specification"] = run.baseline->specification;
  json["baseline_run_id"] = run.baseline->id.value();
  json["comparison_run_id"] = run.comparison->id.value();
  json["ratio_across_recordings"] =
      run.ratio ? simulator::figures_object(simulator::ratio_figures(), *run.ratio) : Json(nullptr);
  json["adjusted_p_value"] = json_or_null(run.adjusted_p_value);
  json["verdict"] = run.ratio ? Json(verdict(run.ratio->value, run.adjusted_p_value)) : Json(nullptr);
  json["identity"] = simulator::figures_object(simulator::identity_figures(), run.identity);
  return json;
}

Json winner_json(const simulator::Winner& winner) {
  Json json = Json::object();
  json["category"] = winner.category.empty() ? Json(nullptr) : Json(winner.category);
  json["run_id"] = winner.run->id.value();
  json["runner_up_run_id"] = winner.runner_up->id.value();
  json["lead"] =
      winner.lead ? simulator::figures_object(simulator::ratio_figures(), *winner.lead) : Json(nullptr);
  return json;
}

std::vector<NamedFigure> shown_figures(const Figures& figures) {
  std::vector<NamedFigure> shown;
  for (const std::string_view key : simulator::figure_table(simulator::FigureTable::comparison_csv)) {
    const simulator::MeasuredFigure& figure = simulator::measured_figure(key);
    shown.push_back({figure.key, figure.format, figure.get(figures)});
  }
  return shown;
}

/// The ratio to the first recording and its interval; without values where there is none.
std::vector<NamedFigure> ratio_cells(const RunComparison* across) {
  std::vector<NamedFigure> shown;
  for (const std::string_view key : {"value", "interval_95"}) {
    const simulator::FigureOf<simulator::Speedup>& figure = simulator::ratio_figure(key);
    const bool has_ratio = across != nullptr && across->ratio;
    shown.push_back(
        {figure.key, figure.format, has_ratio ? figure.get(*across->ratio) : simulator::FigureValue()});
  }
  return shown;
}

}  // namespace

std::string compare_json(const Comparisons& comparisons) {
  Json json = new_document();
  Json& recordings = json["recordings"] = Json::array();
  for (const simulator::MeasuredRecording& measured : comparisons.recordings) {
    Json entry = recording_json(measured);
    const traces::Run* baseline = measured.figures.baseline;
    entry["baseline_run_id"] = baseline == nullptr ? Json(nullptr) : Json(baseline->id.value());
    Json& runs = entry["runs"] = Json::array();
    for (const simulator::RunFigures& run : measured.figures.runs) runs.push_back(figures_json(run.all));
    Json& winners = entry["winners"] = Json::array();
    for (const simulator::Winner& winner : simulator::winners(*measured.recording))
      winners.push_back(winner_json(winner));
    recordings.push_back(std::move(entry));
  }
  Json& against = json["against_first"] = Json::array();
  for (std::size_t i = 0; i < comparisons.against_first.size(); ++i) {
    Json entry = Json::object();
    entry["recording"] = i + 1;
    Json& differences = entry["meta_differences"] = Json::array();
    for (const simulator::MetaDifference& difference : comparisons.against_first[i].meta)
      differences.push_back({{"key", difference.key},
                             {"first", difference.baseline},
                             {"other", difference.comparison},
                             {"changes_experiment", difference.changes_experiment}});
    Json& runs = entry["runs"] = Json::array();
    for (const RunComparison& run : comparisons.against_first[i].runs) runs.push_back(comparison_json(run));
    against.push_back(std::move(entry));
  }
  return json_text(json);
}

std::string compare_csv(const Comparisons& comparisons) {
  std::string text;
  for (std::size_t i = 0; i < comparisons.recordings.size(); ++i) {
    const simulator::MeasuredRecording& measured = comparisons.recordings[i];
    for (const simulator::RunFigures& run : measured.figures.runs) {
      const Figures& figures = run.all;
      const RunComparison* across = nullptr;
      if (i > 0)
        for (const RunComparison& candidate : comparisons.against_first[i - 1].runs)
          if (candidate.comparison->id == figures.run->id) across = &candidate;
      Json row = Json::object();
      row["recording"] = measured.recording->path.filename().string();
      row["specification"] = figures.run->specification;
      row["is_baseline"] = figures.run->is_baseline;
      simulator::add_csv_figures(row, shown_figures(figures));
      simulator::add_csv_figures(row, ratio_cells(across), "ratio_across_recordings_");
      row["adjusted_p_value"] = across != nullptr ? json_or_null(across->adjusted_p_value) : Json(nullptr);
      if (text.empty()) text = csv_header(row);
      text += csv_line(row);
    }
  }
  return text;
}

}  // namespace draftscope::cli
