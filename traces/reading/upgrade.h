// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Gives a recording of an older schema version the values that later versions store.

#include <draftscope/traces/reader.h>

namespace draftscope::traces {

/// Version 1 stored no tree depths: they follow from the draft tokens. A round whose tokens are not all there
/// counts as a chain. `rounds` may be in any order, `draft_tokens` are ordered by (round, index).
void add_tree_depths(Recording& recording);

}  // namespace draftscope::traces
