// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording with its figures, as reports and views need it, and the reasons to doubt them.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/overview.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace draftscope::simulator {

struct MeasuredRecording {
  int schema_version = 0;
  /// On the heap, because the figures point into it.
  std::unique_ptr<traces::Recording> recording;
  std::vector<traces::Span> phase_spans;
  std::vector<DeviceInterval> device_intervals;
  RecordedOperations operations;  ///< no rows where a device did not time them
  RecordingFigures figures;
};

/// Reads and measures what there is, be it no round at all. Errors: unreadable tables.
[[nodiscard]] Result<MeasuredRecording> read_measured(traces::Reader& reader);

/// Reads and measures a file. Fails if the file is not a readable trace, or holds no finished request with
/// rounds.
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

// The figures that follow from a recording's requests and the overview that it stores, before its rounds are
// read: throughput, speedup and identity; acceptance without positions, lengths, stops and the tested rate;
// loaded layers; costs; the breakdown by the rounds' times. What they have is what measure() gives without
// spans, if the overview agrees with the rows. By run, not by category.

/// `outline` is the recording without its rounds; the figures point into it.
[[nodiscard]] RecordingFigures measure_overview(const traces::Recording& outline,
                                                std::span<const traces::RequestSum> sums);

// The wall time of runs by phase, of spans that are met once and not kept: for recordings with so many that
// holding them would cost more than all the rest. The answer is that of measure() with the same spans.
//
// Memory: 24 bytes a phase span until the breakdown is done.

/// Thread-safety: one thread at a time.
class StreamedPhases {
 public:
  /// In any order; only phases (depth 0) of requests count.
  void add(const traces::Span& span);
  /// Adds the spans that another met.
  void add(StreamedPhases&& other);

  /// Puts the breakdowns into figures that were measured without spans. Runs with a request without spans
  /// keep what they have.
  void complete(const traces::Recording& recording, RecordingFigures& figures);

 private:
  struct Interval {
    std::int64_t start_ns;
    std::int64_t end_ns;
    traces::Phase phase;
  };
  using Intervals = std::vector<Interval>;

  [[nodiscard]] static Breakdown breakdown(Intervals& intervals, std::int64_t start_ns, std::int64_t end_ns);

  std::unordered_map<traces::RequestId, Intervals> requests_;
  traces::RequestId last_request_id_;
  Intervals* last_ = nullptr;  ///< of last_request_id_
};

// Figures of an imported trace: what rests on something that its source lacked is left out, so that no report
// shows a placeholder as a measurement (draftscope/traces/missing_data.h).

void drop_unavailable(RecordingFigures& figures, const traces::Meta& meta);

/// "imported from a.jsonl, which lacks draft lengths, token ids": empty for what was recorded.
[[nodiscard]] std::string import_note(const traces::Meta& meta);

/// Whether an imported trace has rounds with accepted lengths, or states an acceptance rate: a timeline of
/// kernels has neither, and nothing can be predicted from it.
[[nodiscard]] bool knows_acceptance(const traces::Meta& meta);

/// Whether the file holds a prediction (predicted_trace.h) and no measurement.
[[nodiscard]] bool is_predicted(const traces::Meta& meta);

/// "predicted from run.dstrace, machine: H200; …", with what of it is how certain; empty for a recording.
[[nodiscard]] std::string prediction_note(const traces::Meta& meta);

}  // namespace draftscope::simulator
