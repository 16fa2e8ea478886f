// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>

#include "data/rounds/round_filter.h"

namespace draftscope::gui {

/// By index into Recording::rounds, of all runs, whether the filter leaves the round. O(rounds and draft
/// tokens). `should_continue` is asked now and then; on false the result is without meaning.
[[nodiscard]] std::vector<bool> matching_rounds(const OpenedRecording& opened, const RoundFilter& filter,
                                                const std::function<bool()>& should_continue);

}  // namespace draftscope::gui
