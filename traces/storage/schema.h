// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tables of a trace; traces/SCHEMA.md explains them.

#include <cstdint>
#include <string>
#include <string_view>

namespace draftscope::traces {

/// "DStr" in ASCII, in the SQLite header's application_id field, which identifies a trace to `file` and to
/// this reader.
inline constexpr std::int32_t application_id = 0x44537472;

/// Maximum time of a row, 146 years of uptime: differences and sums of two times stay in range.
inline constexpr std::int64_t max_ns = std::int64_t{1} << 62U;

/// The key of `meta` for the width of the overview's columns; it exists if the overview does.
inline constexpr std::string_view overview_key = "overview_column_ns";

/// SQL for tables, name tables of the enumerations and views.
[[nodiscard]] std::string schema_sql();

/// SQL for the views of figures, which hides a file's own: those of older programs count tokens after the
/// text's end as accepted.
[[nodiscard]] std::string temporary_figure_views();

/// SQL for indexes and for statistics of the tables. Both are made once, when a recording closes: updating
/// indexes while recording would halve the write rate.
[[nodiscard]] std::string closing_sql();

}  // namespace draftscope::traces
