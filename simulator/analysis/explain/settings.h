// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Settings close to a run's, as specifications; none where the strategy has no parameter for the change. The
// functions of Evidence are conditions of remedies (RemedyRow::can_take).

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

/// Whether this program decoded the run, so that its commands and strategies are at hand.
[[nodiscard]] bool is_own_run(const Evidence& of);
/// Whether the run used the threads of a processor.
[[nodiscard]] bool has_threads(const Evidence& of);
/// Whether halving the rows of verifications beyond the first would leave a row less.
[[nodiscard]] bool has_rows_to_spare(const Evidence& of);
/// Whether the run is an early exit that verifies all layers.
[[nodiscard]] bool can_verify_above_exit(const Evidence& of);
/// Whether a model drafts and no confidence ends the drafts; an own run must also be a mix of parts.
[[nodiscard]] bool can_stop_by_confidence(const Evidence& of);
/// Whether layers of the target draft, so that `draftscope tune` can search others.
[[nodiscard]] bool can_be_tuned(const Evidence& of);
/// Whether a search took time in any round.
[[nodiscard]] bool searches(const Evidence& of);
/// Whether times within phases were recorded.
[[nodiscard]] bool records_within_phases(const Evidence& of);

}  // namespace draftscope::simulator
