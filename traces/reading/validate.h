// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reader::validate: the rules of traces/SCHEMA.md. A failure of reading either says something against the
// file, which is a violation, or something about the machine that reads it, which is an error.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <string>
#include <string_view>
#include <vector>

#include "reading/open.h"

namespace draftscope::traces {

/// A rule that SQL can say.
struct Rule {
  std::string_view table;
  std::string sql;  ///< gives (row id, what is wrong)
};

/// `closed_cleanly` is false for a recording that was cut off: there a request may have no end, and a span's
/// or kernel's parent may be missing.
[[nodiscard]] std::vector<Rule> rules(bool closed_cleanly);

/// Where a stored overview is not what the rows give: the first difference of each table, and a table that is
/// too damaged to be read. Rows that are not as expected count for nothing: other rules name them. Errors: as
/// damage_found() has them.
[[nodiscard]] Result<std::vector<Violation>> overview_differences(OpenTrace& trace);

/// Words for a violation: what the last failure of a statement on `table` says against the file. An error
/// if it says nothing about the file: no memory, no room for temporary files, an unreadable disk.
[[nodiscard]] Result<std::string> damage_found(const OpenTrace& trace, std::string_view table);

[[nodiscard]] Result<std::vector<Violation>> find_violations(OpenTrace& trace, std::size_t most);

}  // namespace draftscope::traces
