// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Walks a recording as lanes of properly nested slices, which is what timeline formats need: a consumer pairs
// an end with the slice opened last, so one overlap would silently falsify every duration after it.
//
// Requests and rounds go onto the first host track, around the phases; decisions onto a track of their own. A
// slice that would cross another one's end moves to a further lane of the same track (kernels that overlap on
// a stream, damaged recordings).

#include <draftscope/traces/exporters.h>
#include <draftscope/traces/reader.h>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace draftscope::traces {

/// Exactly one of the pointers is set.
struct Slice {
  const Request* request = nullptr;
  const Round* round = nullptr;
  const Span* span = nullptr;
  const Kernel* kernel = nullptr;
  const Decision* decision = nullptr;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// Lanes are numbered from 0 in the order of their opening.
class TimelineSink {
 public:
  virtual ~TimelineSink() = default;
  /// Opens a lane: before anything on it, and parents before children; `parent` is -1 if it has none.
  virtual void open_lane(int lane, const Track& track, int parent) = 0;
  /// Begins a slice: in the order of start_ns on each lane, ends before begins of the same instant.
  virtual void begin(int lane, const Slice& slice) = 0;
  virtual void end(int lane, std::int64_t end_ns) = 0;
  virtual void counter(int lane, const Counter& counter) = 0;
  /// True if there is no point in going on; the sink knows why.
  [[nodiscard]] virtual bool failed() const = 0;
};

/// The rows that slices refer to.
struct TimelineNames {
  Recording recording;
  std::unordered_map<StringId, std::string> strings;
  std::unordered_map<RequestId, const Run*> run_of_request;
  std::unordered_map<SpanId, std::vector<KernelId>> kernels_of_span;  ///< launched by it
};

/// Memory: the recording without its spans, and 16 bytes and some a kernel for the launch arrows.
[[nodiscard]] Result<TimelineNames> read_names(Reader& reader);

[[nodiscard]] Result<void> walk_timeline(Reader& reader, const TimelineNames& names, TimelineSink& sink,
                                         const Progress& progress);

/// Rows of the tables, for Progress.
[[nodiscard]] Result<std::int64_t> count_rows(Reader& reader, std::initializer_list<std::string_view> tables);

/// Rows that pass between two calls of Progress.
inline constexpr std::int64_t rows_per_progress = 65536;

}  // namespace draftscope::traces
