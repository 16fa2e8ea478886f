// SPDX-License-Identifier: GPL-3.0-or-later
#include "cut_time.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "data/id_index.h"

namespace draftscope::gui {

namespace {

// Far enough for any clock, near enough that differences do not overflow.
constexpr std::int64_t forever = std::numeric_limits<std::int64_t>::max() / 4;

/// By request; those that were cut off end with their last round.
std::vector<TimeRange> request_times(const OpenedRecording& opened) {
  const traces::Recording& rows = opened.recording();
  std::vector<TimeRange> times;
  times.reserve(rows.requests.size());
  for (const traces::Request& request : rows.requests)
    times.push_back({request.start_ns, std::max(request.start_ns, request.end_ns)});
  for (std::uint32_t i = 0; i < rows.rounds.size(); ++i) {
    const auto of = static_cast<std::size_t>(&opened.request_of(i) - rows.requests.data());
    times[of].end_ns = std::max(times[of].end_ns, rows.rounds[i].end_ns);
  }
  return times;
}

/// Requests of each run in the order of their starts, as indices.
std::vector<std::vector<std::size_t>> requests_by_run(const OpenedRecording& opened,
                                                      const std::vector<TimeRange>& times) {
  const traces::Recording& rows = opened.recording();
  const IdIndex<traces::RunId> run_indices(rows.runs, [](const traces::Run& run) { return run.id; });
  std::vector<std::vector<std::size_t>> by_run(rows.runs.size());
  for (std::size_t i = 0; i < rows.requests.size(); ++i)
    if (const std::uint32_t run = run_indices[rows.requests[i].run_id]; run != no_index)
      by_run[run].push_back(i);
  for (std::vector<std::size_t>& requests : by_run)
    std::stable_sort(requests.begin(), requests.end(),
                     [&](std::size_t a, std::size_t b) { return times[a].start_ns < times[b].start_ns; });
  return by_run;
}

/// Requests that overlap as one, by the first's index.
std::vector<std::pair<std::size_t, TimeRange>> apart(const std::vector<std::size_t>& requests,
                                                     const std::vector<TimeRange>& times) {
  std::vector<std::pair<std::size_t, TimeRange>> result;
  for (const std::size_t request : requests)
    if (!result.empty() && times[request].start_ns < result.back().second.end_ns)
      result.back().second.end_ns = std::max(result.back().second.end_ns, times[request].end_ns);
    else
      result.emplace_back(request, times[request]);
  return result;
}

}  // namespace

CutTime::CutTime() : CutTime({Stretch{{-forever, forever}, -forever}}) {}

CutTime::CutTime(std::vector<Stretch> stretches) : stretches_(std::move(stretches)) {
  std::erase_if(stretches_, [](const Stretch& stretch) { return stretch.time.duration_ns() <= 0; });
  std::sort(stretches_.begin(), stretches_.end(),
            [](const Stretch& a, const Stretch& b) { return a.at_ns < b.at_ns; });
  by_time_.resize(stretches_.size());
  std::iota(by_time_.begin(), by_time_.end(), 0U);
  std::sort(by_time_.begin(), by_time_.end(), [this](std::uint32_t a, std::uint32_t b) {
    return stretches_[a].time.start_ns < stretches_[b].time.start_ns;
  });
}

bool CutTime::keeps(std::int64_t time_ns) const {
  const auto behind = std::upper_bound(
      by_time_.begin(), by_time_.end(), time_ns,
      [this](std::int64_t time, std::uint32_t of) { return time < stretches_[of].time.start_ns; });
  return behind != by_time_.begin() && time_ns < stretches_[*std::prev(behind)].time.end_ns;
}

std::size_t CutTime::first_ending_after(std::int64_t at_ns) const {
  return static_cast<std::size_t>(std::upper_bound(stretches_.begin(), stretches_.end(), at_ns,
                                                   [](std::int64_t at, const Stretch& stretch) {
                                                     return at < stretch.on_axis().end_ns;
                                                   }) -
                                  stretches_.begin());
}

TimeRange CutTime::whole() const {
  if (stretches_.empty()) return {};
  return {stretches_.front().at_ns, stretches_.back().on_axis().end_ns};
}

TimeRange CutTime::on_axis(TimeRange time) const {
  TimeRange found{forever, -forever};
  const Stretch* next = nullptr;  // that begins soonest after the time
  for (const Stretch& stretch : stretches_) {
    const std::int64_t from = std::max(time.start_ns, stretch.time.start_ns);
    const std::int64_t to = std::min(time.end_ns, stretch.time.end_ns);
    if (from < to) {
      found.start_ns = std::min(found.start_ns, stretch.at_ns + from - stretch.time.start_ns);
      found.end_ns = std::max(found.end_ns, stretch.at_ns + to - stretch.time.start_ns);
    }
    if (stretch.time.end_ns > time.start_ns &&
        (next == nullptr || stretch.time.start_ns < next->time.start_ns))
      next = &stretch;
  }
  if (found.start_ns < found.end_ns) return found;
  if (next == nullptr) return {whole().end_ns, whole().end_ns};
  const std::int64_t at = next->at_ns + std::max<std::int64_t>(0, time.start_ns - next->time.start_ns);
  return {at, at};
}

TimeRange CutTime::recorded(TimeRange axis) const {
  TimeRange found{forever, -forever};
  for (std::size_t i = first_ending_after(axis.start_ns);
       i < stretches_.size() && stretches_[i].at_ns < axis.end_ns; ++i) {
    const Stretch& stretch = stretches_[i];
    const std::int64_t from = std::max(axis.start_ns, stretch.at_ns);
    const std::int64_t to = std::min(axis.end_ns, stretch.on_axis().end_ns);
    found.start_ns = std::min(found.start_ns, stretch.time.start_ns + from - stretch.at_ns);
    found.end_ns = std::max(found.end_ns, stretch.time.start_ns + to - stretch.at_ns);
  }
  if (found.start_ns < found.end_ns) return found;
  const std::int64_t time_ns = recorded_at(axis.start_ns);
  return {time_ns, time_ns};
}

std::int64_t CutTime::recorded_at(std::int64_t at_ns) const {
  if (stretches_.empty()) return 0;
  const std::size_t i = first_ending_after(at_ns);
  // Between two stretches the nearer end is meant.
  const bool is_nearer_to_last =
      i == stretches_.size() || (i > 0 && at_ns < stretches_[i].at_ns &&
                                 at_ns - stretches_[i - 1].on_axis().end_ns < stretches_[i].at_ns - at_ns);
  if (is_nearer_to_last) return stretches_[i - 1].time.end_ns;
  return stretches_[i].time.start_ns + std::max<std::int64_t>(0, at_ns - stretches_[i].at_ns);
}

std::vector<TimeRange> CutTime::kept(TimeRange time) const {
  std::vector<TimeRange> parts;
  for (const Stretch& stretch : stretches_) {
    const TimeRange part{std::max(time.start_ns, stretch.time.start_ns),
                         std::min(time.end_ns, stretch.time.end_ns)};
    if (part.duration_ns() > 0) parts.push_back(part);
  }
  return parts;
}

CutTime time_of_run(const OpenedRecording& opened, std::size_t run_index) {
  const std::vector<TimeRange> times = request_times(opened);
  const auto by_run = requests_by_run(opened, times);
  if (run_index >= by_run.size()) return CutTime(std::vector<Stretch>{});
  std::vector<Stretch> stretches;
  std::int64_t at_ns = 0;
  for (const auto& [request, time] : apart(by_run[run_index], times)) {
    stretches.push_back({time, at_ns});
    at_ns += time.duration_ns();
  }
  return CutTime(std::move(stretches));
}

AlignedTimes align_runs(const OpenedRecording& opened) {
  const traces::Recording& rows = opened.recording();
  const std::vector<TimeRange> times = request_times(opened);
  struct Wanted {
    std::size_t request_index = 0;
    std::int64_t start_ns = forever;  // the first run's
    std::int64_t longest_ns = 0;
  };
  std::map<std::tuple<traces::PromptId, std::int32_t>, Wanted> wanted;
  std::vector<std::vector<std::pair<std::size_t, TimeRange>>> by_run;
  for (const std::vector<std::size_t>& requests : requests_by_run(opened, times)) {
    by_run.push_back(apart(requests, times));
    for (const auto& [request, time] : by_run.back()) {
      Wanted& slot = wanted[{rows.requests[request].prompt_id, rows.requests[request].repeat}];
      if (time.start_ns < slot.start_ns) {
        slot.start_ns = time.start_ns;
        slot.request_index = request;
      }
      slot.longest_ns = std::max(slot.longest_ns, time.duration_ns());
    }
  }
  std::vector<Wanted> order;
  order.reserve(wanted.size());
  for (const auto& [key, slot] : wanted) order.push_back(slot);
  std::sort(order.begin(), order.end(), [](const Wanted& a, const Wanted& b) {
    return std::tie(a.start_ns, a.request_index) < std::tie(b.start_ns, b.request_index);
  });
  AlignedTimes aligned;
  std::map<std::tuple<traces::PromptId, std::int32_t>, std::int64_t> places;
  std::int64_t at_ns = 0;
  for (const Wanted& slot : order) {
    const traces::Request& request = rows.requests[slot.request_index];
    places[{request.prompt_id, request.repeat}] = at_ns;
    aligned.places.push_back({slot.request_index, {at_ns, at_ns + slot.longest_ns}});
    at_ns += slot.longest_ns;
  }
  for (const auto& requests : by_run) {
    std::vector<Stretch> stretches;
    std::map<std::int64_t, bool> taken;
    for (const auto& [request, time] : requests) {
      const std::int64_t place = places.at({rows.requests[request].prompt_id, rows.requests[request].repeat});
      // A run that has a prompt and repeat twice shows the first.
      if (taken.emplace(place, true).second) stretches.push_back({time, place});
    }
    aligned.runs.emplace_back(std::move(stretches));
  }
  return aligned;
}

}  // namespace draftscope::gui
