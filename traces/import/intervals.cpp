// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/intervals.h"

#include <algorithm>
#include <tuple>

namespace draftscope::traces {
namespace {

constexpr std::size_t max_overlapping = 256;
constexpr std::size_t max_depth = 255;

/// Open ranges of one track, the outermost first.
struct OpenTrack {
  std::vector<std::size_t> open;
  TrackId id;
};

}  // namespace

std::int8_t phase_named(std::string_view name) {
  for (int phase = 0; phase < static_cast<int>(Phase::idle); ++phase)
    if (phase_name(static_cast<Phase>(phase)) == name) return static_cast<std::int8_t>(phase);
  return no_phase;
}

std::uint32_t Intervals::add(const Interval& interval) {
  rows_.push_back(interval);
  rows_.back().order = static_cast<std::uint32_t>(rows_.size() - 1);
  return rows_.back().order;
}

void Intervals::sort() {
  std::sort(rows_.begin(), rows_.end(), [](const Interval& a, const Interval& b) {
    return std::tie(a.lane, a.is_outer, a.start_ns, b.end_ns, a.order) <
           std::tie(b.lane, b.is_outer, b.start_ns, a.end_ns, b.order);
  });
}

Result<void> Intervals::nest(Writer* writer, const std::string& name,
                             const std::vector<std::string>& lane_names) {
  placed_.assign(rows_.size(), {});
  std::vector<OpenTrack> tracks;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Interval& row = rows_[i];
    if (i == 0 || row.lane != rows_[i - 1].lane || row.is_outer != rows_[i - 1].is_outer) tracks.clear();
    const auto fits = [&](OpenTrack& track) {
      while (!track.open.empty() && rows_[track.open.back()].end_ns <= row.start_ns) track.open.pop_back();
      return track.open.empty() || rows_[track.open.back()].end_ns >= row.end_ns;
    };
    auto track = std::find_if(tracks.begin(), tracks.end(), fits);
    if (track == tracks.end()) {
      if (tracks.size() == max_overlapping)
        return fail("{}: more than {} ranges of {} overlap at {} ns, expected ranges that nest", name,
                    max_overlapping, lane_names[row.lane], row.start_ns);
      tracks.emplace_back();
      track = tracks.end() - 1;
      if (writer != nullptr)
        track->id = writer->add(Track{0, "host", lane_names[row.lane] + (row.is_outer ? ", outer" : ""), 0,
                                      static_cast<std::int32_t>(row.lane)});
    }
    Placed& placed = placed_[i];
    placed.track_id = track->id;
    if (!track->open.empty()) placed.parent_index = static_cast<std::int64_t>(track->open.back());
    if (track->open.size() > max_depth)
      return fail("{}: found ranges inside each other, expected at most {} of {} at {} ns", name, max_depth,
                  lane_names[row.lane], row.start_ns);
    placed.depth = static_cast<std::uint8_t>(track->open.size());
    if (row.phase != no_phase)
      placed.phase = static_cast<Phase>(row.phase);
    else if (placed.parent_index >= 0)
      placed.phase = placed_[static_cast<std::size_t>(placed.parent_index)].phase;
    track->open.push_back(i);
  }
  return {};
}

bool Intervals::separate_outer_ranges() {
  std::vector<bool> holds_phase(rows_.size(), false);
  bool any = false;
  for (std::size_t i = rows_.size(); i-- > 0;) {
    const std::int64_t parent = placed_[i].parent_index;
    if (parent >= 0 && (holds_phase[i] || rows_[i].phase != no_phase))
      holds_phase[static_cast<std::size_t>(parent)] = true;
  }
  std::vector<bool> in_phase(rows_.size(), false);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::int64_t parent = placed_[i].parent_index;
    in_phase[i] = rows_[i].phase != no_phase || (parent >= 0 && in_phase[static_cast<std::size_t>(parent)]);
    rows_[i].is_outer = holds_phase[i] && !in_phase[i];
    any |= rows_[i].is_outer;
  }
  return any;
}

Result<void> Intervals::place(Writer& writer, const std::string& name,
                              const std::vector<std::string>& lane_names) {
  sort();
  DRAFTSCOPE_TRY(nest(nullptr, name, lane_names));
  if (separate_outer_ranges()) sort();
  return nest(&writer, name, lane_names);
}

void Intervals::write(PacedTrace& target) {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const SpanId id = target.writer().next_span_id();
    if (i == 0) first_id_ = id;
    const Interval& row = rows_[i];
    const Placed& placed = placed_[i];
    const SpanId parent_id =
        placed.parent_index >= 0 ? span_id(static_cast<std::size_t>(placed.parent_index)) : SpanId();
    // A range that contains phases of several rounds or requests belongs to none of them.
    const bool is_tagged = !row.is_outer;
    target.add(Span{id, parent_id, placed.track_id, is_tagged ? row.request_id : RequestId(),
                    is_tagged ? row.round_id : RoundId(), row.start_ns, row.end_ns,
                    StringId::from(row.name_id), row.layer, placed.depth, placed.phase});
  }
}

std::optional<std::size_t> Intervals::innermost(std::uint32_t lane, std::int64_t time_ns) const {
  // The search finds the last range that starts by then; it or one of those around it contains the time, if
  // any on its track does.
  const auto end = std::upper_bound(rows_.begin(), rows_.end(), std::tuple(lane, false, time_ns),
                                    [](const auto& key, const Interval& row) {
                                      return key < std::tuple(row.lane, row.is_outer, row.start_ns);
                                    });
  if (end == rows_.begin()) return std::nullopt;
  auto index = static_cast<std::int64_t>(end - rows_.begin()) - 1;
  if (rows_[static_cast<std::size_t>(index)].lane != lane || rows_[static_cast<std::size_t>(index)].is_outer)
    return std::nullopt;
  while (index >= 0 && rows_[static_cast<std::size_t>(index)].end_ns <= time_ns)
    index = placed_[static_cast<std::size_t>(index)].parent_index;
  if (index < 0) return std::nullopt;
  return static_cast<std::size_t>(index);
}

}  // namespace draftscope::traces
