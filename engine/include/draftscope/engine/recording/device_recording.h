// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The device's part of a recording: whether there is one, and which requests it sees.

#include <draftscope/base/result.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/profiler/span_recorder.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace draftscope::engine {

struct DeviceTraceOptions {
  std::string mode = "auto";       ///< auto (graph on a GPU, off on the cpu), off, graph, node
  std::int32_t node_requests = 1;  ///< of each strategy, that node mode sees; 0 = all
};

/// One recording's device trace, if it has one; without it every call does nothing. Calls come in the order
/// start, begin, then begin_request and end_request by turns, end. Thread-safety: none.
class DeviceRecording {
 public:
  /// Attaches to the device; to be called before the backend is made. Fails on an unknown mode and where a
  /// trace of the cpu is asked for. A GPU of which no trace can be had is recorded without one: see notice().
  [[nodiscard]] static Result<DeviceRecording> start(const DeviceTraceOptions& options,
                                                     const std::string& device);

  /// The trace for the backend to report to; null without one. Owned here.
  [[nodiscard]] profiler::DeviceTrace* trace() const { return trace_.get(); }

  /// One line for the user on why a GPU is recorded without a device trace; otherwise empty.
  [[nodiscard]] const std::string& notice() const { return notice_; }

  /// Records work on the device from here on. Neither writer nor spans are owned; both must outlive end().
  void begin(traces::Writer& writer, profiler::SpanRecorder& spans);
  /// Opens the device trace for a request of this run, as far as it sees them.
  void begin_request(traces::RunId run_id);
  void end_request();
  /// Writes what is left; to be called before the writer is closed.
  void end();

 private:
  std::unique_ptr<profiler::DeviceTrace> trace_;
  std::string notice_;
  profiler::SpanRecorder* spans_ = nullptr;
  std::int32_t node_requests_ = 0;
  std::map<traces::RunId, std::int32_t> requests_of_run_;
};

}  // namespace draftscope::engine
