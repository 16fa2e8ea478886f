// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The clock of a round's phases. Each phase begins at the same nanosecond at which the previous one ended, so
// that the phases of a round tile it exactly.

#include <draftscope/base/clock.h>
#include <draftscope/profiler/span_recorder.h>
#include <algorithm>
#include <cstdint>

namespace draftscope::engine {

class RoundClock {
 public:
  explicit RoundClock(profiler::SpanRecorder* recorder)
      : recorder_(recorder), lap_ns_(draftscope::now_ns()) {}

  /// Sets the clock back by `lead_ns` from now on: the timed work happened on a device that is ahead by that
  /// time.
  void set_lead(std::int64_t lead_ns) { lead_ns_ = lead_ns; }

  /// End of the last phase, or the time the clock was made: the time accounted for so far.
  [[nodiscard]] std::int64_t now_ns() const { return lap_ns_; }

  /// Ends the open phase and begins another; returns the time. The first phase of a round begins where the
  /// previous round ended, so that the time between them (listeners, recording) counts as control.
  std::int64_t begin(traces::Phase phase) {
    if (open_) end();
    open_ = true;
    if (recorder_ != nullptr && recorder_->level() != profiler::Level::off)
      token_ = recorder_->open_phase(phase, lap_ns_);
    return lap_ns_;
  }

  /// Does the same as begin() for a phase that a device began `ago_ns` before now, but not before the open
  /// phase.
  std::int64_t begin_before_now(traces::Phase phase, std::int64_t ago_ns) {
    const std::int64_t moment_ns = std::max(lap_ns_, present_ns() - std::max<std::int64_t>(ago_ns, 0));
    end_at(moment_ns);
    return begin(phase);
  }

  std::int64_t end() { return end_at(present_ns()); }

  std::int64_t end_at(std::int64_t moment_ns) {
    lap_ns_ = moment_ns;
    if (token_ >= 0) recorder_->close_at(token_, lap_ns_);
    token_ = -1;
    open_ = false;
    return lap_ns_;
  }

  void begin_round(traces::RoundId round_id) {
    if (recorder_ != nullptr) recorder_->set_round(round_id);
  }

  std::int64_t end_round() {
    end();
    if (recorder_ != nullptr) recorder_->set_round(0);
    return lap_ns_;
  }

 private:
  /// The current time, but not before the last phase's end, since clocks of a device and a host differ.
  [[nodiscard]] std::int64_t present_ns() const { return std::max(lap_ns_, draftscope::now_ns() - lead_ns_); }

  profiler::SpanRecorder* recorder_;
  std::int64_t lap_ns_;
  std::int64_t lead_ns_ = 0;
  std::int32_t token_ = -1;
  bool open_ = false;
};

}  // namespace draftscope::engine
