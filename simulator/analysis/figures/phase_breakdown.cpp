// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <algorithm>
#include <vector>

#include "analysis/figures/request_rows.h"

namespace draftscope::simulator {

namespace {

struct Edge {
  std::int64_t time_ns;
  int phase;
  int change;  // +1 opens, -1 closes
};

constexpr auto idle = static_cast<std::size_t>(traces::Phase::idle);

}  // namespace

Breakdown phase_breakdown(std::span<const traces::Span> spans, std::int64_t start_ns, std::int64_t end_ns) {
  Breakdown breakdown{};
  std::vector<Edge> edges;
  edges.reserve(2 * spans.size());
  for (const traces::Span& span : spans) {
    if (span.depth != 0 || span.phase == traces::Phase::idle) continue;
    const std::int64_t from = std::max(span.start_ns, start_ns);
    const std::int64_t to = std::min(span.end_ns, end_ns);
    if (from >= to) continue;
    edges.push_back({from, static_cast<int>(span.phase), +1});
    edges.push_back({to, static_cast<int>(span.phase), -1});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.time_ns < b.time_ns; });

  // A sweep: between two edges the time belongs to the open phase of the highest priority, or to idle.
  std::array<int, traces::phase_count> open{};
  const auto owner = [&open] {
    const auto it = std::find_if(open.begin(), open.end(), [](int count) { return count > 0; });
    return it == open.end() ? static_cast<std::size_t>(traces::Phase::idle)
                            : static_cast<std::size_t>(it - open.begin());
  };
  std::int64_t now = start_ns;
  for (const Edge& edge : edges) {
    breakdown[owner()] += edge.time_ns - now;
    now = edge.time_ns;
    open[static_cast<std::size_t>(edge.phase)] += edge.change;
  }
  breakdown[owner()] += std::max<std::int64_t>(end_ns - now, 0);
  return breakdown;
}

void StreamedPhases::add(const traces::Span& span) {
  if (span.depth != 0 || span.request_id == 0) return;
  if (last_ == nullptr || span.request_id != last_request_id_) {
    last_request_id_ = span.request_id;
    last_ = &requests_[span.request_id];
  }
  last_->push_back({span.start_ns, span.end_ns, span.phase});
}

void StreamedPhases::add(StreamedPhases&& other) {
  for (auto& [request_id, intervals] : other.requests_) {
    Intervals& into = requests_[request_id];
    if (into.empty())
      into = std::move(intervals);
    else
      into.insert(into.end(), intervals.begin(), intervals.end());
  }
  other.requests_.clear();
  other.last_ = nullptr;
}

Breakdown StreamedPhases::breakdown(Intervals& intervals, std::int64_t start_ns, std::int64_t end_ns) {
  const auto starts_before = [](const Interval& a, const Interval& b) { return a.start_ns < b.start_ns; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), starts_before))
    std::sort(intervals.begin(), intervals.end(), starts_before);
  Breakdown result{};
  std::int64_t covered_ns = start_ns;
  bool overlaps = false;
  for (const Interval& interval : intervals) {
    if (interval.phase == traces::Phase::idle) continue;
    const std::int64_t from = std::max(interval.start_ns, start_ns);
    const std::int64_t to = std::min(interval.end_ns, end_ns);
    if (from >= to) continue;
    overlaps = overlaps || from < covered_ns;
    result[idle] += std::max<std::int64_t>(from - covered_ns, 0);
    result[static_cast<std::size_t>(interval.phase)] += to - from;
    covered_ns = std::max(covered_ns, to);
  }
  result[idle] += std::max<std::int64_t>(end_ns - covered_ns, 0);
  if (!overlaps) return result;
  // Several threads may have worked at once: the sweep decides which phase a time counts for.
  std::vector<traces::Span> spans;
  spans.reserve(intervals.size());
  for (const Interval& interval : intervals)
    spans.push_back({.start_ns = interval.start_ns, .end_ns = interval.end_ns, .phase = interval.phase});
  return phase_breakdown(spans, start_ns, end_ns);
}

void StreamedPhases::complete(const traces::Recording& recording, RecordingFigures& figures) {
  std::unordered_map<const traces::Request*, Breakdown> breakdowns;
  const auto complete_one = [&](const RunRows& run, RunBreakdown& into) {
    Breakdown sum{};
    for (const RequestRows& rows : run.requests) {
      const auto found = breakdowns.find(rows.request);
      if (found == breakdowns.end()) return;
      for (std::size_t phase = 0; phase < sum.size(); ++phase) sum[phase] += found->second[phase];
    }
    if (!run.requests.empty()) into = {BreakdownSource::spans, sum};
  };
  for (const traces::Request& request : recording.requests)
    if (const auto found = requests_.find(request.id); found != requests_.end() && !found->second.empty())
      breakdowns.emplace(&request, breakdown(found->second, request.start_ns, request.end_ns));
  const std::vector<RunRows> runs = finished_requests(recording);
  for (std::size_t run = 0; run < std::min(runs.size(), figures.runs.size()); ++run) {
    complete_one(runs[run], figures.runs[run].all.breakdown);
    for (Figures& part : figures.runs[run].by_category)
      complete_one(only_category(runs[run], part.category), part.breakdown);
  }
}

}  // namespace draftscope::simulator
