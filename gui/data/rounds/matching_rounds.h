// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "data/rounds/round_filter.h"

namespace draftscope::gui {

/// Whether the filter leaves each round, by index into Recording::rounds. O(rounds and draft tokens).
/// `should_continue` is polled; on false the result is meaningless.
[[nodiscard]] std::vector<bool> matching_rounds(const OpenedRecording& opened, const RoundFilter& filter,
                                                const std::function<bool()>& should_continue);

}  // namespace draftscope::gui
