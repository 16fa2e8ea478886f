// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Registers that say where a lane is (PTX ISA 9.0, Special Registers). Clocks are no part of them: they
// change within a block.

#include <cstdint>
#include <string_view>

#include "run/launch_state.h"

namespace draftscope::ptx {

[[nodiscard]] bool is_special_register(std::string_view name);
/// Value of one that is known.
[[nodiscard]] std::uint64_t special_value(std::string_view name, const Warp& warp, int lane);

}  // namespace draftscope::ptx
