// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What all ranks must hold of the same thing before they go on, so that none waits for one that did not
// start.

#include <draftscope/base/result.h>
#include <draftscope/engine/ranks/collective.h>
#include <string_view>

namespace draftscope::engine {

/// The failure of the first rank that has one, on every rank, or nothing where none has. Concludes on a
/// failure; once the ranks have concluded, which all know of, `own` as it is.
[[nodiscard]] Result<void> agree(Collective& ranks, const Result<void>& own);

/// The same without an end: all go on after a failure.
[[nodiscard]] Result<void> agree_to_go_on(Collective& ranks, const Result<void>& own);

/// Whether a rank's text is rank 0's: "rank 1: found WHAT b, expected a as rank 0" on every rank otherwise,
/// as agree().
[[nodiscard]] Result<void> expect_same(Collective& ranks, std::string_view what, std::string_view own);

}  // namespace draftscope::engine
