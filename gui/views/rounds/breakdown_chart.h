// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figure of the breakdown of rounds: stacked parts over the rounds.

#include <QStringList>
#include <functional>
#include <vector>

#include "charts/chart.h"
#include "views/rounds/round_axis.h"

namespace draftscope::gui {

/// Chart of the parts. `sum` gives ns [part] over the rounds [first, last), `number` the displayed number of
/// the round at a place. If there are too many rounds, each column is the mean over neighbours. Parts without
/// time are left out. Empty without rounds.
[[nodiscard]] Chart breakdown_chart(
    const RoundAxis& axis, const QStringList& parts,
    const std::function<std::vector<std::int64_t>(std::size_t first, std::size_t last)>& sum,
    const std::function<std::uint32_t(std::size_t place)>& number);

}  // namespace draftscope::gui
