// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording with its figures, as reports and views need it, and reasons to doubt them.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/overview.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace draftscope::simulator {

// Where the time of a timeline went that says nothing of runs: its host ranges and device activities by name.

/// All ranges, or all device activities, of one name.
struct NamedTime {
  std::string name;
  std::int64_t count = 0;
  double ns = 0.0;  ///< Sum over the rows; of ranges without the ranges inside them.
};

struct TimelineSummary {
  std::int64_t start_ns = 0;  ///< Start of the first row.
  std::int64_t end_ns = 0;    ///< End of the last row.
  std::int64_t ranges = 0;
  std::int64_t device_activities = 0;
  std::int64_t device_busy_ns = 0;     ///< Time in which some activity ran; waits do not count.
  std::vector<NamedTime> by_range;     ///< By falling time, then by name.
  std::vector<NamedTime> by_activity;  ///< Likewise.
};

/// Reads all spans and device activities. O(n log n); memory: 16 bytes per device activity. Errors:
/// unreadable tables.
[[nodiscard]] Result<TimelineSummary> summarise_timeline(traces::Reader& reader);

struct MeasuredRecording {
  int schema_version = 0;
  /// Allocated on the heap, because the figures point into it.
  std::unique_ptr<traces::Recording> recording;
  std::vector<traces::Span> phase_spans;
  std::vector<DeviceInterval> device_intervals;
  RecordedOperations operations;  ///< Has no rows where a device did not time its operations.
  RecordingFigures figures;
  /// Names and times of an imported file without runs; measure_recording() alone fills it.
  std::optional<TimelineSummary> timeline;
};

/// Reads and measures the content, even if it has no rounds. Errors: unreadable tables.
[[nodiscard]] Result<MeasuredRecording> read_measured(traces::Reader& reader);

/// Reads and measures a file. Errors: the file is not a readable trace, or has no finished request with
/// rounds; an import may have requests, stated figures or a timeline alone.
[[nodiscard]] Result<MeasuredRecording> measure_recording(const std::filesystem::path& path);

/// Meta value of a key; empty if there is none.
[[nodiscard]] std::string meta_value(const traces::Meta& meta, const std::string& key);

/// Whether the recording has times of the layers or operations within a phase (`--level`).
[[nodiscard]] bool has_layer_times(const traces::Meta& meta);

/// Number of rows that the writer dropped because its queue was full ("spans" → 12), for tables that lost
/// some.
[[nodiscard]] std::map<std::string, std::int64_t> dropped_rows(const traces::Meta& meta);

/// Whether decoding is greedy. Sampling with a temperature makes outputs differ from run to run; greedy
/// decoding must not.
[[nodiscard]] bool is_greedy(const traces::Meta& meta);

/// Reasons to doubt the figures, one line each: not closed cleanly, interrupted, missing shards, dropped
/// rows, unfinished requests, outputs that differ although decoding is greedy, no baseline. Texts of the file
/// are inserted unchanged.
[[nodiscard]] std::vector<std::string> warnings(const MeasuredRecording& measured);

// Figures that can be computed before the rounds are read, from a recording's requests and its stored
// overview. They are throughput, speedup and identity; acceptance without positions, lengths, stops and
// tested rate; loaded layers; costs; the breakdown by the rounds' times. Their values equal those of
// measure() without spans if the overview agrees with the rows. They are per run, not per category. Loaded
// layers are absent where sums can't tell them: rounds of `auto` that drafted on weights of several formats.

/// `outline` is the recording without its rounds; the figures point into it.
[[nodiscard]] RecordingFigures measure_overview(const traces::Recording& outline,
                                                std::span<const traces::RequestSum> sums);

// Wall time of runs by phase, from spans that are read once and not stored. It serves recordings whose spans
// would take more memory than everything else. The result equals that of measure() with the same spans.
//
// Memory: 24 bytes per phase span until the breakdown is done.

/// Thread-safety: one thread at a time.
class StreamedPhases {
 public:
  /// Adds a span, in any order; only phases (depth 0) of requests count.
  void add(const traces::Span& span);
  /// Adds the spans of another object.
  void add(StreamedPhases&& other);

  /// Stores the breakdowns in figures that were measured without spans. Runs that have a request without
  /// spans stay unchanged.
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
  Intervals* last_ = nullptr;  ///< Intervals of last_request_id_.
};

// Figures of an imported trace. Figures that depend on data missing in the source are removed, so that no
// report shows a placeholder as a measurement (draftscope/traces/missing_data.h).

void drop_unavailable(RecordingFigures& figures, const traces::Meta& meta);

/// Describes an import: "imported from a.jsonl, which lacks draft lengths, token ids". Empty for a recording.
[[nodiscard]] std::string import_note(const traces::Meta& meta);

/// Something that a source states of a whole run and that no figure of the catalogue shows.
struct OtherStated {
  const traces::Run* run = nullptr;
  std::string name;   ///< The source's name.
  std::string value;  ///< JSON text in ASCII.
};
[[nodiscard]] std::vector<OtherStated> other_stated(const RecordingFigures& figures,
                                                    const traces::Meta& meta);

/// Whether the source of a run that is not vanilla has neither rounds nor sums of drafts.
[[nodiscard]] bool reports_no_speculation(const Figures& figures, const traces::Meta& meta);

/// Whether an imported trace has rounds with accepted lengths, or states an acceptance rate. A timeline of
/// kernels has neither, so nothing can be predicted from it.
[[nodiscard]] bool knows_acceptance(const traces::Meta& meta);

/// Whether the file contains a prediction (predicted_trace.h) and no measurement.
[[nodiscard]] bool is_predicted(const traces::Meta& meta);

/// Sentence about requests whose output an earlier request of the run had given, if they yield at least a
/// quarter more tokens a round than it did: drafts from texts that a run keeps know them. Empty otherwise.
[[nodiscard]] std::string known_texts_note(const RunRows& run);

/// Sentences about models that draft and have fewer positions than the longest prompt: there they draft
/// nothing. Sizes are those of the recording's `draft_model_shapes`.
[[nodiscard]] std::vector<std::string> short_drafts_notes(const traces::Recording& recording);

}  // namespace draftscope::simulator
