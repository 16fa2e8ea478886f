// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Layers that differ from the others at a fixed interval, as model_shape.h counts them. Thread-safe.

#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::speculation {

/// Returns n where a list marks exactly every n-th layer (n − 1, 2n − 1, …), 0 where it marks none, no value
/// where it marks others.
[[nodiscard]] std::optional<std::int32_t> interval_of(const std::vector<bool>& marked);

}  // namespace draftscope::speculation
