// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Makes the calls to CUPTI in the order that it requires.

#include <cupti.h>
#include <draftscope/base/clock.h>
#include <draftscope/profiler/device_trace.h>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "activity_buffers.h"
#include "activity_rows.h"
#include "library.h"
#include "operations.h"

namespace draftscope::profiler::cupti {

/// Calls to CUPTI that failed after a session had started. Host spans continue, so nothing is aborted, but a
/// recording states that data may be missing and which call failed first. All functions are thread-safe,
/// since scopes of any thread add failures.
class Failures {
 public:
  struct Call {
    std::string_view what;  ///< A string literal.
    CUptiResult result = CUPTI_SUCCESS;
  };

  /// Counts the call unless it succeeded.
  void note(CUptiResult result, std::string_view what) {
    if (result == CUPTI_SUCCESS) return;
    const std::lock_guard lock(mutex_);
    if (count_++ == 0) first_ = {what, result};
  }
  [[nodiscard]] std::int64_t count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }
  [[nodiscard]] Call first() const {
    const std::lock_guard lock(mutex_);
    return first_;
  }

 private:
  mutable std::mutex mutex_;  // Guards all members below.
  std::int64_t count_ = 0;
  Call first_;
};

class Session final : public DeviceTrace {
 public:
  Session(DeviceTraceMode mode, ActivityBuffers& buffers, Library library)
      : mode_(mode), buffers_(buffers), library_(std::move(library)) {}
  ~Session() override { Session::stop(); }

  /// Subscribes and enables everything. After an error, everything is disabled again.
  [[nodiscard]] Result<void> start();

  [[nodiscard]] DeviceTraceMode mode() const override { return mode_; }
  void record_into(traces::Writer& writer) override;
  void push_span(const traces::Span& span) override;
  void pop_span() override;
  void enter_operation(std::string_view op, std::int32_t layer, std::optional<traces::Phase> phase) override;
  void leave_operation() override;
  void add_operations(std::span<const TimedOperation> operations, std::int64_t error_ns) override;
  void flush() override;
  void collect() override;
  void stop() override;
  [[nodiscard]] DeviceTraceCounts counts() const override;

 private:
  [[nodiscard]] Result<void> subscribe();
  [[nodiscard]] Result<void> enable();
  [[nodiscard]] Result<void> check(CUptiResult result, std::string_view call) const;
  void note(CUptiResult result, std::string_view call) { failures_.note(result, call); }
  void push(CUpti_ExternalCorrelationKind kind, std::uint64_t id, std::string_view call);
  void pop(CUpti_ExternalCorrelationKind kind, std::string_view call);
  void set_attributes();
  void detach();
  void read_dropped();
  [[nodiscard]] std::int64_t clock_offset_ns() const;
  void write_meta();

  DeviceTraceMode mode_;
  traces::Writer* writer_ = nullptr;  // Null before record_into().
  ActivityBuffers& buffers_;          // Shared by the process.
  Library library_;
  Operations operations_;
  ActivityRows rows_{operations_};
  std::vector<traces::SpanId> open_spans_;
  std::int64_t operations_error_ns_ = 0;  ///< Maximum so far.
  Failures failures_;
  CUpti_SubscriberHandle subscriber_ = nullptr;  // Null before start() and after stop().
  ClockPair clock_at_start_;
  std::int64_t clock_offset_ns_ = 0;
};

}  // namespace draftscope::profiler::cupti
