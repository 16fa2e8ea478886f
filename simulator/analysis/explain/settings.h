// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Settings close to a run's, as specifications; none where the strategy has no parameter for the change. Also
// what a run can take of the remedies that findings name.

#include <draftscope/traces/records.h>
#include <cstddef>
#include <string>
#include <vector>

#include "analysis/explain/evidence.h"

namespace draftscope::simulator {

/// The run with drafts of at most `length` tokens.
[[nodiscard]] std::vector<std::string> with_length(const traces::Run& run, std::size_t length);

/// An early exit whose verification leaves out the layers that its draft has run; none if it already does so.
[[nodiscard]] std::vector<std::string> verified_above_exit(const traces::Run& run);

/// Whether the run guesses from earlier text, without a model.
[[nodiscard]] bool guesses_from_text(const traces::Run& run);

// Conditions of remedies (RemedyRow::can_take).
/// Whether this program decoded it, so that its commands and strategies are at hand.
[[nodiscard]] bool is_own_run(const Evidence& of);
/// Whether it ran on the threads of a processor.
[[nodiscard]] bool has_threads(const Evidence& of);
/// Whether halving its verifications beyond the first row would leave a row less.
[[nodiscard]] bool has_rows_to_spare(const Evidence& of);
/// Whether it is an early exit that verifies all layers.
[[nodiscard]] bool can_verify_above_exit(const Evidence& of);
/// Whether a model drafts its tokens and no confidence ends its drafts; of own runs those of a mix of parts.
[[nodiscard]] bool can_stop_by_confidence(const Evidence& of);
/// Whether layers of the target draft, so that `draftscope tune` can search others.
[[nodiscard]] bool can_be_tuned(const Evidence& of);
/// Whether a search took time in its rounds.
[[nodiscard]] bool searches(const Evidence& of);
/// Whether times within phases were recorded with it.
[[nodiscard]] bool records_within_phases(const Evidence& of);

}  // namespace draftscope::simulator
