// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rule that a stored overview is what the rows give.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>
#include <vector>

#include "reading/open.h"

namespace draftscope::traces {

/// The first difference of each table, and a table that is too damaged to be read. Rows that are not as
/// expected count for nothing: other rules name them. Errors: as damage_found() has them.
[[nodiscard]] Result<std::vector<Violation>> overview_differences(OpenTrace& trace);

}  // namespace draftscope::traces
