// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Device activity: what the GPU did, as rows of `kernels` that point to the host spans which launched it.
//
// Host spans stay the source of truth. While a span is open its id is CUPTI's external-correlation id, so a
// device record leads to its span, and the span knows phase, round and request. Inside a CUDA graph all nodes
// share one launch; there the layer comes from what GraphScope said when the node was captured.
//
// Two modes, never both:
//   graph  one row a graph launch (kernels outside graphs have their own); cheap, the default
//   node   every kernel of every graph; dear, so record windows of it
//
// Device times are CLOCK_MONOTONIC as all of the trace: CUPTI reads now_ns() through a callback. How far the
// clocks drifted, and what was dropped, rejected or spent on measuring, is stored in `meta`.
//
// Thread-safety: one thread, the one that writes the trace. CUPTI's own threads only fill buffers. GraphScope
// may be used on any thread.

#include <draftscope/base/result.h>
#include <draftscope/traces/records.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace draftscope::profiler {

enum class DeviceTraceMode : std::uint8_t { off, graph, node };
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

class DeviceTrace {
 public:
  DeviceTrace() = default;
  DeviceTrace(const DeviceTrace&) = delete;
  DeviceTrace& operator=(const DeviceTrace&) = delete;
  virtual ~DeviceTrace() = default;  ///< as stop()

  [[nodiscard]] virtual DeviceTraceMode mode() const = 0;

  /// From here on rows go to `writer`, which is not owned and must outlive stop(). Device work before this
  /// call (uploads, warm-up) leaves no row, but graphs captured then are known. Expects a synchronised
  /// device, and to be called once.
  virtual void record_into(traces::Writer& writer) = 0;

  /// Device work that this thread launches until pop_span() belongs to `span`, whose end is not needed.
  virtual void push_span(const traces::Span& span) = 0;
  virtual void pop_span() = 0;

  /// Names layers in graphs that this thread launches until pop_layers(): what was captured as layer i is
  /// layer layers[i]: one graph serves every sublayer mask of as many layers. Does nothing in graph mode,
  /// which sees no nodes. Does not nest.
  virtual void push_layers(std::span<const std::int32_t> layers) = 0;
  virtual void pop_layers() = 0;

  /// Graph nodes that the calling thread captures until leave() compute `op` of `layer` (-1 = of none), and
  /// executable graphs that it instantiates are named `op`. A `phase` replaces that of the span which
  /// launches the graph, here and in the scopes inside: one launch may hold a whole round. Any thread; scopes
  /// nest. See GraphScope.
  virtual void enter_graph_part(std::string_view op, std::int32_t layer,
                                std::optional<traces::Phase> phase) = 0;
  virtual void leave_graph_part() = 0;

  /// Windows limit what node mode records; one is open from the start, because CUPTI wants its kinds enabled
  /// before the first context. end_window() expects that the caller has synchronised the device. In graph
  /// mode it only flushes: worth doing between requests, for CUPTI keeps records until a buffer is full.
  virtual void begin_window() = 0;
  virtual void end_window() = 0;

  /// Turns the buffers that CUPTI has finished into rows. Cheap when there are none; called between rounds.
  virtual void collect() = 0;

  /// Flushes, writes what is left and the meta rows, and detaches. Expects a synchronised device and a writer
  /// that is still open. A second call does nothing.
  virtual void stop() = 0;

  [[nodiscard]] virtual DeviceTraceCounts counts() const = 0;
};

/// Attaches to CUPTI, before the process makes its first CUDA context; record_into() says later where rows
/// go. Gives no trace for `off`, and one line of error where CUPTI is missing, too old or held by another
/// tool; host spans go on without it. One session a process: see the error for why.
[[nodiscard]] Result<std::unique_ptr<DeviceTrace>> start_device_trace(DeviceTraceMode mode);

/// Names what the nodes captured in its lifetime compute. Does nothing for a null trace.
class GraphScope {
 public:
  GraphScope(DeviceTrace* trace, std::string_view op, std::int32_t layer = -1,
             std::optional<traces::Phase> phase = {})
      : trace_(trace) {
    if (trace_ != nullptr) trace_->enter_graph_part(op, layer, phase);
  }
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;
  ~GraphScope() {
    if (trace_ != nullptr) trace_->leave_graph_part();
  }

 private:
  DeviceTrace* trace_;
};

/// Graphs launched in its lifetime have these layers at their places. Does nothing for a null trace.
class LayersScope {
 public:
  LayersScope(DeviceTrace* trace, std::span<const std::int32_t> layers) : trace_(trace) {
    if (trace_ != nullptr) trace_->push_layers(layers);
  }
  LayersScope(const LayersScope&) = delete;
  LayersScope& operator=(const LayersScope&) = delete;
  ~LayersScope() {
    if (trace_ != nullptr) trace_->pop_layers();
  }

 private:
  DeviceTrace* trace_;
};

}  // namespace draftscope::profiler
