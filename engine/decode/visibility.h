// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/strategy.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

/// Visibility lists of a verification, in the form of Batch::ancestors with the root as its first row: a
/// draft token attends to the root and its ancestors, an extra row to the root and the extra rows that it
/// names. Rows are the root, then `nodes`, then `extra_rows`; words are [rows][ceil(rows / 64)].
void list_ancestors(std::span<const DraftNode> nodes, std::span<const ExtraRow> extra_rows,
                    std::vector<std::uint64_t>& words);

}  // namespace draftscope::engine
