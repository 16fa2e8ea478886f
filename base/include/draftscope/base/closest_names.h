// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace draftscope {

/// Form in which names are compared: lower case, without spaces, '-' and '_'.
[[nodiscard]] std::string comparable_name(std::string_view name);

/// Names that are nearest to `wanted`, best first, joined by commas: names that contain it, then in order of
/// edit distance.
[[nodiscard]] std::string closest_names(std::string_view wanted, std::span<const std::string> names);

}  // namespace draftscope
