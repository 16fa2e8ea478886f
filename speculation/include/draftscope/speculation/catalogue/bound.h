// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Bounds and defaults of parameters as the catalogue writes them. Thread-safe.

#include <cstdint>
#include <optional>
#include <string_view>

namespace draftscope::speculation {

/// "63", "L", "L-1" or "L/4" for a model of so many layers, rounded down; nothing for any other text.
[[nodiscard]] std::optional<std::int64_t> bound_of(std::string_view text, std::int32_t n_layers);

}  // namespace draftscope::speculation
