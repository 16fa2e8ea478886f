// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rules of a trace that SQL can say: each is a query for the rows that break it.

#include <string>
#include <string_view>
#include <vector>

namespace draftscope::traces {

struct Rule {
  std::string_view table;
  std::string sql;  ///< gives (row id, what is wrong)
};

/// `closed_cleanly` is false for a recording that was cut off: there a request may have no end, and a span's
/// or kernel's parent may be missing.
[[nodiscard]] std::vector<Rule> rules(bool closed_cleanly);

}  // namespace draftscope::traces
