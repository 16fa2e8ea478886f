// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Walks a recording as lanes of properly nested slices, as timeline formats need. A consumer pairs an end
// with the slice opened last, so one overlap would silently falsify every later duration.
//
// Requests and rounds go onto the first host track, around the phases; decisions go onto a separate track. A
// slice that would cross another one's end moves to a further lane of the same track (kernels that overlap on
// a stream, damaged recordings).

#include <draftscope/traces/exporters.h>
#include <draftscope/traces/reader.h>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace draftscope::traces {

/// A slice of the timeline; exactly one of the pointers is set.
struct Slice {
  const Request* request = nullptr;
  const Round* round = nullptr;
  const Span* span = nullptr;
  const Kernel* kernel = nullptr;
  const Decision* decision = nullptr;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// The receiver of a timeline. Lanes are numbered from 0 in the order of their opening.
class TimelineSink {
 public:
  virtual ~TimelineSink() = default;
  /// Opens a lane, before anything on it, and parents before children; `parent` is -1 if it has none.
  virtual void open_lane(int lane, const Track& track, int parent) = 0;
  /// Begins a slice. Slices come in the order of start_ns on each lane, and ends come before begins of the
  /// same instant.
  virtual void begin(int lane, const Slice& slice) = 0;
  virtual void end(int lane, std::int64_t end_ns) = 0;
  virtual void counter(int lane, const Counter& counter) = 0;
  /// Returns true if there is no use in continuing; the sink knows the reason.
  [[nodiscard]] virtual bool failed() const = 0;
};

/// The rows that slices refer to.
struct TimelineNames {
  Recording recording;
  std::unordered_map<StringId, std::string> strings;
  std::unordered_map<RequestId, const Run*> run_of_request;
  std::unordered_map<SpanId, std::vector<KernelId>> kernels_of_span;  ///< Kernels that each span launched.
};

/// Reads the rows. Memory: the recording without its spans, and somewhat more than 16 bytes per kernel for
/// the launch arrows.
[[nodiscard]] Result<TimelineNames> read_names(Reader& reader);

[[nodiscard]] Result<void> walk_timeline(Reader& reader, const TimelineNames& names, TimelineSink& sink,
                                         const Progress& progress);

/// Counts the rows of the tables, for Progress.
[[nodiscard]] Result<std::int64_t> count_rows(Reader& reader, std::initializer_list<std::string_view> tables);

/// Rows between two calls of Progress.
inline constexpr std::int64_t rows_per_progress = 65536;

}  // namespace draftscope::traces
