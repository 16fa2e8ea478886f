// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/device_table.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace draftscope::simulator {

namespace {

GapKind kind_of(const DeviceWork* before, const DeviceWork* after) {
  if (before == nullptr || after == nullptr || before->run != after->run ||
      before->round_id != after->round_id)
    return GapKind::host;
  return gap_kind(before->launch, after->launch);
}

/// Edges of 1, 2, 5, 10, … that hold the interval.
std::vector<double> logarithmic_edges(double low, double high) {
  std::vector<double> edges;
  for (double decade = 1.0; edges.empty() || edges.back() <= high; decade *= 10.0)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double edge = decade * factor;
      if (edge <= low) edges.clear();
      if (edges.empty() || edges.back() <= high) edges.push_back(edge);
    }
  return edges;
}

/// Equal bins of 1, 2 or 5 times a power of ten, about thirty of them, that hold the interval.
std::vector<double> equal_edges(double low, double high) {
  constexpr double bins = 30.0;
  // A bin must be wide enough to differ from the next one in a double.
  const double least = std::max({(high - low) / bins, low * 1e-12, 1.0});
  double step = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {2.0, 2.5, 2.0}) {
    if (step >= least) break;
    step *= factor;
  }
  std::vector<double> edges{std::floor(low / step) * step};
  while (edges.back() <= high) edges.push_back(edges.back() + step);
  return edges;
}

}  // namespace

std::vector<DeviceGap> device_gaps(const DeviceTimeline& timeline, const DeviceSelection& selection) {
  std::vector<DeviceGap> gaps;
  auto next = timeline.own.begin();
  const auto work_of = [&](std::uint32_t index) {
    return index == no_work ? nullptr : &timeline.work[index];
  };
  for (const TimeWindow& window : selection.windows) {
    next = std::lower_bound(next, timeline.own.end(), window.start_ns,
                            [](const OwnTime& part, std::int64_t time) { return part.end_ns <= time; });
    std::int64_t from_ns = window.start_ns;
    std::uint32_t before = no_work;
    const auto add_until = [&](std::int64_t to_ns, std::uint32_t after) {
      if (to_ns <= from_ns) return;
      const DeviceWork* of = after == no_work ? work_of(before) : work_of(after);
      const traces::Phase phase = of == nullptr ? traces::Phase::control : of->phase;
      if (!selection.phase || *selection.phase == phase)
        gaps.push_back({from_ns, to_ns, before, after, kind_of(work_of(before), work_of(after))});
    };
    for (auto at = next; at != timeline.own.end() && at->start_ns < window.end_ns; ++at) {
      add_until(at->start_ns, at->work);
      from_ns = std::min(at->end_ns, window.end_ns);
      before = at->work;
    }
    add_until(window.end_ns, no_work);
  }
  return gaps;
}

std::vector<std::size_t> longest_gaps(const std::vector<DeviceGap>& gaps, std::size_t count) {
  std::vector<std::size_t> order(gaps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::partial_sort(order.begin(), middle, order.end(), [&](std::size_t a, std::size_t b) {
    return gaps[a].ns() != gaps[b].ns() ? gaps[a].ns() > gaps[b].ns() : a < b;
  });
  order.erase(middle, order.end());
  return order;
}

std::array<GapSum, gap_kind_names.size()> sums_of(const std::vector<DeviceGap>& gaps) {
  std::array<GapSum, gap_kind_names.size()> sums;
  for (const DeviceGap& gap : gaps) {
    GapSum& sum = sums[static_cast<std::size_t>(gap.kind)];
    sum.count += 1;
    sum.ns += gap.ns();
  }
  return sums;
}

DurationHistogram histogram_of(const std::vector<std::int64_t>& durations_ns) {
  constexpr std::int64_t wide = 20;
  DurationHistogram histogram;
  if (durations_ns.empty()) return histogram;
  const auto [least, most] = std::minmax_element(durations_ns.begin(), durations_ns.end());
  const double low = static_cast<double>(std::max<std::int64_t>(*least, 1));
  const auto high = static_cast<double>(std::max<std::int64_t>(*most, 1));
  histogram.edges_ns = high >= low * wide ? logarithmic_edges(low, high) : equal_edges(low, high);
  histogram.counts.resize(histogram.edges_ns.size() - 1);
  for (const std::int64_t ns : durations_ns) {
    const auto above = std::upper_bound(histogram.edges_ns.begin() + 1, histogram.edges_ns.end() - 1,
                                        static_cast<double>(ns));
    histogram.counts[static_cast<std::size_t>(above - histogram.edges_ns.begin()) - 1] += 1;
  }
  return histogram;
}

}  // namespace draftscope::simulator
