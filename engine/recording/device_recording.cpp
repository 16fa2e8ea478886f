// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/recording/device_recording.h>

#include <fmt/format.h>

namespace draftscope::engine {

using profiler::DeviceTraceMode;

Result<DeviceRecording> DeviceRecording::start(const DeviceTraceOptions& options, const std::string& device) {
  DeviceRecording recording;
  if (device == "cpu") {
    if (options.mode == "launches" || options.mode == "operations")
      return fail("device-trace: found {} for device cpu, expected auto or off", options.mode);
    return recording;
  }
  DeviceTraceMode mode = DeviceTraceMode::launches;
  if (options.mode != "auto") {
    DRAFTSCOPE_TRY_ASSIGN(mode, profiler::parse_device_trace_mode(options.mode));
  }
  auto trace = profiler::start_device_trace(mode);
  if (trace)
    recording.trace_ = std::move(*trace);
  else
    recording.notice_ = fmt::format("{}; recording host spans alone", trace.error().message);
  return recording;
}

void DeviceRecording::begin(traces::Writer& writer, profiler::SpanRecorder& spans) {
  if (trace_ == nullptr) return;
  trace_->record_into(writer);
  spans_ = &spans;
  // Launches without an operation, such as those of prefill, get the layer of the host's span.
  spans.attach(trace_.get(), profiler::Level::layers);
}

// The last round has waited for the device, so every record is available.
void DeviceRecording::end_request() {
  if (trace_ != nullptr) trace_->flush();
}

void DeviceRecording::end() {
  if (trace_ == nullptr) return;
  trace_->stop();
  spans_->attach(nullptr);
}

}  // namespace draftscope::engine
