// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What packed models take of an emulated device's memory.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>
#include <draftscope/speculation/model_shape.h>

#include <cstddef>
#include <string>

namespace draftscope::engine::test {

inline constexpr std::size_t plenty_of_memory = std::size_t{1} << 30;

/// How a device with so much memory holds a model's weights ("int4, fp16"), or why it does not.
[[nodiscard]] std::string held_weights(const Checkpoint& checkpoint, const CudaOptions& options,
                                       std::size_t memory_bytes = plenty_of_memory);

/// Expects that the backend takes the bytes that it says beforehand, that from some size on a device holds
/// the packed model, as `held`, while one byte less is refused for memory, and so is the same model widened.
void expect_memory_of_packed(const Checkpoint& packed, const Checkpoint& widened, const std::string& held);

/// Widths that are multiples of what stands together, so that nothing is filled up.
[[nodiscard]] speculation::ModelShape shape_of_whole_groups();

}  // namespace draftscope::engine::test
