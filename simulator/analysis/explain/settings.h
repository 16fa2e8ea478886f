// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Settings close to a run's, as specifications; none where the strategy has no parameter for the change.

#include <draftscope/traces/records.h>
#include <cstddef>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// The run with drafts of at most `length` tokens.
[[nodiscard]] std::vector<std::string> with_length(const traces::Run& run, std::size_t length);

/// An early exit whose verification leaves out the layers that its draft has run; none if it already does so.
[[nodiscard]] std::vector<std::string> verified_above_exit(const traces::Run& run);

/// Whether the run guesses from earlier text, without a model.
[[nodiscard]] bool guesses_from_text(const traces::Run& run);

}  // namespace draftscope::simulator
