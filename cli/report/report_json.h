// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The report for programs, and the parts shared by all documents: format number, JSON of recordings and runs,
// lines of CSV. cli/OUTPUT.md describes every key. Absent values are null (JSON) or empty (CSV).

#include <draftscope/base/json_text.h>
#include <draftscope/simulator/analysis/figure_json.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace draftscope::cli {

[[nodiscard]] std::string report_json(const simulator::MeasuredRecording& measured, bool by_category);

/// CSV with one line per run, or per run and category.
[[nodiscard]] std::string report_csv(const simulator::MeasuredRecording& measured, bool by_category);

using Json = nlohmann::ordered_json;

/// Value of "format" in every document that --json prints. It increases when a key moves or changes its
/// meaning.
inline constexpr int json_format = 2;

/// Object with the format number, to which a document adds its keys.
[[nodiscard]] Json new_document();

template <typename T>
[[nodiscard]] Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// A list with an entry for each element.
template <typename Elements, typename EntryOf>
[[nodiscard]] Json json_list(const Elements& elements, const EntryOf& entry_of) {
  Json list = Json::array();
  for (const auto& element : elements) list.push_back(entry_of(element));
  return list;
}

/// Interval as [low, high], or null.
[[nodiscard]] Json interval_json(const std::optional<simulator::Interval>& interval);

/// Document about a recording, to which a report adds its keys.
[[nodiscard]] Json recording_document(const simulator::MeasuredRecording& measured);
/// Object with path, schema version, whether it was closed cleanly, warnings, and meta.
[[nodiscard]] Json recording_json(const simulator::MeasuredRecording& measured);
/// Adds the key `timeline` of an import without runs.
void add_timeline(Json& json, const simulator::MeasuredRecording& measured);
/// Adds the keys that identify a run: run_id, strategy, specification, is_baseline.
void add_run(Json& row, const traces::Run& run);
/// Row of a run with all its figures.
[[nodiscard]] Json figures_json(const simulator::Figures& figures);

/// Values as an array; null where a value is not finite, which JSON can't express.
[[nodiscard]] Json values_json(const std::vector<double>& values);

/// A field quoted as in RFC 4180 if it contains a comma, quote or line break.
[[nodiscard]] std::string csv_field(const std::string& text);
/// Scalars of `row` joined by commas and ended by a newline; null is empty.
[[nodiscard]] std::string csv_line(const Json& row);
/// Keys of `row` joined by commas and ended by a newline.
[[nodiscard]] std::string csv_header(const Json& row);
/// Adds the line of a row to a CSV, whose first row also gives the header.
void add_csv_row(std::string& csv, const Json& row);

}  // namespace draftscope::cli
