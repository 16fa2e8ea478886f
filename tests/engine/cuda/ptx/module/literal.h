// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers as PTX writes them: 12, 0x1F, 017, 0b101, 7U, 1.5, 0f3F800000, 0d3FF0000000000000.

#include <cstdint>
#include <optional>
#include <string_view>

#include "module/module.h"

namespace draftscope::ptx {

/// An operand of kind integer, f32 or f64; absent if `text` is no number.
[[nodiscard]] std::optional<Operand> literal(std::string_view text);

}  // namespace draftscope::ptx
