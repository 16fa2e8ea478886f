// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parts that the readers share: whole tables as vectors, and intervals as a stream.

#include <draftscope/traces/overview.h>
#include <draftscope/traces/reader.h>
#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reading/open.h"
#include "reading/scan.h"
#include "storage/primary_key.h"

namespace draftscope::traces {

template <typename Record>
Result<std::vector<Record>> read_all(OpenTrace& trace,
                                     std::size_t most = std::numeric_limits<std::size_t>::max()) {
  std::vector<Record> rows;
  bool rising = true;
  DRAFTSCOPE_TRY(scan<Record>(trace, "", "", [&](const Record& row) {
    // Rows come in the order of their key; one that does not is met twice in a damaged tree, and could be met
    // without end.
    rising = rows.empty() || primary_key(rows.back()) < primary_key(row);
    // Memory that is not touched costs nothing, copying rows does: by fours it is a third of what it is by
    // twos.
    if (rows.size() == rows.capacity()) rows.reserve(std::max<std::size_t>(64, 4 * rows.size()));
    if (rising) rows.push_back(row);
    return rising && rows.size() <= most;
  }));
  if (rows.size() > most)
    return fail("{}: table {}: found more rows, expected at most {}", trace.path.string(), table_name<Record>,
                most);
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

/// Streams a table in the order that readers have.
template <typename Record>
Result<void> scan_in_order(OpenTrace& trace, const std::function<bool(const Record&)>& visit) {
  if constexpr (requires(const Record& row) { row.end_ns; })
    return scan_intervals<Record>(trace, "", table_of<Record>.order, visit);
  else
    return scan<Record>(trace, "", table_of<Record>.order, visit);
}

[[nodiscard]] Result<Meta> read_meta(OpenTrace& trace);

/// Without rounds and draft tokens.
[[nodiscard]] Result<Recording> read_outline(OpenTrace& trace);
[[nodiscard]] Result<Recording> read_recording(OpenTrace& trace);
[[nodiscard]] Result<std::optional<Overview>> read_overview(OpenTrace& trace);
[[nodiscard]] Result<std::unordered_map<StringId, std::string>> read_strings(OpenTrace& trace);
[[nodiscard]] Result<std::unordered_map<std::int32_t, std::string>> read_token_texts(OpenTrace& trace);

}  // namespace draftscope::traces
