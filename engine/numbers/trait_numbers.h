// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers that every backend derives from a shape's traits, rounded where transformers rounds them.

#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/model_shape.h>

namespace draftscope::engine {

/// Factor of attention scores.
[[nodiscard]] float attention_scale(const speculation::ModelShape& shape);

/// Factor of embeddings, in the weights' type.
[[nodiscard]] float embedding_scale(const speculation::ModelShape& shape, DType dtype);

/// Number that every norm adds to its stored weight.
[[nodiscard]] float norm_offset(const speculation::ModelShape& shape);

}  // namespace draftscope::engine
