// SPDX-License-Identifier: GPL-3.0-or-later
#include "export/timeline.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <unordered_set>

namespace draftscope::traces {
namespace {

/// The lanes of all tracks, and the open slices on them.
class Lanes {
 public:
  Lanes(const std::vector<Track>& tracks, TimelineSink& sink) : sink_(sink) {
    for (const Track& track : tracks) tracks_.emplace(track.id, track);
    for (const Track& track : tracks) first_lane(track.id);
  }

  /// The first lane of a track; a new one is opened, after its parents' lanes.
  int first_lane(TrackId id) {
    if (const auto found = lanes_of_.find(id); found != lanes_of_.end()) return found->second.front();
    // The loop goes up to a track that has a lane, or to the outermost. In a damaged file a track may be
    // among its own ancestors; the last track before the repetition is then the outermost.
    std::vector<TrackId> chain;
    std::unordered_set<TrackId> seen;
    for (TrackId next = id; !lanes_of_.contains(next) && seen.insert(next).second;) {
      chain.push_back(next);
      next = track_of(next).parent_id;
      if (next.is_none()) break;
    }
    int lane = -1;
    for (auto place = chain.rbegin(); place != chain.rend(); ++place) {
      const TrackId next = *place;
      const Track& track = track_of(next);
      const auto parent = track.parent_id.is_none() ? lanes_of_.end() : lanes_of_.find(track.parent_id);
      lane = open_lane(track, parent == lanes_of_.end() ? -1 : parent->second.front());
    }
    return lane;
  }

  /// Adds a slice on a track that the recording itself lacks.
  void add(const Track& track, const Slice& slice) {
    tracks_.try_emplace(track.id, track);
    add(track.id, slice);
  }

  void add(TrackId track_id, const Slice& slice) {
    first_lane(track_id);
    const int lane = lane_for(track_id, slice);
    sink_.begin(lane, slice);
    open_[static_cast<std::size_t>(lane)].push_back(
        {slice.end_ns, slice.span != nullptr ? slice.span->id : SpanId()});
  }

  void close_all() {
    for (std::size_t lane = 0; lane < open_.size(); ++lane)
      while (!open_[lane].empty()) close_top(lane);
  }

 private:
  struct Open {
    std::int64_t end_ns;
    SpanId span_id;  // none for other slices
  };

  /// The track itself, or a substitute for an id that the recording lacks.
  const Track& track_of(TrackId id) {
    const std::string name = id.is_none() ? "requests" : fmt::format("track {}", id);
    return tracks_.try_emplace(id, Track{id, "host", name, 0, 0}).first->second;
  }

  int open_lane(const Track& track, int parent) {
    const int lane = static_cast<int>(open_.size());
    open_.emplace_back();
    parents_.push_back(parent);
    lanes_of_[track.id].push_back(lane);
    sink_.open_lane(lane, track, parent);
    return lane;
  }

  void close_top(std::size_t lane) {
    sink_.end(static_cast<int>(lane), open_[lane].back().end_ns);
    open_[lane].pop_back();
  }

  int lane_for(TrackId track_id, const Slice& slice) {
    const SpanId parent_id = slice.span != nullptr ? slice.span->parent_id : SpanId();
    const std::vector<int>& lanes = lanes_of_.at(track_id);
    int fitting = -1;
    for (const int lane : lanes) {
      std::vector<Open>& open = open_[static_cast<std::size_t>(lane)];
      // A parent stays open for a child of zero length at its very end.
      const auto is_parent = [&] { return !parent_id.is_none() && open.back().span_id == parent_id; };
      while (!open.empty() && open.back().end_ns <= slice.start_ns &&
             !(is_parent() && open.back().end_ns == slice.start_ns && slice.end_ns == slice.start_ns))
        close_top(static_cast<std::size_t>(lane));
      if (!open.empty() && open.back().end_ns < slice.end_ns) continue;
      if (!open.empty() && is_parent()) return lane;
      if (fitting < 0) fitting = lane;
    }
    if (fitting >= 0) return fitting;
    const int sibling_parent = parents_[static_cast<std::size_t>(lanes.front())];
    return open_lane(tracks_.at(track_id), sibling_parent);
  }

  TimelineSink& sink_;
  std::unordered_map<TrackId, Track> tracks_;
  std::unordered_map<TrackId, std::vector<int>> lanes_of_;
  std::vector<std::vector<Open>> open_;  // by lane
  std::vector<int> parents_;             // by lane
};

/// Requests and rounds in the order of their starts, each request before its first round.
std::vector<Slice> outer_slices(const Recording& recording) {
  std::vector<Slice> slices;
  std::unordered_map<RequestId, std::int64_t> last_ns;  // by request: the assumed end of a cut-off one
  for (const Round& round : recording.rounds) {
    slices.push_back(
        {.round = &round, .start_ns = round.start_ns, .end_ns = std::max(round.start_ns, round.end_ns)});
    std::int64_t& last = last_ns[round.request_id];
    last = std::max(last, slices.back().end_ns);
  }
  for (const Request& request : recording.requests) {
    std::int64_t end_ns = request.end_ns;
    if (end_ns == 0) end_ns = std::max(request.first_token_ns, last_ns[request.id]);
    slices.push_back(
        {.request = &request, .start_ns = request.start_ns, .end_ns = std::max(request.start_ns, end_ns)});
  }
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    const bool a_inner = a.request == nullptr;
    const bool b_inner = b.request == nullptr;
    return std::tie(a.start_ns, a_inner) < std::tie(b.start_ns, b_inner);
  });
  return slices;
}

