// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rules that every Recording satisfies, so that its users need no checks. Every id in it refers to a row,
// masks have the length that their layers need, counts are not negative and draft tokens form trees.
// validate() checks finer rules.

#include <draftscope/base/result.h>
#include <draftscope/traces/reader.h>

namespace draftscope::traces {

/// Checks the rules. The error is one line that names the first row with a wrong reference.
[[nodiscard]] Result<void> check_references(const Recording& recording);

}  // namespace draftscope::traces
