// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/profiler/device_trace.h>
#include <draftscope/profiler/span_recorder.h>

#include <algorithm>
#include <limits>
#include <new>
#include <span>

#include "nvtx_ranges.h"

namespace draftscope::profiler {

namespace {

// One round at the level `ops` is a few hundred spans; with this initial room, the first rounds do not grow
// the vector while they are timed.
constexpr std::size_t initial_spans = 8192;
constexpr std::size_t initial_nesting = 32;

}  // namespace

SpanRecorder::SpanRecorder(Level level, traces::Writer* writer) : level_(level), writer_(writer) {
  if (level_ == Level::off) return;
  spans_.reserve(initial_spans);
  open_.reserve(initial_nesting);
  nvtx_ = NvtxRanges::attach();
  if (writer_ != nullptr) {
    traces::Track track;
    track.kind = "host";
    track.name = "decoding thread";
    track_id_ = writer_->add(std::move(track));
  } else {
    track_id_ = 1;
  }
  for (int phase = 0; phase < traces::phase_count; ++phase)
    phase_name_ids_[phase] = name_id(traces::phase_name(static_cast<traces::Phase>(phase)));
}

SpanRecorder::~SpanRecorder() = default;

void SpanRecorder::attach(DeviceTrace* device, Level finest) {
  device_ = device;
  device_finest_ = finest;
}

traces::StringId SpanRecorder::name_id(std::string_view name) {
  const traces::StringId id = writer_ != nullptr ? writer_->intern(name) : local_name_id(name);
  if (nvtx_ != nullptr) nvtx_->register_name(id, name);
  return id;
}

traces::StringId SpanRecorder::local_name_id(std::string_view name) {
  const auto it = std::find(local_names_.begin(), local_names_.end(), name);
  if (it != local_names_.end()) return traces::StringId::from(it - local_names_.begin() + 1);
  local_names_.emplace_back(name);
  return traces::StringId::from(local_names_.size());
}

std::int32_t SpanRecorder::open_phase(traces::Phase phase, std::int64_t start_ns) {
  if (level_ == Level::off) return -1;
  traces::Span span;
  span.start_ns = start_ns;
  span.name_id = phase_name_ids_[static_cast<std::size_t>(phase)];
  span.phase = phase;
  if (!open_.empty()) span.depth = depth_below(spans_[open_.back().index].depth);
  return push(span, Level::phases);
}

std::int32_t SpanRecorder::open(Level level, traces::StringId name_id, std::int32_t layer) {
  if (level > level_ || level == Level::off) return -1;
  traces::Span span;
  span.name_id = name_id;
  span.layer = layer;
  span.depth = 1;  // Also outside any phase, since depth 0 belongs to phases, whose times add up to the wall
                   // time.
  if (!open_.empty()) {
    const traces::Span& parent = spans_[open_.back().index];
    span.phase = parent.phase;
    span.depth = depth_below(parent.depth);
  }
  span.start_ns = now_ns();  // Read the clock last, so that this function's own work counts for the parent.
  return push(span, level);
}

void SpanRecorder::close(std::int32_t token) {
  if (token < 0) return;
  close_at(token, now_ns());
}

void SpanRecorder::close_at(std::int32_t token, std::int64_t end_ns) {
  if (token < 0) return;
  // Normally this takes one step. A span whose close was skipped by an early return ends with the one around
  // it.
  while (open_.size() > static_cast<std::size_t>(token)) {
    traces::Span& span = spans_[open_.back().index];
    span.end_ns = std::max(end_ns, span.start_ns);
    if (open_.back().on_device) device_->pop_span();
    if (nvtx_ != nullptr) nvtx_->pop();
    open_.pop_back();
  }
}

void SpanRecorder::flush() {
  if (lacked_memory_) throw std::bad_alloc();
  if (writer_ == nullptr) return;
  const std::size_t finished = finished_count();
  if (finished > 0) {
    writer_->add(std::span<const traces::Span>(spans_.data(), finished));
    drop_first(finished);
  }
  if (device_ != nullptr) device_->collect();  // Collect after the spans that its rows refer to.
}

std::vector<traces::Span> SpanRecorder::take() {
  const std::size_t finished = finished_count();
  const auto end = spans_.begin() + static_cast<std::ptrdiff_t>(finished);
  std::vector<traces::Span> taken(spans_.begin(), end);
  drop_first(finished);
  return taken;
}

bool SpanRecorder::has_room() noexcept {
  // Grow them as push_back() would.
  try {
    if (open_.size() == open_.capacity()) open_.reserve(2 * open_.size());
    if (spans_.size() == spans_.capacity()) spans_.reserve(2 * spans_.size());
  } catch (const std::bad_alloc&) {
    lacked_memory_ = true;
  }
  return !lacked_memory_;
}

std::int32_t SpanRecorder::push(traces::Span span, Level level) {
  if (!has_room()) return -1;
  span.id = writer_ != nullptr ? writer_->next_span_id() : traces::SpanId::from(++local_spans_);
  span.parent_id = open_.empty() ? traces::SpanId() : open_.back().id;
  span.track_id = track_id_;
  span.request_id = request_id_;
  span.round_id = round_id_;
  span.end_ns = span.start_ns;
  const bool on_device = device_ != nullptr && level <= device_finest_;
  open_.push_back({span.id, spans_.size(), on_device});
  spans_.push_back(span);
  if (on_device) device_->push_span(span);
  if (nvtx_ != nullptr) nvtx_->push(span);
  return static_cast<std::int32_t>(open_.size() - 1);
}

std::size_t SpanRecorder::finished_count() const {
  return open_.empty() ? spans_.size() : open_.front().index;
}

void SpanRecorder::drop_first(std::size_t count) {
  spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(count));
  for (Open& open : open_) open.index -= count;
}

std::uint8_t SpanRecorder::depth_below(std::uint8_t parent_depth) {
  return parent_depth == std::numeric_limits<std::uint8_t>::max()
             ? parent_depth
             : static_cast<std::uint8_t>(parent_depth + 1);
}

}  // namespace draftscope::profiler
