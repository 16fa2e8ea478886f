// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

namespace draftscope::simulator {

namespace {

std::string text_of(const traces::Meta& meta, const char* key) {
  const auto found = meta.find(key);
  return found == meta.end() ? std::string() : found->second;
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "unknown";
}

}  // namespace

bool is_predicted(const traces::Meta& meta) {
  return meta.contains("predicted_from");
}

std::string prediction_note(const traces::Meta& meta) {
  if (!is_predicted(meta)) return {};
  const std::string version = text_of(meta, "predicted_from_version");
  const bool has_prefill = !traces::is_missing(meta, traces::MissingData::prefill_times);
  std::string note = fmt::format(
      "predicted from {}{}, machine: {}; no time here was measured{}", text_of(meta, "predicted_from"),
      version.empty() ? "" : " (version " + version + ")", text_of(meta, "predicted_machine"),
      has_prefill ? " but the prefills'" : ", and prefills are left out");
  const auto runs = nlohmann::json::parse(text_of(meta, "predicted_runs"), nullptr, false);
  std::set<std::string> kinds;
  if (runs.is_object())
    for (const nlohmann::json& run : runs)
      if (run.is_object()) kinds.insert(text_of(run, "rounds_source") + " and " + text_of(run, "status"));
  if (!kinds.empty()) note += fmt::format("; rounds are {}", fmt::join(kinds, ", "));
  return note;
}

}  // namespace draftscope::simulator
