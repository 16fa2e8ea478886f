// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the readers have in common: whole tables as vectors, and intervals as a stream.

#include <draftscope/traces/overview.h>
#include <draftscope/traces/reader.h>
#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "overview/overview_builder.h"
#include "scan.h"
#include "storage/open.h"

namespace draftscope::traces {

inline constexpr std::string_view by_track = "track, start_ns, id";

template <typename Record>
auto stored_order(const Record& row) {
  if constexpr (std::is_same_v<Record, DraftToken>)
    return std::pair(row.round, row.index);
  else if constexpr (std::is_same_v<Record, LaneColumn>)
    return lane_column_key(row);
  else if constexpr (std::is_same_v<Record, RoundColumn>)
    return std::pair(row.run, row.start_ns);
  else if constexpr (std::is_same_v<Record, RequestSum>)
    return row.request;
  else
    return row.id;
}

template <typename Record>
Result<std::vector<Record>> read_all(OpenTrace& trace,
                                     std::size_t most = std::numeric_limits<std::size_t>::max()) {
  std::vector<Record> rows;
  bool rising = true;
  DRAFTSCOPE_TRY(scan<Record>(trace, "", "", [&](const Record& row) {
    // Rows come in the order of their key; one that does not is met twice in a damaged tree, and could be met
    // without end.
    rising = rows.empty() || stored_order(rows.back()) < stored_order(row);
    // Memory that is not touched costs nothing, copying rows does: by fours it is a third of what it is by
    // twos.
    if (rows.size() == rows.capacity()) rows.reserve(std::max<std::size_t>(64, 4 * rows.size()));
    if (rising) rows.push_back(row);
    return rising && rows.size() <= most;
  }));
  if (rows.size() > most)
    return fail("{}: table {}: more than {} rows", trace.path.string(), table_name<Record>, most);
  if (!rising)
    return fail("{}: table {}: rows out of order after row {}", trace.path.string(), table_name<Record>,
                rows.size());
  return rows;
}

/// Times that run backwards would make negative durations everywhere.
template <typename Record>
bool ordered(const Record& row) {
  return row.end_ns >= row.start_ns;
}

template <typename Record>
Result<void> scan_intervals(OpenTrace& trace, std::string_view where, std::string_view order,
                            const std::function<bool(const Record&)>& visit) {
  Result<void> problem;
  DRAFTSCOPE_TRY(scan<Record>(trace, where, order, [&](const Record& row) {
    if (!ordered(row)) {
      problem = fail("{}: {} row {}: end_ns is {}, expected at least start_ns ({})", trace.path.string(),
                     table_name<Record>, row.id, row.end_ns, row.start_ns);
      return false;
    }
    return visit(row);
  }));
  return problem;
}

[[nodiscard]] Result<Meta> read_meta(OpenTrace& trace);

/// Without rounds and draft tokens.
[[nodiscard]] Result<Recording> read_outline(OpenTrace& trace);
[[nodiscard]] Result<Recording> read_recording(OpenTrace& trace);
[[nodiscard]] Result<std::unordered_map<std::int64_t, std::string>> read_strings(OpenTrace& trace);
[[nodiscard]] Result<std::unordered_map<std::int32_t, std::string>> read_token_texts(OpenTrace& trace);

}  // namespace draftscope::traces
