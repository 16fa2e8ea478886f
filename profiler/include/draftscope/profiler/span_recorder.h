// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Host spans: what the decoding thread was doing, nested, from one monotonic clock.
//
// Depth 0 is a phase, deeper spans are layers and operations. Phases never overlap, so
//     sum of phase spans + idle = wall time
// holds exactly, in integers (simulator/analysis/figures/phase_breakdown.cpp adds them up).
//
// Cost: two clock reads and one 88-byte append a span; spans above the chosen level cost one comparison. A
// null SpanRecorder* is allowed everywhere in the engine and records nothing. Spans are NVTX ranges too
// (domain "draftscope", phases as categories, round or layer as payload) while a tool listens to NVTX; where
// none does, and where no device trace is attached, that costs two comparisons with null.
//
// Thread-safety: used by the decoding thread alone.

#include <draftscope/base/clock.h>
#include <draftscope/traces/records.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::profiler {

class DeviceTrace;
class NvtxRanges;

/// Fineness of a recording. `off` still measures the times that a round's row holds.
enum class Level : std::uint8_t { off, phases, layers, ops };

class SpanRecorder {
 public:
  /// Spans go to `writer` (not owned, must outlive this) on the track "host" that this creates. A null writer
  /// keeps them in take() for tests and in-process reports.
  SpanRecorder(Level level, traces::Writer* writer);
  SpanRecorder(const SpanRecorder&) = delete;
  SpanRecorder& operator=(const SpanRecorder&) = delete;
  ~SpanRecorder();

  /// Device work that is launched inside spans of up to `finest` belongs to them from now on, and flush()
  /// collects it. Finer than phases only helps where kernels are launched one by one, and costs two calls of
  /// CUPTI a span. Not owned, must outlive the spans; null detaches. No span may be open.
  void attach(DeviceTrace* device, Level finest = Level::phases);

  [[nodiscard]] Level level() const { return level_; }

  /// Ids for names that are used often; do this once, not a span.
  [[nodiscard]] traces::StringId name_id(std::string_view name);

  /// Names the request and the round of the spans that follow (0 = none).
  void set_request(traces::RequestId request_id) { request_id_ = request_id; }
  void set_round(traces::RoundId round_id) { round_id_ = round_id; }

  /// Opens a span of `level`; returns a token for close(). Spans close in the reverse order of opening.
  /// A span inherits the phase of its parent unless it is itself a phase. A phase inside a phase is recorded
  /// at its depth, so that depth 0 stays free of overlap. -1 is the token of a span that is not recorded.
  /// Where there is no memory for one, none is recorded any more, and flush() throws: a forward pass opens
  /// spans amid threads that wait for each other, where nothing may throw.
  std::int32_t open_phase(traces::Phase phase, std::int64_t start_ns);
  std::int32_t open(Level level, traces::StringId name_id, std::int32_t layer);
  void close(std::int32_t token);
  void close_at(std::int32_t token, std::int64_t end_ns);

  /// Hands the finished spans to the writer. Called between rounds, outside any measured phase. Throws
  /// std::bad_alloc if there was no memory for a span.
  void flush();

  /// The finished spans that no writer took, parents before children.
  [[nodiscard]] std::vector<traces::Span> take();

 private:
  struct Open {
    traces::SpanId id;
    std::size_t index;  // into spans_, where the span's place is kept so that parents come before children
    bool on_device;     // pushed to device_
  };
  std::int32_t push(traces::Span span, Level level);
  [[nodiscard]] bool has_room() noexcept;
  [[nodiscard]] traces::StringId local_name_id(std::string_view name);
  [[nodiscard]] std::size_t finished_count() const;  // spans before the outermost open one
  void drop_first(std::size_t count);
  [[nodiscard]] static std::uint8_t depth_below(std::uint8_t parent_depth);

  Level level_;
  traces::Writer* writer_;
  DeviceTrace* device_ = nullptr;
  Level device_finest_ = Level::phases;
  std::unique_ptr<NvtxRanges> nvtx_;  // null unless a tool is attached
  traces::TrackId track_id_;
  traces::RequestId request_id_;
  traces::RoundId round_id_;
  bool lacked_memory_ = false;
  std::int64_t local_spans_ = 0;  // where ids and names come from without a writer
  std::vector<std::string> local_names_;
  std::vector<Open> open_;
  std::vector<traces::Span> spans_;
  traces::StringId phase_name_ids_[traces::phase_count] = {};
};

/// Opens on construction, closes on destruction; does nothing for a null recorder or a finer level than
/// recorded.
class ScopedSpan {
 public:
  ScopedSpan(SpanRecorder* recorder, Level level, traces::StringId name_id, std::int32_t layer = -1)
      : recorder_(recorder),
        token_(recorder != nullptr && level <= recorder->level() ? recorder->open(level, name_id, layer)
                                                                 : -1) {}
  ScopedSpan(const ScopedSpan&) = delete;
  ScopedSpan& operator=(const ScopedSpan&) = delete;
  ~ScopedSpan() {
    if (token_ >= 0) recorder_->close(token_);
  }

 private:
  SpanRecorder* recorder_;
  std::int32_t token_;
};

}  // namespace draftscope::profiler
