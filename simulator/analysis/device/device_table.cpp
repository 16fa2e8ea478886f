// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/device_table.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace draftscope::simulator {

namespace {

bool is_selected(const DeviceSelection& selection, const DeviceWork& work) {
  return !selection.phase || *selection.phase == work.phase;
}

/// Calls visit(part) for each own time, cut to the windows. O(own times + windows).
template <typename Visit>
void walk_own(const DeviceTimeline& timeline, const DeviceSelection& selection, const Visit& visit) {
  auto own = timeline.own.begin();
  for (const TimeWindow& window : selection.windows) {
    own = std::lower_bound(own, timeline.own.end(), window.start_ns,
                           [](const OwnTime& part, std::int64_t time) { return part.end_ns <= time; });
    for (auto at = own; at != timeline.own.end() && at->start_ns < window.end_ns; ++at)
      if (is_selected(selection, timeline.work[at->work]))
        visit(
            OwnTime{std::max(at->start_ns, window.start_ns), std::min(at->end_ns, window.end_ns), at->work});
  }
}

/// Time that windows cover up to a moment. O(log windows) a question.
class CoveredTime {
 public:
  explicit CoveredTime(const std::vector<TimeWindow>& windows)
      : windows_(windows), before_(windows.size() + 1) {
    for (std::size_t i = 0; i < windows.size(); ++i)
      before_[i + 1] = before_[i] + windows[i].end_ns - windows[i].start_ns;
  }
  [[nodiscard]] std::int64_t until(std::int64_t time_ns) const {
    const std::size_t window = window_at(time_ns);
    if (window == windows_.size()) return before_.back();
    return before_[window] + std::max<std::int64_t>(time_ns - windows_[window].start_ns, 0);
  }
  [[nodiscard]] bool holds(std::int64_t time_ns) const {
    const std::size_t window = window_at(time_ns);
    return window < windows_.size() && windows_[window].start_ns <= time_ns;
  }

 private:
  /// The first window that ends after a moment.
  [[nodiscard]] std::size_t window_at(std::int64_t time_ns) const {
    const auto found =
        std::upper_bound(windows_.begin(), windows_.end(), time_ns,
                         [](std::int64_t time, const TimeWindow& window) { return time < window.end_ns; });
    return static_cast<std::size_t>(found - windows_.begin());
  }

  const std::vector<TimeWindow>& windows_;
  std::vector<std::int64_t> before_;  ///< [window] Covered time before it, then all.
};

/// Calls visit(index, time inside the windows) for each row that a window meets; a row that lasts no time
/// counts where it begins. O(rows · log windows).
template <typename Visit>
void walk_work(const DeviceTimeline& timeline, const DeviceSelection& selection, const Visit& visit) {
  const CoveredTime covered(selection.windows);
  for (std::uint32_t index = 0; index < timeline.work.size(); ++index) {
    const DeviceWork& work = timeline.work[index];
    if (!is_selected(selection, work)) continue;
    const std::int64_t inside_ns = covered.until(work.end_ns) - covered.until(work.start_ns);
    if (inside_ns > 0 || (work.open_ns() == 0 && covered.holds(work.start_ns))) visit(index, inside_ns);
  }
}

std::uint32_t name_of(const DeviceWork& work, DeviceNames by) {
  return by == DeviceNames::operations ? work.operation : work.kernel;
}

/// Orders windows, and joins those that overlap.
std::vector<TimeWindow> joined(std::vector<TimeWindow> windows) {
  std::sort(windows.begin(), windows.end(),
            [](const TimeWindow& a, const TimeWindow& b) { return a.start_ns < b.start_ns; });
  std::vector<TimeWindow> one;
  for (const TimeWindow& window : windows) {
    if (window.end_ns <= window.start_ns) continue;
    if (!one.empty() && window.start_ns <= one.back().end_ns)
      one.back().end_ns = std::max(one.back().end_ns, window.end_ns);
    else
      one.push_back(window);
  }
  return one;
}

/// Median and 99th percentile (nearest rank) of each name's open times.
void add_quantiles(const DeviceTimeline& timeline, DeviceNames by, const std::vector<std::uint32_t>& counted,
                   std::vector<DeviceRow>& by_name) {
  std::vector<std::size_t> begin(by_name.size() + 1);
  for (std::size_t name = 0; name < by_name.size(); ++name)
    begin[name + 1] = begin[name] + static_cast<std::size_t>(by_name[name].count);
  std::vector<std::int64_t> open_ns(begin.back());
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (const std::uint32_t work : counted)
    open_ns[next[name_of(timeline.work[work], by)]++] = timeline.work[work].open_ns();
  for (std::size_t name = 0; name < by_name.size(); ++name) {
    const std::size_t count = begin[name + 1] - begin[name];
    if (count == 0) continue;
    const auto first = open_ns.begin() + static_cast<std::ptrdiff_t>(begin[name]);
    const auto last = open_ns.begin() + static_cast<std::ptrdiff_t>(begin[name + 1]);
    const auto rank = [&](std::size_t percent) {
      const auto at = first + static_cast<std::ptrdiff_t>((count * percent + 99) / 100 - 1);
      std::nth_element(first, at, last);
      return *at;
    };
    by_name[name].median_ns = rank(50);
    by_name[name].p99_ns = rank(99);
  }
}

}  // namespace

