// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The clock of a round's phases: one begins at the very nanosecond the last one ended, so that the phases of
// a round tile it exactly.

#include <draftscope/base/clock.h>
#include <draftscope/profiler/span_recorder.h>
#include <algorithm>
#include <cstdint>

namespace draftscope::engine {

class RoundClock {
 public:
  explicit RoundClock(profiler::SpanRecorder* recorder)
      : recorder_(recorder), lap_ns_(draftscope::now_ns()) {}

  /// From here on the clock shows `lead_ns` less: what it times happened on a device that went ahead by that.
  void set_lead(std::int64_t lead_ns) { lead_ns_ = lead_ns; }

  /// Moment at which the last phase ended, or the clock was made: the time accounted for so far.
  [[nodiscard]] std::int64_t now_ns() const { return lap_ns_; }

  /// Ends the phase that is open, begins another; returns the moment. The first phase of a round begins where
  /// the round before ended, so that what lies between them (listeners, recording) is counted, as control.
  std::int64_t begin(traces::Phase phase) {
    if (open_) end();
    open_ = true;
    if (recorder_ != nullptr && recorder_->level() != profiler::Level::off)
      token_ = recorder_->open_phase(phase, lap_ns_);
    return lap_ns_;
  }

  /// begin() for a phase that a device began `ago_ns` before now, though not before the open one.
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
  /// Not before the last phase's end: clocks of a device and a host differ.
  [[nodiscard]] std::int64_t present_ns() const { return std::max(lap_ns_, draftscope::now_ns() - lead_ns_); }

  profiler::SpanRecorder* recorder_;
  std::int64_t lap_ns_;
  std::int64_t lead_ns_ = 0;
  std::int32_t token_ = -1;
  bool open_ = false;
};

}  // namespace draftscope::engine
