// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rules that every Recording keeps, so that its users need no checks: every id in it leads somewhere,
// masks have the length that their layers need, counts are not negative and draft tokens form trees. Finer
// rules are validate()'s.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>

namespace draftscope::traces {

/// One line that names the first row that leads nowhere.
[[nodiscard]] Result<void> check_references(const Recording& recording);

}  // namespace draftscope::traces
