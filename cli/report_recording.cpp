// SPDX-License-Identifier: GPL-3.0-or-later
#include "report_recording.h"

#include <draftscope/simulator/phase_spans.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "imported_figures.h"

namespace draftscope::cli {

namespace {

/// What an imported file's source did not hold explains what is missing.
std::string reason(const traces::Recording& recording) {
  const std::string note = import_note(recording.meta);
  return note.empty() ? note : fmt::format(" ({})", note);
}

}  // namespace

Result<MeasuredRecording> measure_recording(const std::filesystem::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(path));
  DRAFTSCOPE_TRY_ASSIGN(traces::Recording recording, reader.recording());
  if (recording.runs.empty())
    return fail("{}: no run was recorded, so there is nothing to report{}", path.string(), reason(recording));
  if (recording.rounds.empty())
    return fail("{}: no round was recorded, so there is nothing to report{}", path.string(),
                reason(recording));
  MeasuredRecording measured;
  measured.schema_version = reader.schema_version();
  measured.recording = std::make_unique<traces::Recording>(std::move(recording));
  DRAFTSCOPE_TRY_ASSIGN(measured.phase_spans, simulator::read_phase_spans(reader));
  DRAFTSCOPE_TRY_ASSIGN(measured.device_intervals,
                        simulator::read_device_intervals(reader, *measured.recording));
  measured.figures = simulator::measure(*measured.recording, measured.phase_spans, measured.device_intervals);
  leave_out_what_lacks(measured.figures, measured.recording->meta);
  const auto has_requests = [](const simulator::RunFigures& run) { return run.all.throughput.requests > 0; };
  if (std::none_of(measured.figures.runs.begin(), measured.figures.runs.end(), has_requests))
    return fail("{}: none of its {} requests was finished, so there is nothing to report", path.string(),
                measured.recording->requests.size());
  return measured;
}

std::string meta_value(const traces::Meta& meta, const std::string& key) {
  const auto found = meta.find(key);
  return found == meta.end() ? std::string() : found->second;
}

std::map<std::string, std::int64_t> dropped_rows(const traces::Meta& meta) {
  std::map<std::string, std::int64_t> dropped;
  for (const char* table : {"spans", "kernels", "counters"}) {
    const std::string text = meta_value(meta, std::string("dropped_") + table);
    const std::int64_t rows = std::strtoll(text.c_str(), nullptr, 10);
    if (rows > 0) dropped[table] = rows;
  }
  return dropped;
}

bool is_greedy(const traces::Meta& meta) {
  const std::string temperature = meta_value(meta, "temperature");
  return temperature.empty() || std::strtod(temperature.c_str(), nullptr) == 0.0;
}

}  // namespace draftscope::cli
