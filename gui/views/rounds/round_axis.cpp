// SPDX-License-Identifier: GPL-3.0-or-later
#include "round_axis.h"

#include <tuple>

namespace draftscope::gui {

std::vector<RoundColumn> round_columns(const RoundAxis& axis, int min_width, std::size_t grain) {
  std::vector<RoundColumn> columns;
  const double a_pixel = axis.rounds_per_pixel();
  if (a_pixel * min_width < 2.0 * static_cast<double>(grain)) grain = 1;
  const int end = axis.left + axis.width;
  RoundColumn column{.left = axis.left, .first = axis.first};
  while (column.first < axis.last) {
    const double offset = std::ceil((column.left + min_width - axis.left) * a_pixel);
    const auto next = (axis.first + static_cast<std::size_t>(offset)) / grain * grain;
    column.last = std::clamp(next, column.first + 1, axis.last);
    column.right = std::clamp(static_cast<int>(std::floor(axis.x(static_cast<double>(column.last)))),
                              std::min(column.left + min_width, end), end);
    if (column.last == axis.last || column.right == end) {
      column.last = axis.last;
      column.right = end;
    }
    columns.push_back(column);
    column.left = column.right;
    column.first = column.last;
  }
  return columns;
}

RoundAxis visible_rounds(const ViewState& state, int left, int width) {
  RoundAxis axis{.left = left, .width = std::max(width, 1)};
  const RunRounds* run = state.shown_rounds();
  if (run == nullptr) return axis;
  std::tie(axis.first, axis.last) = state.places_in_range(run->rounds);
  return axis;
}

TimeRange time_of_rounds(const ViewState& state, std::size_t first, std::size_t last) {
  const RunRounds* run = state.shown_rounds();
  if (run == nullptr || run->rounds.empty()) return state.range();
  first = std::min(first, run->rounds.size() - 1);
  last = std::clamp(last, first + 1, run->rounds.size());
  return {state.recording()->round(run->rounds[first]).start_ns,
          state.recording()->round(run->rounds[last - 1]).end_ns};
}

TimeRange zoomed_rounds(const ViewState& state, const RoundAxis& axis, double factor, double pixel) {
  const RunRounds* run = state.shown_rounds();
  if (run == nullptr) return state.range();
  const double share = std::clamp((pixel - axis.left) / axis.width, 0.0, 1.0);
  const auto most = static_cast<double>(run->rounds.size());
  double count = std::clamp(static_cast<double>(axis.count()) * factor, 1.0, most);
  if (factor > 1.0) count = std::min(most, std::max(count, static_cast<double>(axis.count()) + 1.0));
  const double kept = static_cast<double>(axis.first) + share * static_cast<double>(axis.count());
  const double first = std::clamp(kept - share * count, 0.0, most - count);
  return time_of_rounds(state, static_cast<std::size_t>(first),
                        static_cast<std::size_t>(std::ceil(first + count)));
}

TimeRange moved_rounds(const ViewState& state, const RoundAxis& axis, double pixels) {
  const RunRounds* run = state.shown_rounds();
  if (run == nullptr) return state.range();
  const double most = static_cast<double>(run->rounds.size()) - static_cast<double>(axis.count());
  double by = pixels * axis.rounds_per_pixel();
  // A single round may fill many pixels, so a turn of the wheel moves at least one round.
  if (by != 0.0 && std::abs(by) < 1.0) by = by > 0.0 ? 1.0 : -1.0;
  const auto first =
      static_cast<std::size_t>(std::clamp(static_cast<double>(axis.first) + by, 0.0, std::max(most, 0.0)));
  return time_of_rounds(state, first, first + axis.count());
}

}  // namespace draftscope::gui
