// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Host spans: nested activities of the decoding thread, timed with one monotonic clock.
//
// Depth 0 is a phase, deeper spans are layers and operations. Phases never overlap, so
//     sum of phase spans + idle = wall time
// holds exactly, in integers (simulator/analysis/figures/phase_breakdown.cpp adds them up).
//
// A span costs two clock reads and one 88-byte append; spans finer than the chosen level cost one comparison.
// A null SpanRecorder* is allowed everywhere in the engine and records nothing. While a tool listens to NVTX,
// spans are also NVTX ranges (domain "draftscope", phases as categories, round or layer as payload). Without
// such a tool and without a device trace, that costs two comparisons with null.
//
// Thread-safety: only the decoding thread uses it.

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

/// Fineness of a recording. `off` still measures the times in a round's row.
enum class Level : std::uint8_t { off, phases, layers, ops };

class SpanRecorder {
 public:
  /// Sends spans to `writer` (not owned, must outlive this) on the track "host" that this creates. With a
  /// null writer, spans are available from take(), for tests and in-process reports.
  SpanRecorder(Level level, traces::Writer* writer);
  SpanRecorder(const SpanRecorder&) = delete;
  SpanRecorder& operator=(const SpanRecorder&) = delete;
  ~SpanRecorder();

  /// Assigns device work launched inside spans of up to `finest` to these spans from now on; flush() collects
  /// it. A level finer than phases only helps if kernels are launched one by one, and costs two CUPTI calls
  /// per span. `device` is not owned and must outlive the spans; null detaches. No span may be open.
  void attach(DeviceTrace* device, Level finest = Level::phases);

  [[nodiscard]] Level level() const { return level_; }

  /// Id of a name that is used often; call it once, not per span.
  [[nodiscard]] traces::StringId name_id(std::string_view name);

  /// Set the request and the round of the following spans (0 = none).
  void set_request(traces::RequestId request_id) { request_id_ = request_id; }
  void set_round(traces::RoundId round_id) { round_id_ = round_id; }

  /// Opens a span of `level`; returns a token for close(). Spans close in the reverse order of opening. A
  /// span inherits the phase of its parent unless it is itself a phase. A phase inside a phase is recorded at
  /// its depth, so that depth 0 stays free of overlap.
  ///
  /// A span that is not recorded has token -1. When memory runs out, recording ends and flush() throws: a
  /// forward pass opens spans among threads that wait for each other, where nothing may throw.
  std::int32_t open_phase(traces::Phase phase, std::int64_t start_ns);
  std::int32_t open(Level level, traces::StringId name_id, std::int32_t layer);
  void close(std::int32_t token);
  void close_at(std::int32_t token, std::int64_t end_ns);

  /// Hands the finished spans to the writer. Called between rounds, outside any measured phase. Throws
  /// std::bad_alloc if there was no memory for a span.
  void flush();

  /// Finished spans that no writer took, parents before children.
  [[nodiscard]] std::vector<traces::Span> take();

 private:
  struct Open {
    traces::SpanId id;
    std::size_t index;  // Reserved place in spans_, so that parents come before children.
    bool on_device;     // True if it was pushed to device_.
  };
  std::int32_t push(traces::Span span, Level level);
  [[nodiscard]] bool has_room() noexcept;
  [[nodiscard]] traces::StringId local_name_id(std::string_view name);
  [[nodiscard]] std::size_t finished_count() const;  // Number of spans before the outermost open one.
  void drop_first(std::size_t count);
  [[nodiscard]] static std::uint8_t depth_below(std::uint8_t parent_depth);

  Level level_;
  traces::Writer* writer_;
  DeviceTrace* device_ = nullptr;
  Level device_finest_ = Level::phases;
  std::unique_ptr<NvtxRanges> nvtx_;  // Null unless a tool is attached.
  traces::TrackId track_id_;
  traces::RequestId request_id_;
  traces::RoundId round_id_;
  bool lacked_memory_ = false;
  std::int64_t local_spans_ = 0;  // Number of ids given without a writer.
  std::vector<std::string> local_names_;
  std::vector<Open> open_;
  std::vector<traces::Span> spans_;
  traces::StringId phase_name_ids_[traces::phase_count] = {};
};

/// Opens a span on construction, closes it on destruction. Does nothing for a null recorder or a too fine
/// level.
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
