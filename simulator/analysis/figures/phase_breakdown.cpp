// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>

#include <algorithm>
#include <vector>

namespace draftscope::simulator {

namespace {

struct Edge {
  std::int64_t time_ns;
  int phase;
  int change;  // +1 opens, -1 closes
};

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

}  // namespace draftscope::simulator
