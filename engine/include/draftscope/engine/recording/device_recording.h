// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The device trace of a recording.

#include <draftscope/base/result.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/profiler/span_recorder.h>
#include <draftscope/traces/writer.h>
#include <memory>
#include <string>

namespace draftscope::engine {

struct DeviceTraceOptions {
  std::string mode = "auto";  ///< auto (launches on a GPU, off on the CPU), off, launches, operations
};

/// The device trace of one recording, if it has one; without it every call does nothing. Calls come in this
/// order: start, begin, end_request after each request, end. Thread-safety: none.
class DeviceRecording {
 public:
  /// Attaches to the device; call it before the backend is made. Fails on an unknown mode, and if a trace of
  /// the CPU is asked for. A GPU that can't be traced is recorded without a device trace: see notice().
  [[nodiscard]] static Result<DeviceRecording> start(const DeviceTraceOptions& options,
                                                     const std::string& device);

  /// The trace for the backend to report to; null without one. Owned by this object.
  [[nodiscard]] profiler::DeviceTrace* trace() const { return trace_.get(); }

  /// One line for the user that says why a GPU is recorded without a device trace; otherwise empty.
  [[nodiscard]] const std::string& notice() const { return notice_; }

  /// Records work on the device from here on. Neither writer nor spans are owned; both must outlive end().
  void begin(traces::Writer& writer, profiler::SpanRecorder& spans);
  void end_request();
  /// Writes the remaining records; call it before the writer is closed.
  void end();

 private:
  std::unique_ptr<profiler::DeviceTrace> trace_;
  std::string notice_;
  profiler::SpanRecorder* spans_ = nullptr;
};

}  // namespace draftscope::engine
