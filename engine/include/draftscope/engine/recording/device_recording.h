// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The device's part of a recording.

#include <draftscope/base/result.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/profiler/span_recorder.h>
#include <draftscope/traces/writer.h>
#include <memory>
#include <string>

namespace draftscope::engine {

struct DeviceTraceOptions {
  std::string mode = "auto";  ///< auto (launches on a GPU, off on the cpu), off, launches, operations
};

/// One recording's device trace, if it has one; without it every call does nothing. Calls come in the order
/// start, begin, then end_request after each request, end. Thread-safety: none.
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
  void end_request();
  /// Writes what is left; to be called before the writer is closed.
  void end();

 private:
  std::unique_ptr<profiler::DeviceTrace> trace_;
  std::string notice_;
  profiler::SpanRecorder* spans_ = nullptr;
};

}  // namespace draftscope::engine
