// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tables of a trace, version 1; traces/SCHEMA.md explains them.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace draftscope::traces {

/// "DStr" in ASCII, in the SQLite header's application_id field: `file` and this reader tell a trace by it.
inline constexpr std::int32_t application_id = 0x44537472;
inline constexpr int current_schema_version = 1;

/// Every table with rows of its own, parents before children.
inline constexpr std::array<std::string_view, 12> table_names{
    "meta",   "strings",      "runs",   "prompts", "requests", "layer_sets",
    "rounds", "draft_tokens", "tracks", "spans",   "kernels",  "counters"};

/// Tables, name tables of the enumerations and views, as SQL.
[[nodiscard]] std::string schema_sql();

/// Indexes, built once when a recording closes: keeping them while recording would halve the write rate.
[[nodiscard]] std::string_view index_sql();

}  // namespace draftscope::traces
