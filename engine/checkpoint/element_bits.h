// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/checkpoint.h>
#include <cstdint>
#include <optional>

namespace draftscope::engine {

/// The lowest index of an element that is a NaN or an infinity.
[[nodiscard]] std::optional<std::int64_t> first_non_finite(const TensorView& tensor);

}  // namespace draftscope::engine
