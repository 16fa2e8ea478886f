// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace draftscope {

/// Lower case, without spaces, '-' and '_': how names are compared.
[[nodiscard]] std::string comparable_name(std::string_view name);

/// The names that are nearest to `wanted`, best first, joined by commas: those that contain it, then by edit
/// distance.
[[nodiscard]] std::string closest_names(std::string_view wanted, std::span<const std::string> names);

}  // namespace draftscope
