// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording with its figures, as reports and views need it, and the reasons to doubt them.

#include <draftscope/base/result.h>
#include <draftscope/simulator/figures/figures.h>
#include <draftscope/traces/reader.h>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct MeasuredRecording {
  int schema_version = 0;
  /// On the heap, because the figures point into it.
  std::unique_ptr<traces::Recording> recording;
  std::vector<traces::Span> phase_spans;
  std::vector<DeviceInterval> device_intervals;
  RecordingFigures figures;
};

/// Reads and measures what there is, be it no round at all. Errors: unreadable tables.
[[nodiscard]] Result<MeasuredRecording> read_measured(traces::Reader& reader);

/// The same of a file. Fails if the file is not a readable trace, or holds no finished request with rounds.
[[nodiscard]] Result<MeasuredRecording> measure_recording(const std::filesystem::path& path);

/// The meta value of a key, or nothing.
[[nodiscard]] std::string meta_value(const traces::Meta& meta, const std::string& key);

/// Rows that the writer dropped because its queue was full: "spans" → 12. Only tables that lost some.
[[nodiscard]] std::map<std::string, std::int64_t> dropped_rows(const traces::Meta& meta);

/// Sampling with a temperature makes outputs differ from run to run; greedy decoding must not.
[[nodiscard]] bool is_greedy(const traces::Meta& meta);

/// Reasons to doubt the figures, one line each: not closed cleanly, dropped rows, unfinished requests,
/// outputs that differ although decoding is greedy, no baseline. Texts of the file stand in them as they are.
[[nodiscard]] std::vector<std::string> warnings(const MeasuredRecording& measured);

}  // namespace draftscope::simulator
