// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A query's result as intervals of time, for a lane of the timeline.

#include <draftscope/traces/query.h>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "data/time_range.h"

namespace draftscope::gui {

/// Columns of a result that make intervals: a begin (begin_ns or start_ns), and an end (end_ns) or a duration
/// (duration_ns).
struct IntervalColumns {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool end_is_duration = false;
  std::optional<std::size_t> label;  ///< First column called name, label or text; absent = none.
};

/// Absent if the columns make no intervals. Names are compared without case.
[[nodiscard]] std::optional<IntervalColumns> interval_columns(const std::vector<std::string>& columns);

struct QueryInterval {
  TimeRange time;
  std::string label;
};

struct QueryIntervals {
  std::vector<QueryInterval> intervals;  ///< Intervals in the order of their begin.
  std::size_t left_out = 0;              ///< Rows without two numbers, or that end before they begin.
};

[[nodiscard]] QueryIntervals intervals_of(const traces::QueryResult& result, const IntervalColumns& columns);

}  // namespace draftscope::gui
