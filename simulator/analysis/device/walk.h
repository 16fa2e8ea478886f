// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Walks over what a selection has of a device's timeline, in order of time.

#include <draftscope/simulator/analysis/device_table.h>
#include <algorithm>
#include <vector>

namespace draftscope::simulator {

[[nodiscard]] inline bool is_selected(const DeviceSelection& selection, const DeviceWork& work) {
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

}  // namespace draftscope::simulator
