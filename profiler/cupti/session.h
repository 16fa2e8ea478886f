// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The calls to CUPTI, in the order that it needs them.

#include <cupti.h>
#include <draftscope/base/clock.h>
#include <draftscope/profiler/device_trace.h>
#include <string_view>

#include "activity_rows.h"
#include "callbacks.h"

namespace draftscope::profiler::cupti {

class Session final : public DeviceTrace {
 public:
  explicit Session(DeviceTraceMode mode)
      : mode_(mode), state_(callback_state()), rows_(state_.parts, state_.layer_lists) {}
  ~Session() override { Session::stop(); }

  /// Subscribes and enables everything. After an error nothing is left enabled.
  [[nodiscard]] Result<void> start();

  [[nodiscard]] DeviceTraceMode mode() const override { return mode_; }
  void record_into(traces::Writer& writer) override;
  void push_span(const traces::Span& span) override;
  void pop_span() override;
  void push_layers(std::span<const std::int32_t> layers) override;
  void pop_layers() override;
  void enter_graph_part(std::string_view op, std::int32_t layer,
                        std::optional<traces::Phase> phase) override {
    state_.parts.enter(op, layer, phase);
  }
  void leave_graph_part() override { GraphParts::leave(); }
  void begin_window() override;
  void end_window() override;
  void collect() override;
  void stop() override;
  [[nodiscard]] DeviceTraceCounts counts() const override;

 private:
  [[nodiscard]] Result<void> subscribe();
  [[nodiscard]] Result<void> enable();
  [[nodiscard]] Result<void> check(CUptiResult result, std::string_view call) const;
  void note(CUptiResult result, std::string_view call) { state_.failures.note(result, call); }
  void set_attributes();
  void detach();
  void read_dropped();
  [[nodiscard]] std::int64_t clock_offset_ns() const;
  void write_meta();

  DeviceTraceMode mode_;
  traces::Writer* writer_ = nullptr;  // before record_into()
  CallbackState& state_;
  ActivityRows rows_;
  CUpti_SubscriberHandle subscriber_ = nullptr;  // null before start() and after stop()
  bool window_open_ = false;
  ClockPair clock_at_start_;
  std::int64_t clock_offset_ns_ = 0;
};

}  // namespace draftscope::profiler::cupti
