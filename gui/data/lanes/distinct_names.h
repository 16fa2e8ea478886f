// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace draftscope::gui {

/// Shortens each strategy's specification to the part that tells it from the others: the strategy's name and,
/// for several specifications of one strategy, the parameters that not all of them have
/// ("layerskip:exit=3,gamma=2" beside "layerskip:exit=7,gamma=2" is "layerskip exit=3"). Names that differ
/// stay different.
[[nodiscard]] std::vector<std::string> distinct_names(const std::vector<std::string>& specifications);

}  // namespace draftscope::gui
