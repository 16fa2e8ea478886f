// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Converts CUPTI's activity records to rows of a trace. Knows the records and the trace, but calls nothing in
// CUPTI.
//
// A record of device work has a correlation id; a record of external correlation links this id to the host
// span. The two arrive in buffers of different threads, in any order, and the end of a buffer may separate
// the records of one call. So a row whose correlation has not arrived waits for the next settle(). The map of
// correlation ids persists across buffers.
//
// Tracks of rows: kernels, copies and memory sets are on a track of kind "stream" per stream; waits of the
// host on one of kind "sync"; its calls that launch or wait on one of kind "calls", where `correlation_id` is
// that of the work; the cost of measuring on one of kind "overhead". Bytes of copies are counters,
// with one track per direction, when the copy begins.

#include <cupti.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/traces/records.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "operations.h"
#include "recent_by_id.h"

namespace draftscope::profiler::cupti {

class ActivityRows {
 public:
  /// `operations` is not owned.
  explicit ActivityRows(const Operations& operations) : operations_(operations) {}

  /// Sends rows to `writer`, which is not owned. Records of device work before this call give no rows.
  void write_to(traces::Writer& writer) {
    writer_ = &writer;
    counts_ = {};
  }

  /// Announces that device work may be launched inside `span` from now on.
  void expect(const traces::Span& span);

  void add(const CUpti_Activity& record);
  /// Adds operations that were timed by the kernels of a span. Each gives a row on a track of kind
  /// "operations", and its time on block 0 gives one on a track of kind "block".
  void add(std::span<const TimedOperation> operations, traces::SpanId span);

  /// Hands rows to the writer, except those that wait for a correlation.
  void settle();
  /// Hands all rows to the writer; those that still wait were launched outside any span.
  void settle_all();

  void count_dropped(std::int64_t records) { counts_.dropped += records; }
  [[nodiscard]] const DeviceTraceCounts& counts() const { return counts_; }
  /// Limits of a multiprocessor as the JSON object `device_limits` of the schema; empty before CUPTI said
  /// them.
  [[nodiscard]] const std::string& device_limits() const { return device_limits_; }

 private:
  struct Launcher {
    traces::RequestId request_id;
    traces::RoundId round_id;
    std::int64_t start_ns = 0;
    std::int32_t layer = -1;
    traces::Phase phase = traces::Phase::control;
  };
  /// Facts from the records of an API call: external correlations, then the call itself.
  struct Call {
    traces::SpanId span_id;
    std::uint64_t operation = 0;  ///< Number of the operation; 0 = none.
    bool is_complete = false;     ///< True once the call's own record has arrived.
  };
  struct Waiting {
    traces::Kernel row;
    std::string_view name;                  // Lives as long as this object.
    bool is_work = true;                    // True for a kernel, copy or set, which belongs to an operation.
    std::uint32_t runtime_correlation = 0;  // Second id of copies; either id may lead to the span.
  };

  void add_kernel(const CUpti_ActivityKernel10& record);
  void add_copy(const CUpti_ActivityMemcpy6& record);
  void add_set(const CUpti_ActivityMemset4& record);
  void add_call(const CUpti_ActivityAPI& record);
  void add_device(const CUpti_ActivityDevice5& record);
  void add_wait(const CUpti_ActivitySynchronization2& record);
  void add_overhead(const CUpti_ActivityOverhead3& record);

  /// Fills in the row of a record; false if its times are unusable.
  bool begin_row(traces::Kernel& row, std::uint64_t start, std::uint64_t end, std::uint32_t correlation);
  /// Fills in the row of work on a stream; false if its times are unusable.
  template <typename Record>
  bool begin_work(traces::Kernel& row, const Record& record);
  void place(const Waiting& waiting);
  [[nodiscard]] Call& call_under_way(std::uint32_t correlation);
  [[nodiscard]] const Call* call_of(const Waiting& waiting) const;
  /// Row with the facts of its call.
  [[nodiscard]] traces::Kernel attributed(const Waiting& waiting, const Call& call);
  /// Counts a row of the device, and stores it.
  void finish(const traces::Kernel& row);
  void store(const traces::Kernel& row);
  void write();
  void count_bytes(std::string_view name, std::uint64_t start, std::uint64_t bytes);

  [[nodiscard]] std::string_view readable(const char* symbol);
  [[nodiscard]] traces::StringId name_id(const Operation* operation, std::string_view name);
  [[nodiscard]] traces::TrackId stream_track(std::uint32_t device, std::uint32_t stream);
  [[nodiscard]] traces::TrackId track(const std::string& kind, const std::string& name, std::int32_t sort);

  /// Lets a map of strings be searched with a symbol from a record, without a copy.
  struct SymbolHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  traces::Writer* writer_ = nullptr;
  const Operations& operations_;
  // CUPTI's device buffers hold some 100,000 kernels before they are delivered, so the maps cover more than
  // that.
  RecentById<Call> calls_{std::size_t{1} << 20U};
  RecentById<Launcher> launchers_{std::size_t{1} << 18U};
  std::map<std::pair<std::string, std::string>, traces::TrackId> tracks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, traces::TrackId> stream_tracks_;    // Keys are device and
                                                                                        // stream.
  std::unordered_map<std::string, std::string, SymbolHash, std::equal_to<>> readable_;  // Keys are symbols.
  std::unordered_map<const Operation*, std::unordered_map<std::string_view, traces::StringId>> names_;
  std::vector<Waiting> waiting_;
  std::vector<traces::Kernel> rows_;
  std::vector<traces::Counter> counters_;
  DeviceTraceCounts counts_;
  std::string device_limits_;
};

}  // namespace draftscope::profiler::cupti