std::int64_t DeviceSelection::wall_ns() const {
  return std::accumulate(
      windows.begin(), windows.end(), std::int64_t{0},
      [](std::int64_t sum, const TimeWindow& window) { return sum + window.end_ns - window.start_ns; });
}

DeviceSelection select_device(const DeviceTimeline& timeline, const traces::Recording& recording,
                              const DeviceQuestion& question) {
  DeviceSelection selection;
  selection.phase = question.phase;
  std::vector<TimeWindow> windows;
  if (question.range && !question.run) {
    windows.push_back(*question.range);
  } else {
    for (const traces::Request& request : recording.requests)
      if (!question.run ||
          (*question.run < recording.runs.size() && recording.runs[*question.run].id == request.run_id))
        windows.push_back({request.start_ns, request.end_ns});
    if (windows.empty() && !question.run && !timeline.own.empty())
      windows.push_back({timeline.own.front().start_ns, timeline.own.back().end_ns});
    if (question.range)
      for (TimeWindow& window : windows)
        window = {std::max(window.start_ns, question.range->start_ns),
                  std::min(window.end_ns, question.range->end_ns)};
  }
  selection.windows = joined(std::move(windows));
  return selection;
}

std::optional<double> DeviceRow::gb_s() const {
  if (bytes <= 0.0 || bytes_ns <= 0) return std::nullopt;
  return bytes / static_cast<double>(bytes_ns);
}

DeviceTable device_table(const DeviceTimeline& timeline, const DeviceSelection& selection, DeviceNames by) {
  DeviceTable table;
  std::vector<DeviceRow> by_name(timeline.names.size());
  // Own time of each row, whole and in the selection: bytes count by the part that was selected.
  std::vector<std::int64_t> whole_ns(timeline.work.size());
  for (const OwnTime& own : timeline.own) whole_ns[own.work] += own.end_ns - own.start_ns;
  walk_own(timeline, selection, [&](const OwnTime& own) {
    const DeviceWork& work = timeline.work[own.work];
    const std::int64_t ns = own.end_ns - own.start_ns;
    DeviceRow& row = by_name[name_of(work, by)];
    row.own_ns += ns;
    table.busy_ns += ns;
    if (work.bytes < 0) return;
    row.bytes_ns += ns;
    row.bytes +=
        static_cast<double>(work.bytes) * static_cast<double>(ns) / static_cast<double>(whole_ns[own.work]);
  });
  std::vector<std::uint32_t> counted;
  // By name: open times of which the occupancy is known, and warps in them.
  std::vector<std::pair<double, double>> occupied(timeline.names.size());
  walk_work(timeline, selection, [&](std::uint32_t index, std::int64_t inside_ns) {
    const DeviceWork& work = timeline.work[index];
    DeviceRow& row = by_name[name_of(work, by)];
    if (row.count++ == 0 || work.open_ns() > timeline.work[row.longest].open_ns()) row.longest = index;
    row.open_ns += inside_ns;
    counted.push_back(index);
    if (work.warps == 0 || !timeline.limits) return;
    auto& [known_ns, warps_ns] = occupied[name_of(work, by)];
    known_ns += static_cast<double>(inside_ns);
    warps_ns += static_cast<double>(inside_ns) * work.warps;
  });
  add_quantiles(timeline, by, counted, by_name);
  for (std::size_t name = 0; name < by_name.size(); ++name) {
    by_name[name].name = static_cast<std::uint32_t>(name);
    if (const auto [known_ns, warps_ns] = occupied[name]; known_ns > 0.0)
      by_name[name].occupancy = warps_ns / known_ns / timeline.limits->warps;
    if (by_name[name].count > 0) table.rows.push_back(by_name[name]);
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const DeviceRow& a, const DeviceRow& b) { return a.own_ns > b.own_ns; });
  table.wall_ns = selection.wall_ns();
  if (selection.phase) {
    table.wall_ns = table.busy_ns;
    for (const DeviceGap& gap : device_gaps(timeline, selection)) table.wall_ns += gap.ns();
  }
  return table;
}

std::vector<std::uint32_t> work_named(const DeviceTimeline& timeline, const DeviceSelection& selection,
                                      DeviceNames by, std::uint32_t name) {
  std::vector<std::uint32_t> found;
  walk_work(timeline, selection, [&](std::uint32_t index, std::int64_t /*inside_ns*/) {
    if (name_of(timeline.work[index], by) == name) found.push_back(index);
  });
  return found;
}

std::vector<double> busy_shares(const DeviceTimeline& timeline, TimeWindow of, std::size_t bins) {
  std::vector<double> shares(bins);
  const double width = static_cast<double>(of.end_ns - of.start_ns) / static_cast<double>(bins);
  if (bins == 0 || width <= 0.0) return {};
  walk_own(timeline, {.windows = {of}, .phase = {}}, [&](const OwnTime& own) {
    const auto start = static_cast<double>(own.start_ns - of.start_ns) / width;
    const auto end = static_cast<double>(own.end_ns - of.start_ns) / width;
    for (auto bin = static_cast<std::size_t>(start); bin < bins && static_cast<double>(bin) < end; ++bin) {
      const auto low = static_cast<double>(bin);
      shares[bin] += std::min(end, low + 1.0) - std::max(start, low);
    }
  });
  for (double& share : shares) share = std::min(share, 1.0);
  return shares;
}

}  // namespace draftscope::simulator
