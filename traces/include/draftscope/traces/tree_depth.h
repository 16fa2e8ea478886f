// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The depth of a draft's token tree: how many forwards of the draft made it.

#include <draftscope/traces/records.h>
#include <cstdint>
#include <span>

namespace draftscope::traces {

/// Tokens on the longest path from the root, of one round's draft tokens in the order of their index; a chain
/// is as deep as it is long. A parent has a smaller index than its child; any other value counts as the root.
[[nodiscard]] std::int32_t tree_depth(std::span<const DraftToken> tokens);

}  // namespace draftscope::traces
