// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures of the views of rounds, for papers.

#include <QStringList>
#include <functional>
#include <vector>

#include "charts/chart.h"
#include "data/rounds/draft_confidences.h"
#include "views/rounds/round_axis.h"

namespace draftscope::gui {

/// Stacked parts over the rounds. `sum` gives ns [part] over the rounds [first, last), `number` the displayed
/// number of the round at a place. If there are too many rounds, each column is the mean over neighbours.
/// Parts without time are left out. Empty without rounds.
[[nodiscard]] Chart breakdown_chart(
    const RoundAxis& axis, const QStringList& parts,
    const std::function<std::vector<std::int64_t>(std::size_t first, std::size_t last)>& sum,
    const std::function<std::uint32_t(std::size_t place)>& number);

/// One point per drafted token, marked by its fate, or the mean of each fate if there are many, with the
/// threshold, and the acceptance rate below. `number` gives the displayed number of the round at a place.
/// Empty if nothing was drafted.
[[nodiscard]] Chart confidence_chart(const DraftConfidences& drafts, const RoundAxis& axis,
                                     const std::function<std::uint32_t(std::size_t place)>& number);

/// Chart of skipped shares. `shares` has attention and MLP of each layer in turn. Empty without shares.
[[nodiscard]] Chart skip_chart(const std::vector<double>& shares);

/// Chart of the time per round of each layer. Empty without times.
[[nodiscard]] Chart layer_time_chart(const std::vector<double>& per_round_ns);

}  // namespace draftscope::gui
