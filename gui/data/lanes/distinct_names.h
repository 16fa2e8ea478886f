// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace draftscope::gui {

/// The part of each strategy's specification that tells it from the others: the strategy, and of several with
/// one strategy the parameters that not all of them have ("layerskip:exit=3,gamma=2" beside
/// "layerskip:exit=7,gamma=2" is "layerskip exit=3"). Names that differ stay different.
[[nodiscard]] std::vector<std::string> distinct_names(const std::vector<std::string>& specifications);

}  // namespace draftscope::gui
