// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/report_json.h"

#include <draftscope/simulator/analysis/figure.h>

#include <cmath>
#include <string>

namespace draftscope::cli {

namespace {

/// Parses what a file stores as JSON; text of another kind becomes a string.
Json parsed_or_text(const std::string& text) {
  Json parsed = Json::parse(text, nullptr, false);
  return parsed.is_discarded() ? Json(text) : parsed;
}

}  // namespace

Json new_document() {
  return {{"format", json_format}};
}

Json interval_json(const std::optional<simulator::Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json(nullptr);
}

Json recording_document(const simulator::MeasuredRecording& measured) {
  return {{"format", json_format}, {"recording", recording_json(measured)}};
}

Json recording_json(const simulator::MeasuredRecording& measured) {
  const traces::Recording& recording = *measured.recording;
  Json json = Json::object();
  json["path"] = recording.path.string();
  json["schema_version"] = measured.schema_version;
  json["closed_cleanly"] = recording.closed_cleanly;
  json["warnings"] = simulator::warnings(measured);
  json["meta"] = recording.meta;
  if (const auto own = recording.meta.find("question_settings"); own != recording.meta.end())
    json["question_settings"] = parsed_or_text(own->second);
  return json;
}

void add_run(Json& row, const traces::Run& run) {
  row["run_id"] = run.id.value();
  row["strategy"] = run.strategy;
  row["specification"] = run.specification;
  row["is_baseline"] = run.is_baseline;
}

namespace {

Json times_json(const std::vector<simulator::NamedTime>& times) {
  return json_list(times, [](const simulator::NamedTime& time) -> Json {
    return {{"name", time.name}, {"count", time.count}, {"ns", time.ns}};
  });
}

}  // namespace

void add_timeline(Json& json, const simulator::MeasuredRecording& measured) {
  if (!measured.timeline) return;
  const simulator::TimelineSummary& timeline = *measured.timeline;
  json["timeline"] = {
      {"start_ns", timeline.start_ns},
      {"end_ns", timeline.end_ns},
      {"ranges", timeline.ranges},
      {"device_activities", timeline.device_activities},
      {"device_busy_ns", timeline.device_activities > 0 ? Json(timeline.device_busy_ns) : Json()},
      {"by_range", times_json(timeline.by_range)},
      {"by_activity", times_json(timeline.by_activity)}};
}

Json figures_json(const simulator::Figures& figures) {
  Json json = Json::object();
  add_run(json, *figures.run);
  json["parameters"] = parsed_or_text(figures.run->parameters);
  simulator::add_figures(json, simulator::named_figures(simulator::measured_figures(), figures));
  return json;
}

Json values_json(const std::vector<double>& values) {
  return json_list(values, [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); });
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_line(const Json& row) {
  std::string line;
  bool is_first = true;
  for (const auto& [key, value] : row.items()) {
    if (!is_first) line += ',';
    is_first = false;
    if (value.is_string())
      line += csv_field(value.get<std::string>());
    else if (!value.is_null())
      line += value.dump();
  }
  return line + '\n';
}

std::string csv_header(const Json& row) {
  std::string line;
  for (const auto& [key, value] : row.items()) line += (line.empty() ? "" : ",") + csv_field(key);
  return line + '\n';
}

void add_csv_row(std::string& csv, const Json& row) {
  if (csv.empty()) csv = csv_header(row);
  csv += csv_line(row);
}

std::string report_json(const simulator::MeasuredRecording& measured, bool by_category) {
  Json json = recording_document(measured);
  add_timeline(json, measured);
  const traces::Run* baseline = measured.figures.baseline;
  json["baseline_run_id"] = baseline == nullptr ? Json(nullptr) : Json(baseline->id.value());
  const auto part_json = [](const simulator::Figures& part) {
    Json figures{{"category", part.category}};
    figures.update(figures_json(part));
    return figures;
  };
  json["runs"] = json_list(measured.figures.runs, [&](const simulator::RunFigures& run) {
    Json figures = figures_json(run.all);
    if (by_category) figures["categories"] = json_list(run.by_category, part_json);
    return figures;
  });
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