TrackId first_host_track(const Recording& recording) {
  const Track* first = nullptr;
  for (const Track& track : recording.tracks)
    if (track.kind == "host" && (first == nullptr || track.sort < first->sort)) first = &track;
  return first != nullptr ? first->id : TrackId();
}

/// A track below all recorded ones. The file has no such track, and a recording without decisions gets none.
Track decision_track(const Recording& recording) {
  Track last{0, "host", "decisions", 0, 0};
  for (const Track& track : recording.tracks) {
    last.id = std::max(last.id, track.id);
    last.sort = std::max(last.sort, track.sort);
  }
  // A hostile file may have used up the numbers.
  if (const std::int64_t number = last.id.value(); number < std::numeric_limits<std::int64_t>::max())
    last.id = TrackId::from(number + 1);
  if (last.sort < std::numeric_limits<std::int32_t>::max()) ++last.sort;
  return last;
}

/// Calls Progress now and then, and remembers whether it asked to stop.
class Steps {
 public:
  Steps(const Progress& progress, const TimelineSink& sink, std::int64_t all)
      : progress_(progress), sink_(sink), all_(all) {}
  bool next() {
    if (++done_ % rows_per_progress != 0) return true;
    if (sink_.failed()) return false;
    cancelled_ = progress_ && !progress_(done_, all_);
    return !cancelled_;
  }
  [[nodiscard]] bool cancelled() const { return cancelled_; }
  [[nodiscard]] bool go_on() const { return !cancelled_ && !sink_.failed(); }

 private:
  const Progress& progress_;
  const TimelineSink& sink_;
  std::int64_t all_;
  std::int64_t done_ = 0;
  bool cancelled_ = false;
};

/// Adds the host's requests, rounds and spans to the lanes.
Result<void> add_host_slices(Reader& reader, const Recording& recording, Lanes& lanes, Steps& steps) {
  const std::vector<Slice> outer = outer_slices(recording);
  const TrackId host = first_host_track(recording);
  auto next_outer = outer.begin();
  const auto add_outer_until = [&](std::int64_t start_ns) {
    for (; next_outer != outer.end() && next_outer->start_ns <= start_ns; ++next_outer)
      lanes.add(host, *next_outer);
  };
  constexpr std::int64_t all_of_time = std::numeric_limits<std::int64_t>::max();
  bool host_passed = false;
  DRAFTSCOPE_TRY(reader.spans([&](const Span& span) {
    if (span.track_id == host) {
      add_outer_until(span.start_ns);
    } else if (span.track_id > host && !host_passed) {
      add_outer_until(all_of_time);
      host_passed = true;
    }
    lanes.add(span.track_id, {.span = &span, .start_ns = span.start_ns, .end_ns = span.end_ns});
    return steps.next();
  }));
  if (steps.go_on()) add_outer_until(all_of_time);
  return {};
}

}  // namespace

Result<std::int64_t> count_rows(Reader& reader, std::initializer_list<std::string_view> tables) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<TableCount> counts, reader.row_counts());
  std::int64_t rows = 0;
  for (const TableCount& count : counts)
    if (std::find(tables.begin(), tables.end(), count.table) != tables.end()) rows += count.rows;
  return rows;
}

Result<TimelineNames> read_names(Reader& reader) {
  TimelineNames names;
  DRAFTSCOPE_TRY_ASSIGN(names.recording, reader.recording());
  DRAFTSCOPE_TRY_ASSIGN(names.strings, reader.strings());
  std::unordered_map<RunId, const Run*> runs;
  for (const Run& run : names.recording.runs) runs.emplace(run.id, &run);
  for (const Request& request : names.recording.requests)
    names.run_of_request.emplace(request.id, runs.at(request.run_id));
  DRAFTSCOPE_TRY(reader.kernels([&](const Kernel& kernel) {
    if (kernel.span_id != 0) names.kernels_of_span[kernel.span_id].push_back(kernel.id);
    return true;
  }));
  return names;
}

Result<void> walk_timeline(Reader& reader, const TimelineNames& names, TimelineSink& sink,
                           const Progress& progress) {
  std::int64_t all = 0;
  if (progress) {
    DRAFTSCOPE_TRY_ASSIGN(all, count_rows(reader, {"spans", "kernels", "decisions", "counters"}));
  }
  Steps steps(progress, sink, all);
  Lanes lanes(names.recording.tracks, sink);

  DRAFTSCOPE_TRY(add_host_slices(reader, names.recording, lanes, steps));
  if (steps.go_on()) {
    DRAFTSCOPE_TRY(reader.kernels([&](const Kernel& kernel) {
      lanes.add(kernel.track_id, {.kernel = &kernel, .start_ns = kernel.start_ns, .end_ns = kernel.end_ns});
      return steps.next();
    }));
  }
  if (steps.go_on()) {
    const Track track = decision_track(names.recording);
    DRAFTSCOPE_TRY(reader.decisions([&](const Decision& decision) {
      lanes.add(track, {.decision = &decision, .start_ns = decision.start_ns, .end_ns = decision.end_ns});
      return steps.next();
    }));
  }
  if (steps.go_on())
    DRAFTSCOPE_TRY(reader.counters([&](const Counter& counter) {
      sink.counter(lanes.first_lane(counter.track_id), counter);
      return steps.next();
    }));
  if (steps.cancelled()) return fail("export cancelled");
  lanes.close_all();
  if (progress && !progress(all, all)) return fail("export cancelled");
  return {};
}

}  // namespace draftscope::traces
