// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where verification rejected draft tokens: what it tested in a round, and the next round with a rejection.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "data/opened_recording.h"

namespace draftscope::gui {

/// Draft tokens of a round that verification reached; none if the round's draft tokens were not recorded.
[[nodiscard]] std::optional<std::int32_t> tested_tokens(const OpenedRecording& opened,
                                                        std::uint32_t round_index);
/// Tested draft tokens of a round that were not accepted; none as above.
[[nodiscard]] std::optional<std::int32_t> rejected_tokens(const OpenedRecording& opened,
                                                          std::uint32_t round_index);

/// A round with a rejected token, among those of its run.
struct Rejection {
  std::uint32_t round_index = no_index;
  std::size_t number = 0;  ///< Number from 1 on, in the order of the rounds.
  std::size_t all = 0;
};

/// The next round of a run with a rejected token, after the round `from` or before it; wraps around. Without
/// `from` (no_index) it starts at an end. None if no round has one. O(rounds and draft tokens of the run).
[[nodiscard]] std::optional<Rejection> next_rejection(const OpenedRecording& opened, std::size_t run_index,
                                                      std::uint32_t from, bool forward);

}  // namespace draftscope::gui
