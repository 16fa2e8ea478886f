// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Device activity: what the GPU did, as rows of `kernels` that point to the host spans which launched it.
//
// Host spans stay the source of truth. While a span is open its id is CUPTI's external-correlation id, so a
// device record leads to its span, and the span knows phase, round and request. Which operation of which
// layer a launch computes is what OperationScope says around it.
//
// Mode `launches`: a row a launch of a kernel, a copy or a memory set. Mode `operations`: beside them, a row
// an operation that a kernel of many timed by itself (add_operations()).
//
// Device times are CLOCK_MONOTONIC as all of the trace: CUPTI reads now_ns() through a callback. How far the
// clocks drifted, and what was dropped, rejected or spent on measuring, is stored in `meta`.
//
// Thread-safety: one thread, the one that writes the trace. CUPTI's own threads only fill buffers.
// OperationScope may be used on any thread between start and stop().

#include <draftscope/base/result.h>
#include <draftscope/traces/records.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace draftscope::profiler {

enum class DeviceTraceMode : std::uint8_t { off, launches, operations };
[[nodiscard]] std::string_view device_trace_mode_name(DeviceTraceMode mode);
[[nodiscard]] Result<DeviceTraceMode> parse_device_trace_mode(std::string_view name);

struct DeviceTraceCounts {
  std::int64_t rows = 0;          ///< handed to the writer
  std::int64_t dropped = 0;       ///< records that CUPTI had no room for
  std::int64_t rejected = 0;      ///< records without a usable time: start = 0 or end < start
  std::int64_t unattributed = 0;  ///< rows that no open span launched
  std::int64_t before_span = 0;   ///< rows that begin before their span does: the clocks disagree
  std::int64_t other = 0;         ///< records of kinds that have no row
  std::int64_t failed_calls = 0;  ///< calls to CUPTI that failed since it was attached
  std::int64_t overhead_ns = 0;   ///< what CUPTI says that measuring cost
};

/// An operation that a kernel timed by itself, block by block. Times as the trace's.
struct TimedOperation {
  std::string_view name;
  std::int32_t layer = -1;
  std::optional<traces::Phase> phase;                 ///< none = the span's
  std::int64_t start_ns = 0;                          ///< start of the block that began first
  std::int64_t end_ns = 0;                            ///< end of the block that was done last
  std::int64_t first_end_ns = 0;                      ///< end of the block that was done first
  std::int64_t block_start_ns = 0, block_end_ns = 0;  ///< times of block 0
  std::int64_t wait_ns = 0;                           ///< mean time that a block waited for the last one
  std::int64_t bytes = 0;                             ///< bytes that it must read: weights and K/V
  std::int32_t blocks = 0;
  std::int32_t first_block = 0, last_block = 0;  ///< to be done
};

class DeviceTrace {
 public:
  DeviceTrace() = default;
  DeviceTrace(const DeviceTrace&) = delete;
  DeviceTrace& operator=(const DeviceTrace&) = delete;
  virtual ~DeviceTrace() = default;  ///< does what stop() does

  [[nodiscard]] virtual DeviceTraceMode mode() const = 0;

  /// From here on rows go to `writer`, which is not owned and must outlive stop(). Device work before this
  /// call (uploads, warm-up) leaves no row. Expects a synchronised device, and to be called once.
  virtual void record_into(traces::Writer& writer) = 0;

  /// Device work that this thread launches until pop_span() belongs to `span`, whose end is not needed.
  virtual void push_span(const traces::Span& span) = 0;
  virtual void pop_span() = 0;

  /// Kernels, copies and sets that the calling thread launches until leave_operation() compute `op` of
  /// `layer`; -1 = of none, then the span's. A `phase` replaces the span's, here and in the scopes inside.
  /// Any thread; scopes nest, and the innermost counts. See OperationScope.
  virtual void enter_operation(std::string_view op, std::int32_t layer,
                               std::optional<traces::Phase> phase) = 0;
  virtual void leave_operation() = 0;

  /// Operations of what the thread launched inside the innermost open span. Their times may be off by
  /// `error_ns` either way, all alike. In another mode than `operations` it does nothing.
  virtual void add_operations(std::span<const TimedOperation> operations, std::int64_t error_ns) = 0;

  /// Asks CUPTI for its records and makes rows of them: worth doing between requests, for CUPTI keeps records
  /// until a buffer is full. Expects a synchronised device.
  virtual void flush() = 0;

  /// Turns the buffers that CUPTI has finished into rows. Cheap when there are none; called between rounds.
  virtual void collect() = 0;

  /// Flushes, writes what is left and the meta rows, and detaches. Expects a synchronised device and a writer
  /// that is still open. A second call does nothing.
  virtual void stop() = 0;

  [[nodiscard]] virtual DeviceTraceCounts counts() const = 0;
};

/// Attaches to CUPTI, before the process makes its first CUDA context; record_into() says later where rows
/// go. Gives no trace for `off`, and one line of error where CUPTI is missing, too old or held by another
/// tool; host spans go on without it. One trace at a time.
[[nodiscard]] Result<std::unique_ptr<DeviceTrace>> start_device_trace(DeviceTraceMode mode);

/// Names what the thread's launches in its lifetime compute. Does nothing for a null trace.
class OperationScope {
 public:
  OperationScope(DeviceTrace* trace, std::string_view op, std::int32_t layer = -1,
                 std::optional<traces::Phase> phase = {})
      : trace_(trace) {
    if (trace_ != nullptr) trace_->enter_operation(op, layer, phase);
  }
  OperationScope(const OperationScope&) = delete;
  OperationScope& operator=(const OperationScope&) = delete;
  ~OperationScope() {
    if (trace_ != nullptr) trace_->leave_operation();
  }

 private:
  DeviceTrace* trace_;
};

}  // namespace draftscope::profiler
