// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the layers' matrices can be held in on a GPU, as options name it, and what they take.

#include <draftscope/engine/cuda_backend.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::bench {

/// `as_stored`, and the name of every format that they can be rounded to.
[[nodiscard]] std::vector<std::string> layer_weight_names(std::string as_stored);

/// One of these names; none = as stored.
[[nodiscard]] engine::CudaWeights parse_layer_weights(std::string_view name, std::string_view as_stored);

/// Bytes of a matrix [outputs][depth] that was rounded, scales included.
[[nodiscard]] std::size_t rounded_bytes(std::size_t outputs, std::size_t depth,
                                        speculation::WeightFormat format);

}  // namespace draftscope::bench
