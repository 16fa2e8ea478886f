// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Words of SQL that statements which read have, and functions that are useful on a trace.

#include <array>
#include <string_view>

namespace draftscope::gui {

inline constexpr std::array<std::string_view, 44> sql_keywords{
    {"ALL",       "AND",    "AS",       "ASC",   "BETWEEN", "BY",        "CASE",   "CAST",   "COLLATE",
     "CROSS",     "DESC",   "DISTINCT", "ELSE",  "END",     "EXCEPT",    "EXISTS", "FILTER", "FROM",
     "GLOB",      "GROUP",  "HAVING",   "IN",    "INNER",   "INTERSECT", "IS",     "JOIN",   "LEFT",
     "LIKE",      "LIMIT",  "NOT",      "NULL",  "OFFSET",  "ON",        "OR",     "ORDER",  "OVER",
     "PARTITION", "SELECT", "THEN",     "UNION", "USING",   "WHEN",      "WHERE",  "WITH"}};

inline constexpr std::array<std::string_view, 16> sql_functions{
    {"abs", "avg", "coalesce", "count", "group_concat", "ifnull", "json_extract", "lag", "length", "lower",
     "max", "min", "round", "row_number", "substr", "sum"}};

}  // namespace draftscope::gui
