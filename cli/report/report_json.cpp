// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_json.h"

#include <draftscope/simulator/analysis/figure_tables.h>

#include <string>

#include "report/report_json_parts.h"

namespace draftscope::cli {

std::string report_json(const simulator::MeasuredRecording& measured, bool by_category) {
  Json json = new_document();
  json["recording"] = recording_json(measured);
  const traces::Run* baseline = measured.figures.baseline;
  json["baseline_run_id"] = baseline == nullptr ? Json(nullptr) : Json(baseline->id.value());
  Json& runs = json["runs"] = Json::array();
  for (const simulator::RunFigures& run : measured.figures.runs) {
    Json figures = figures_json(run.all);
    if (by_category) {
      Json& parts = figures["categories"] = Json::array();
      for (const simulator::Figures& part : run.by_category) {
        Json part_json = Json::object();
        part_json["category"] = part.category;
        part_json.update(figures_json(part));
        parts.push_back(std::move(part_json));
      }
    }
    runs.push_back(std::move(figures));
  }
  return json_text(json);
}

std::string report_csv(const simulator::MeasuredRecording& measured, bool by_category) {
  const auto row_of = [&](const simulator::Figures& figures) {
    Json row = Json::object();
    row["recording"] = measured.recording->path.filename().string();
    if (by_category) row["category"] = figures.category;
    add_run(row, *figures.run);
    simulator::add_csv_figures(row, simulator::named_figures(simulator::measured_figures(), figures));
    return row;
  };
  // Every file has the same columns, whatever was recorded.
  const traces::Run none;
  simulator::Figures absent;
  absent.run = &none;
  std::string text = csv_header(row_of(absent));
  for (const simulator::RunFigures& run : measured.figures.runs) {
    if (!by_category)
      text += csv_line(row_of(run.all));
    else
      for (const simulator::Figures& part : run.by_category) text += csv_line(row_of(part));
  }
  return text;
}

}  // namespace draftscope::cli
