// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tables of a trace; traces/SCHEMA.md explains them and what each version added.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace draftscope::traces {

/// "DStr" in ASCII, in the SQLite header's application_id field: `file` and this reader tell a trace by it.
inline constexpr std::int32_t application_id = 0x44537472;
inline constexpr int current_schema_version = 5;

/// Maximum time of a row, 146 years of uptime: differences and sums of two times stay in range.
inline constexpr std::int64_t max_ns = std::int64_t{1} << 62U;

/// A table or column that a version added to the one before it; `column` is empty for a whole table. A file
/// of an older version stays as it is: what it lacks reads as no rows, or as zeros.
struct Addition {
  int version;
  std::string_view table;
  std::string_view column;
};
inline constexpr std::array<Addition, 13> additions{{{2, "rounds", "tree_depth"},
                                                     {2, "rounds", "optimise_ns"},
                                                     {2, "decisions", ""},
                                                     {2, "shadow_tokens", ""},
                                                     {3, "token_texts", ""},
                                                     {4, "lane_columns", ""},
                                                     {4, "round_columns", ""},
                                                     {4, "request_sums", ""},
                                                     {5, "kernels", "bytes"},
                                                     {5, "kernels", "wait_ns"},
                                                     {5, "kernels", "first_end_ns"},
                                                     {5, "kernels", "first_block"},
                                                     {5, "kernels", "last_block"}}};

[[nodiscard]] constexpr bool has_column(int version, std::string_view table, std::string_view column) {
  return std::none_of(additions.begin(), additions.end(), [&](const Addition& addition) {
    return version < addition.version && addition.table == table && addition.column == column;
  });
}
[[nodiscard]] constexpr bool has_table(int version, std::string_view table) {
  return has_column(version, table, "");
}

/// The key of `meta` that says how wide the overview's columns are, and so that there is one.
inline constexpr std::string_view overview_key = "overview_column_ns";

/// Tables, name tables of the enumerations and views, as SQL.
[[nodiscard]] std::string schema_sql();

/// Indexes, built once when a recording closes: keeping them while recording would halve the write rate.
[[nodiscard]] std::string_view index_sql();

}  // namespace draftscope::traces
