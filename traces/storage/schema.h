// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tables of a trace; traces/SCHEMA.md explains them.

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace draftscope::traces {

/// "DStr" in ASCII, in the SQLite header's application_id field, which identifies a trace to `file` and to
/// this reader.
inline constexpr std::int32_t application_id = 0x44537472;
inline constexpr int current_schema_version = 5;
/// Oldest version that is read.
inline constexpr int oldest_schema_version = 4;

/// Maximum time of a row, 146 years of uptime: differences and sums of two times stay in range.
inline constexpr std::int64_t max_ns = std::int64_t{1} << 62U;

/// Whether files of that schema version have the column. Version 5 added some columns to kernels; in a file
/// of version 4 they read as zeros. All tables are in both versions.
[[nodiscard]] constexpr bool has_column(int version, std::string_view table, std::string_view column) {
  constexpr std::array<std::string_view, 5> added{"bytes", "wait_ns", "first_end_ns", "first_block",
                                                  "last_block"};
  return version >= 5 || table != "kernels" || std::ranges::find(added, column) == added.end();
}

/// The key of `meta` for the width of the overview's columns; it exists if the overview does.
inline constexpr std::string_view overview_key = "overview_column_ns";

/// SQL for tables, name tables of the enumerations and views.
[[nodiscard]] std::string schema_sql();

/// SQL for indexes, which are built once when a recording closes: updating them while recording would halve
/// the write rate.
[[nodiscard]] std::string_view index_sql();

}  // namespace draftscope::traces
