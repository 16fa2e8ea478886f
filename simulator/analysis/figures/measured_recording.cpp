// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/traces/merge.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>

#include <fmt/ranges.h>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

/// Reason for missing figures: data that the source of an imported file lacks.
std::string reason(const traces::Recording& recording) {
  const std::string note = import_note(recording.meta);
  return note.empty() ? note : fmt::format(" ({})", note);
}

/// The depth-0 spans of a trace, which phase breakdowns need: a few per round.
Result<std::vector<traces::Span>> read_phase_spans(traces::Reader& reader) {
  std::vector<traces::Span> phases;
  DRAFTSCOPE_TRY(reader.spans([&phases](const traces::Span& span) {
    if (span.depth == 0) phases.push_back(span);
    return true;
  }));
  return phases;
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "unknown";
}

/// Titles of the figures that the source states: "M, acceptance".
std::string stated_titles(const Figures& figures) {
  std::string titles;
  for (const MeasuredFigure& figure : measured_figures())
    if (figures.stated.contains(figure.key)) titles += (titles.empty() ? "" : ", ") + figure.title;
  return titles;
}

/// Describes a prediction and its certainty: "predicted from run.dstrace, machine: H200; …". Empty for a
/// recording.
std::string prediction_note(const traces::Meta& meta) {
  if (!is_predicted(meta)) return {};
  const std::string version = meta_value(meta, "predicted_from_version");
  const bool has_prefill = !traces::is_missing(meta, traces::MissingData::prefill_times);
  std::string note = fmt::format(
      "predicted from {}{}, machine: {}; no time here was measured{}", meta_value(meta, "predicted_from"),
      version.empty() ? "" : " (version " + version + ")", meta_value(meta, "predicted_machine"),
      has_prefill ? " but the prefills'" : ", and prefills are left out");
  std::set<std::string> kinds;
  for (const nlohmann::json& run : meta_object(meta, "predicted_runs"))
    if (run.is_object()) kinds.insert(text_of(run, "rounds_source") + " and " + text_of(run, "status"));
  if (!kinds.empty()) note += fmt::format("; rounds are {}", fmt::join(kinds, ", "));
  return note;
}

}  // namespace

Result<MeasuredRecording> read_measured(traces::Reader& reader) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Recording recording, reader.recording());
  MeasuredRecording measured;
  measured.schema_version = reader.schema_version();
  measured.recording = std::make_unique<traces::Recording>(std::move(recording));
  DRAFTSCOPE_TRY_ASSIGN(measured.phase_spans, read_phase_spans(reader));
  DRAFTSCOPE_TRY_ASSIGN(measured.device_intervals, read_device_intervals(reader, *measured.recording));
  if (operation_tracks(*measured.recording).timed_by_device) {
    DRAFTSCOPE_TRY_ASSIGN(measured.operations, read_operations(reader, *measured.recording));
  }
  measured.figures = measure(*measured.recording, measured.phase_spans, measured.device_intervals);
  drop_unavailable(measured.figures, measured.recording->meta);
  return measured;
}

Result<MeasuredRecording> measure_recording(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(path));
  DRAFTSCOPE_TRY_ASSIGN(MeasuredRecording measured, read_measured(reader));
  const traces::Recording& recording = *measured.recording;
  const bool is_import = traces::is_imported(recording.meta);
  if (recording.runs.empty()) {
    if (is_import) {
      DRAFTSCOPE_TRY_ASSIGN(measured.timeline, summarise_timeline(reader));
      if (measured.timeline->ranges + measured.timeline->device_activities > 0) return measured;
    }
    return fail("{}: no run was recorded, expected one to report{}", path.string(), reason(recording));
  }
  if (recording.rounds.empty() && !is_import)
    return fail("{}: no round was recorded, expected one to report", path.string());
  const auto has_figures = [](const RunFigures& run) {
    return run.all.throughput.requests > 0 || !run.all.stated.empty();
  };
  if (std::none_of(measured.figures.runs.begin(), measured.figures.runs.end(), has_figures))
    return recording.requests.empty()
               ? fail("{}: found neither a request nor a figure of this table, expected one to report{}",
                      path.string(), reason(recording))
               : fail("{}: none of its {} requests was finished, expected one to report{}", path.string(),
                      recording.requests.size(), reason(recording));
  return measured;
}

