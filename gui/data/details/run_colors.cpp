// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_colors.h"

#include <algorithm>

namespace draftscope::gui {

namespace {

bool is_vanilla(const OpenedRecording& opened, std::size_t run) {
  return opened.runs()[run].run->is_baseline;
}

double speed_of(const OpenedRecording& opened, std::size_t run) {
  return opened.measured().figures.runs[run].all.throughput.tokens_per_second.value_or(0.0);
}

std::size_t color_of(const ComparedRun& run) {
  if (run.row().is_baseline) return 0;
  std::size_t place = 1;
  for (const std::size_t other : runs_by_speed(*run.recording)) {
    if (other == run.run) break;
    if (!is_vanilla(*run.recording, other)) ++place;
  }
  return place;
}

}  // namespace

std::vector<std::size_t> runs_by_speed(const OpenedRecording& opened) {
  std::vector<std::size_t> order;
  order.reserve(opened.runs().size());
  for (std::size_t run = 0; run < opened.runs().size(); ++run)
    if (opened.round_count(run) > 0) order.push_back(run);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t run) { return speed_of(opened, run); });
  return order;
}

std::size_t run_to_open(const OpenedRecording& opened) {
  for (const std::size_t run : runs_by_speed(opened))
    if (!is_vanilla(opened, run)) return run;
  return 0;
}

std::vector<ComparedRun> runs_to_compare(const RecordingPointer& opened, std::size_t count) {
  std::vector<std::size_t> order = runs_by_speed(*opened);
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t run) { return is_vanilla(*opened, run); });
  if (order.size() > count) order.resize(count);
  std::vector<ComparedRun> runs;
  runs.reserve(order.size());
  for (const std::size_t run : order) runs.push_back({opened, run});
  return runs;
}

std::vector<std::size_t> run_colors(const std::vector<ComparedRun>& runs) {
  std::vector<std::size_t> colors;
  colors.reserve(runs.size());
  for (const ComparedRun& run : runs) {
    std::size_t color = color_of(run);
    while (std::ranges::find(colors, color) != colors.end()) ++color;
    colors.push_back(color);
  }
  return colors;
}

}  // namespace draftscope::gui
