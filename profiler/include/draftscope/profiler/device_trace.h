// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Device activity: the work of the GPU, as rows of `kernels` that refer to the host spans that launched it.
//
// Host spans remain the reference. While a span is open, its id is CUPTI's external-correlation id, so a
// device record leads to its span, which knows phase, round and request. An OperationScope around a launch
// names its operation and layer.
//
// Mode `launches` gives one row per launch of a kernel, a copy or a memory set. Mode `operations` adds one
// row per operation that a kernel of several operations timed itself (add_operations()).
//
// Device times are CLOCK_MONOTONIC, like the rest of the trace: CUPTI reads now_ns() through a callback. The
// clocks' drift, and the amounts dropped, rejected or spent on measuring, are stored in `meta`.
//
// Thread-safety: only the thread that writes the trace may call this; CUPTI's own threads only fill buffers.
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
  std::int64_t rows = 0;          ///< Rows handed to the writer, without calls of the host.
  std::int64_t dropped = 0;       ///< Records that CUPTI had no room for.
  std::int64_t rejected = 0;      ///< Records without a usable time: start = 0 or end < start.
  std::int64_t unattributed = 0;  ///< Rows that no open span launched.
  std::int64_t before_span = 0;   ///< Rows that begin before their span: clocks disagree.
  std::int64_t other = 0;         ///< Records of kinds that have no row.
  std::int64_t failed_calls = 0;  ///< Failed calls to CUPTI since it was attached.
  std::int64_t overhead_ns = 0;   ///< Cost of measuring as reported by CUPTI.
};

/// An operation that a kernel timed itself, block by block. Times use the trace's clock.
struct TimedOperation {
  std::string_view name;
  std::int32_t layer = -1;
  std::optional<traces::Phase> phase;                 ///< Phase; none = the span's.
  std::int64_t start_ns = 0;                          ///< Start of the block that began first.
  std::int64_t end_ns = 0;                            ///< End of the block that finished last.
  std::int64_t first_end_ns = 0;                      ///< End of the block that finished first.
  std::int64_t block_start_ns = 0, block_end_ns = 0;  ///< Times of block 0.
  std::int64_t wait_ns = 0;                           ///< Mean time that a block waited for the last one.
  std::int64_t bytes = 0;                             ///< Bytes that it must read: weights and K/V.
  std::int32_t blocks = 0;
  std::int32_t first_block = 0, last_block = 0;  ///< Blocks that finished first and last.
};

class DeviceTrace {
 public:
  DeviceTrace() = default;
  DeviceTrace(const DeviceTrace&) = delete;
  DeviceTrace& operator=(const DeviceTrace&) = delete;
  virtual ~DeviceTrace() = default;  ///< Stops as stop() does.

  [[nodiscard]] virtual DeviceTraceMode mode() const = 0;

  /// Sends rows to `writer` from now on; it is not owned and must outlive stop(). Earlier device work
  /// (uploads, warm-up) gives no row. Expects a synchronised device; call it once.
  virtual void record_into(traces::Writer& writer) = 0;

  /// Assigns device work that this thread launches until pop_span() to `span`, whose end is not needed.
  virtual void push_span(const traces::Span& span) = 0;
  virtual void pop_span() = 0;

  /// Marks kernels, copies and sets that the calling thread launches until leave_operation() as `op` of
  /// `layer`. With -1 the span's layer applies. A `phase` replaces the span's, also in inner scopes. May be
  /// called on any thread; scopes nest, and the innermost counts. See OperationScope.
  virtual void enter_operation(std::string_view op, std::int32_t layer,
                               std::optional<traces::Phase> phase) = 0;
  virtual void leave_operation() = 0;

  /// Adds operations of the work that the thread launched inside the innermost open span. All their times may
  /// be off by the same amount, up to `error_ns` either way. Does nothing unless the mode is `operations`.
  virtual void add_operations(std::span<const TimedOperation> operations, std::int64_t error_ns) = 0;

  /// Requests CUPTI's records and converts them to rows. Call it between requests, since CUPTI keeps records
  /// until a buffer is full. Expects a synchronised device.
  virtual void flush() = 0;

  /// Converts the buffers that CUPTI has finished to rows. Cheap when there are none; called between rounds.
  virtual void collect() = 0;

  /// Flushes, writes the remaining rows and the meta rows, and detaches. Expects a synchronised device and a
  /// writer that is still open. A second call does nothing.
  virtual void stop() = 0;

  [[nodiscard]] virtual DeviceTraceCounts counts() const = 0;
};

/// Attaches to CUPTI; call it before the process makes its first CUDA context. record_into() later says where
/// rows go. Returns null for `off`. Error, one line: CUPTI is missing, too old or in use by another tool;
/// host spans work without it. Only one trace may exist at a time.
[[nodiscard]] Result<std::unique_ptr<DeviceTrace>> start_device_trace(DeviceTraceMode mode);

/// Names the operation of the thread's launches during its lifetime. Does nothing for a null trace.
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
