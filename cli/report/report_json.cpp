// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_json.h"

#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "report/report_json_parts.h"

namespace draftscope::cli {

namespace {

/// What fits into one line: scalars as they are, breakdown, speedup, identity and first token with their name
/// in front, lists left out.
Json flat(const Json& figures) {
  static const std::set<std::string> nested{"breakdown", "speedup", "identity", "time_to_first_token"};
  Json row;
  for (const auto& [key, value] : figures.items()) {
    if (!nested.contains(key)) {
      if (!value.is_structured()) row[key] = value;
      continue;
    }
    for (const auto& [inner_key, inner] : value.items())
      if (!inner.is_structured() && value.is_object()) row[fmt::format("{}_{}", key, inner_key)] = inner;
  }
  return row;
}

/// The columns of figures in which nothing is absent: every file has the same ones, whatever was recorded.
Json all_columns() {
  traces::Run run;
  run.parameters = "{}";
  simulator::Figures figures;
  figures.run = &run;
  figures.throughput.time_to_first_token.emplace();
  figures.breakdown.source = simulator::BreakdownSource::spans;
  figures.speedup.emplace();
  figures.identity.emplace();
  return flat(figures_json(figures));
}

std::string csv_of(const std::vector<Json>& rows, bool by_category) {
  Json columns;
  columns["recording"] = nullptr;
  if (by_category) columns["category"] = nullptr;
  columns.update(all_columns());
  for (auto& value : columns) value = nullptr;
  std::string text = csv_header(columns);
  for (const Json& row : rows) {
    Json line = columns;
    for (const auto& [key, value] : row.items())
      if (line.contains(key)) line[key] = value;
    text += csv_line(line);
  }
  return text;
}

}  // namespace

std::string report_json(const simulator::MeasuredRecording& measured, bool by_category) {
  Json json;
  json["recording"] = recording_json(measured);
  const traces::Run* baseline = measured.figures.baseline;
  json["baseline_run_id"] = baseline == nullptr ? Json(nullptr) : Json(baseline->id);
  Json& runs = json["runs"] = Json::array();
  for (const simulator::RunFigures& run : measured.figures.runs) {
    Json figures = figures_json(run.all);
    if (by_category) {
      Json& parts = figures["categories"] = Json::array();
      for (const simulator::Figures& part : run.by_category) {
        Json part_json;
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
  std::vector<Json> rows;
  const auto add = [&](const simulator::Figures& figures) {
    Json row;
    row["recording"] = measured.recording->path.filename().string();
    if (by_category) row["category"] = figures.category;
    row.update(flat(figures_json(figures)));
    rows.push_back(std::move(row));
  };
  for (const simulator::RunFigures& run : measured.figures.runs) {
    if (!by_category)
      add(run.all);
    else
      for (const simulator::Figures& part : run.by_category) add(part);
  }
  return csv_of(rows, by_category);
}

}  // namespace draftscope::cli
