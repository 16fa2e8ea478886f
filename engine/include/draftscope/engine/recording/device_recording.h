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

/// Without a device trace every call does nothing.
class DeviceRecording {
 public:
  /// To be called before the backend is made. Where a trace can't be had on a GPU, says why in one line on
  /// standard error and goes on without it; asking for one on the cpu is an error.
  [[nodiscard]] static Result<DeviceRecording> start(const DeviceTraceOptions& options,
                                                     const std::string& device);

  [[nodiscard]] profiler::DeviceTrace* trace() const { return trace_.get(); }

  /// From here on work on the device is recorded. Neither is owned.
  void begin(traces::Writer& writer, profiler::SpanRecorder& spans);
  void begin_request(std::int64_t run);
  void end_request();
  /// Before the writer is closed.
  void end();

 private:
  std::unique_ptr<profiler::DeviceTrace> trace_;
  profiler::SpanRecorder* spans_ = nullptr;
  std::int32_t node_requests_ = 0;
  std::map<std::int64_t, std::int32_t> requests_of_run_;
};

}  // namespace draftscope::engine
