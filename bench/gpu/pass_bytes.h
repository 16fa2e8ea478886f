// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/checkpoint.h>

#include <cstddef>
#include <cstdint>

namespace draftscope::bench {

/// Bytes that one row through layers [0, n_layers) and the head must read: weights, one embedding row, and
/// K/V of `context` rows in 16 bits. With fp8 the layers' matrices count a byte a value and a 4-byte scale an
/// output (cuda_backend.h).
[[nodiscard]] std::size_t pass_bytes(const engine::Checkpoint& checkpoint, bool fp8, std::int32_t n_layers,
                                     std::int32_t context);

}  // namespace draftscope::bench
