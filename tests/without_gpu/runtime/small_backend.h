// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A small model on the backend as the program makes it, and texts that are decoded with it.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>
#include <draftscope/engine/decode.h>

#include <cstdint>
#include <string>
#include <vector>

namespace draftscope::cuda_stand_in {

[[nodiscard]] const engine::Checkpoint& small_checkpoint();

/// Text after a prompt of `prompt` tokens: long ones go through a library's products.
[[nodiscard]] Result<std::vector<std::int32_t>> text_of(engine::Backend& backend, const std::string& strategy,
                                                        std::size_t prompt, std::int32_t tokens,
                                                        double temperature = 0.0,
                                                        engine::DecodeListener* listener = nullptr);

/// Decodes on a backend that make_cuda_backend() makes and that is destroyed afterwards.
[[nodiscard]] Result<std::vector<std::int32_t>> text_on_device(
    const std::string& strategy, std::size_t prompt, std::int32_t tokens, double temperature = 0.0,
    engine::DecodingPasses passes = engine::DecodingPasses::programs);

}  // namespace draftscope::cuda_stand_in
