// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sets of layers as the catalogue and specifications write them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace draftscope::speculation {

/// Expands a pattern into a set of layers, as "1+3+5" or "none". Patterns: "every-2" for 1, 3, 5, …;
/// "uniform" for those but the last layer, as SWIFT starts; "first-4", "middle-4", "last-4", "uniform-4" and
/// "random-4" (or "random-4-7", with its seed) for so many layers, as Draft & Verify compares them; "4-7" for
/// a range, also as one of several pieces of "1+4-7". Returns nothing for any other text, and an empty text
/// for a pattern that makes no sense.
[[nodiscard]] std::optional<std::string> named_layers(std::string_view text, std::int32_t n_layers);

}  // namespace draftscope::speculation
