// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reader::validate: the rules of traces/SCHEMA.md. A failure of reading is a violation if it says something
// about the file, and an error if it says something about the machine that reads it.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <string>
#include <string_view>
#include <vector>

#include "reading/open.h"

namespace draftscope::traces {

/// A rule in SQL.
struct Rule {
  std::string_view table;
  std::string sql;  ///< Query that gives (row id, message).
};

/// The rules. `closed_cleanly` is false for a recording that was cut off: in it a request may have no end,
/// and a span's or kernel's parent may be missing.
[[nodiscard]] std::vector<Rule> rules(bool closed_cleanly);

/// Differences between a stored overview and the rows: the first one of each table, and a table that is too
/// damaged to be read. Rows that are not as expected are ignored, since other rules report them. Errors: as
/// damage_found().
[[nodiscard]] Result<std::vector<Violation>> overview_differences(OpenTrace& trace);

/// Message for a violation: what the last failure of a statement on `table` says about the file. An error if
/// it says nothing about the file: no memory, no room for temporary files, an unreadable disk.
[[nodiscard]] Result<std::string> damage_found(const OpenTrace& trace, std::string_view table);

[[nodiscard]] Result<std::vector<Violation>> find_violations(OpenTrace& trace, std::size_t most);

}  // namespace draftscope::traces
