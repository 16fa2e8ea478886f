// SPDX-License-Identifier: GPL-3.0-or-later
#include "report_header.h"

#include <draftscope/simulator/predicted_trace.h>
#include <draftscope/traces/import_lacks.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "imported_figures.h"
#include "report_numbers.h"
#include "table.h"

namespace draftscope::cli {

namespace {

using traces::Meta;

/// Joins the parts that are not empty.
std::string joined(const std::vector<std::string>& parts, const Glyphs& glyphs) {
  std::string line;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!line.empty()) line += glyphs.separator();
    line += part;
  }
  return printable(line);
}

/// "{value} {unit}" if the file states the key.
std::string stated(const Meta& meta, const std::string& key, std::string_view unit) {
  const std::string value = meta_value(meta, key);
  return value.empty() ? value : fmt::format("{} {}", value, unit);
}

std::string model_line(const traces::Recording& recording, const Glyphs& glyphs) {
  const Meta& meta = recording.meta;
  const std::string name = meta_value(meta, "model");
  const std::int32_t layers = simulator::model_layers(recording);
  return joined({name.empty() ? "unknown model" : name, layers > 0 ? fmt::format("{} layers", layers) : "",
                 meta_value(meta, "dtype"), meta_value(meta, "weights") == "fp8" ? "layers in fp8" : "",
                 meta_value(meta, "synthetic") == "1" ? "synthetic weights" : ""},
                glyphs);
}

std::string machine_line(const Meta& meta, const Glyphs& glyphs) {
  const std::string device = meta_value(meta, "device");
  const std::string line =
      joined({meta_value(meta, "hostname"), meta_value(meta, "processor"),
              device.empty() ? "" : "device " + device, stated(meta, "threads", "threads")},
             glyphs);
  return line.empty() ? "unknown" : line;
}

std::string decoding_line(const traces::Recording& recording, const Glyphs& glyphs) {
  std::set<std::int32_t> repeats;
  std::set<std::int64_t> prompts;
  for (const traces::Request& request : recording.requests) {
    repeats.insert(request.repeat);
    prompts.insert(request.prompt);
  }
  const std::string limit = meta_value(recording.meta, "max_tokens");
  const bool temperature_is_unknown =
      !import_note(recording.meta).empty() && meta_value(recording.meta, "temperature").empty();
  return joined({temperature_is_unknown      ? ""
                 : is_greedy(recording.meta) ? "greedy"
                                             : "temperature " + meta_value(recording.meta, "temperature"),
                 limit.empty() ? "" : "at most " + limit + " new tokens",
                 fmt::format("{} prompts {} {} repeats", prompts.size(), glyphs.times(), repeats.size())},
                glyphs);
}

/// "predicted from run.dstrace for H200: …"; empty for a recording.
std::string prediction_note(const Meta& meta) {
  if (!simulator::is_predicted(meta)) return {};
  const std::string version = meta_value(meta, "predicted_from_version");
  const bool has_prefill = !traces::lacks(meta, traces::Lack::prefill_times);
  std::string note = fmt::format(
      "predicted from {}{}, machine: {}; no time here was measured{}", meta_value(meta, "predicted_from"),
      version.empty() ? "" : " (version " + version + ")", meta_value(meta, "predicted_machine"),
      has_prefill ? " but the prefills'" : ", and prefills are left out");
  const auto runs = nlohmann::json::parse(meta_value(meta, "predicted_runs"), nullptr, false);
  std::set<std::string> kinds;
  if (runs.is_object())
    for (const auto& [strategy, run] : runs.items())
      if (run.is_object())
        kinds.insert(run.value("rounds_source", "unknown") + " and " + run.value("status", "unknown"));
  if (!kinds.empty()) note += fmt::format("; rounds are {}", fmt::join(kinds, ", "));
  return note;
}

}  // namespace

std::vector<std::string> warnings(const MeasuredRecording& measured) {
  const traces::Recording& recording = *measured.recording;
  std::vector<std::string> lines;
  if (std::string note = prediction_note(recording.meta); !note.empty()) lines.push_back(printable(note));
  if (std::string note = import_note(recording.meta); !note.empty()) lines.push_back(printable(note));
  if (!recording.closed_cleanly)
    lines.emplace_back(
        "the recording was not closed cleanly; what was committed before it broke off is shown");
  for (const auto& [table, rows] : dropped_rows(recording.meta))
    lines.push_back(fmt::format("{} {} were dropped while recording{}", rows, table,
                                table == "spans" ? "; time that they covered counts as idle" : ""));
  if (measured.figures.baseline == nullptr)
    lines.emplace_back("no finished vanilla run in this recording, so no speedup is given");
  for (const simulator::RunFigures& run : measured.figures.runs) {
    const simulator::Figures& figures = run.all;
    const std::string name = printable(figures.run->specification);
    if (figures.throughput.unfinished_requests > 0)
      lines.push_back(fmt::format("{}: {} unfinished requests are left out", name,
                                  figures.throughput.unfinished_requests));
    if (is_greedy(recording.meta) && figures.identity && figures.identity->differing_prompts > 0)
      lines.push_back(fmt::format("{}: greedy output differs from vanilla on {} of {} prompts", name,
                                  figures.identity->differing_prompts, figures.identity->compared_prompts));
    if (figures.speedup && figures.speedup->unpaired > 0)
      lines.push_back(
          fmt::format("{}: {} requests have no partner in the other run and don't count in the speedup", name,
                      figures.speedup->unpaired));
  }
  return lines;
}

std::string header_text(const MeasuredRecording& measured, const Glyphs& glyphs) {
  const traces::Recording& recording = *measured.recording;
  std::string text;
  const auto add = [&text](std::string_view label, std::string_view line) {
    text += fmt::format("{:<10} {}\n", label, line);
  };
  add("recording",
      joined({recording.path.filename().string(), fmt::format("schema {}", measured.schema_version),
              recording.closed_cleanly ? "closed cleanly" : "not closed cleanly",
              simulator::is_predicted(recording.meta) ? "predicted" : ""},
             glyphs));
  add("model", model_line(recording, glyphs));
  add("machine", machine_line(recording.meta, glyphs));
  add("decoding", decoding_line(recording, glyphs));
  for (const std::string& warning : warnings(measured)) add("warning", warning);
  return text;
}

}  // namespace draftscope::cli
