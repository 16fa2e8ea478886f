// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>

#include <cstddef>
#include <cstdint>

namespace draftscope::bench {

/// Bytes that one row through layers [0, n_layers) and the head must read: weights, one embedding row, and
/// K/V of `context` rows in 16 bits. Rounded weights of the layers' matrices count their format's bits per
/// value, and in fp8 a 4-byte scale per output (cuda_backend.h).
[[nodiscard]] std::size_t pass_bytes(const engine::Checkpoint& checkpoint, engine::CudaWeights rounded,
                                     std::int32_t n_layers, std::int32_t context);

}  // namespace draftscope::bench
