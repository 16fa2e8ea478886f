// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The breakdown of rounds as a figure: its parts on top of one another, over the rounds.

#include <QStringList>
#include <functional>
#include <vector>

#include "charts/chart.h"
#include "views/rounds/round_axis.h"

namespace draftscope::gui {

/// `sum` gives nanoseconds by part of the rounds [first, last), `number` the number for people of the round
/// at a place. Rounds that are too many to be told apart are means of those beside one another; parts that
/// took no time are left out. Empty without rounds.
[[nodiscard]] Chart breakdown_chart(
    const RoundAxis& axis, const QStringList& parts,
    const std::function<std::vector<std::int64_t>(std::size_t first, std::size_t last)>& sum,
    const std::function<std::uint32_t(std::size_t place)>& number);

}  // namespace draftscope::gui
