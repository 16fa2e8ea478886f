// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/recording/device_recording.h>

#include <fmt/format.h>

namespace draftscope::engine {

using profiler::DeviceTraceMode;

Result<DeviceRecording> DeviceRecording::start(const DeviceTraceOptions& options, const std::string& device) {
  DeviceRecording recording;
  recording.node_requests_ = options.node_requests;
  if (device == "cpu") {
    if (options.mode == "graph" || options.mode == "node")
      return fail("device-trace: found {} for device cpu, expected auto or off", options.mode);
    return recording;
  }
  DeviceTraceMode mode = DeviceTraceMode::graph;
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
  trace_->end_window();
  spans_ = &spans;
  // Prefill launches its kernels one by one; there the layer comes from the host's span.
  spans.attach(trace_.get(), profiler::Level::layers);
}

void DeviceRecording::begin_request(traces::RunId run_id) {
  if (trace_ == nullptr) return;
  const bool seen = trace_->mode() != DeviceTraceMode::node || node_requests_ == 0 ||
                    requests_of_run_[run_id]++ < node_requests_;
  if (seen) trace_->begin_window();
}

// The last round has waited for the device, so that every record is there to be taken.
void DeviceRecording::end_request() {
  if (trace_ != nullptr) trace_->end_window();
}

void DeviceRecording::end() {
  if (trace_ == nullptr) return;
  trace_->stop();
  spans_->attach(nullptr);
}

}  // namespace draftscope::engine