std::string meta_value(const traces::Meta& meta, const std::string& key) {
  const auto found = meta.find(key);
  return found == meta.end() ? std::string() : found->second;
}

bool has_layer_times(const traces::Meta& meta) {
  const std::string level = meta_value(meta, "level");
  return level == "layers" || level == "ops";
}

std::map<std::string, std::int64_t> dropped_rows(const traces::Meta& meta) {
  std::map<std::string, std::int64_t> dropped;
  for (const char* table : {"spans", "kernels", "counters"}) {
    const std::string text = meta_value(meta, std::string("dropped_") + table);
    const std::int64_t rows = parse_number<std::int64_t>(text).value_or(0);
    if (rows > 0) dropped[table] = rows;
  }
  return dropped;
}

bool is_greedy(const traces::Meta& meta) {
  const std::string temperature = meta_value(meta, "temperature");
  return temperature.empty() || parse_number<double>(temperature) == 0.0;
}

std::vector<std::string> warnings(const MeasuredRecording& measured) {
  const traces::Recording& recording = *measured.recording;
  std::vector<std::string> lines;
  if (measured.schema_version > traces::newest_schema_version())
    lines.push_back(
        fmt::format("its schema {} is newer than this program, which shows what it knows (schema {})",
                    measured.schema_version, traces::newest_schema_version()));
  if (std::string note = prediction_note(recording.meta); !note.empty()) lines.push_back(std::move(note));
  if (std::string note = import_note(recording.meta); !note.empty()) lines.push_back(std::move(note));
  if (std::string remarks = meta_value(recording.meta, "import_remarks"); !remarks.empty())
    lines.push_back(std::move(remarks));
  if (std::string note = traces::missing_shards_note(recording.meta); !note.empty())
    lines.push_back(std::move(note));
  if (!recording.closed_cleanly)
    lines.emplace_back(
        "the recording was not closed cleanly, or is still being written; what was committed before it was "
        "read is "
        "shown");
  if (const std::string planned = meta_value(recording.meta, "requests_planned"); !planned.empty())
    lines.push_back(fmt::format("the recording was interrupted after {} of {} requests",
                                recording.requests.size(), planned));
  for (const auto& [table, rows] : dropped_rows(recording.meta))
    lines.push_back(fmt::format("{} {} were dropped while recording{}", rows, table,
                                table == "spans" ? "; time that they covered counts as idle" : ""));
  if (measured.figures.baseline == nullptr && !measured.timeline)
    lines.emplace_back("no finished vanilla run in this recording, so no speedup is given");
  for (const RunFigures& run : measured.figures.runs) {
    const Figures& figures = run.all;
    const std::string name = figures.run->specification;
    if (figures.throughput.unfinished_requests > 0)
      lines.push_back(
          fmt::format("{}: unfinished requests left out: {}", name, figures.throughput.unfinished_requests));
    if (is_greedy(recording.meta) && figures.identity && figures.identity->differing_prompts > 0)
      lines.push_back(fmt::format("{}: greedy output differs from vanilla on {} of {} prompts", name,
                                  figures.identity->differing_prompts, figures.identity->compared_prompts));
    if (reports_no_speculation(figures, recording.meta))
      lines.push_back(fmt::format("{}: its source reports no speculation", name));
    if (!figures.stated.empty())
      lines.push_back(
          fmt::format("{}: stated by its source, not counted from rounds: {}", name, stated_titles(figures)));
    if (figures.speedup && figures.speedup->unpaired > 0)
      lines.push_back(
          fmt::format("{}: {} requests have no partner in the other run and don't count in the speedup", name,
                      figures.speedup->unpaired));
  }
  for (std::string& note : short_drafts_notes(recording)) lines.push_back(std::move(note));
  for (const RunRows& run : rows_by_run(recording))
    if (std::string note = known_texts_note(run); !note.empty()) lines.push_back(std::move(note));
  return lines;
}

bool is_predicted(const traces::Meta& meta) {
  return meta.contains("predicted_from");
}

}  // namespace draftscope::simulator
