// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How large the values are that a model's matrices multiply, column by column: how much an error in a
// column's weights matters to what comes out. llama.cpp's importance matrices are the same sums.
//
// A pass over random tokens tells it as well as one over text: on SmolLM2-135M-Instruct drafts in 4 bits
// (q4_0) keep 85.8 % of the best tokens with random tokens, 85.3 to 86.1 with several texts, 80.3 without.
// So no tokenizer is needed, and the same model gives the same weights.

#include <draftscope/speculation/model_shape.h>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftscope::engine::cpu {

/// Sums over the rows of a pass. Empty = unknown.
struct InputSquares {
  struct Layer {
    std::vector<float> attention;  ///< [d_model], of q, k and v
    std::vector<float> output;     ///< [q_width], of o
    std::vector<float> mlp;        ///< [d_model], of gate and up
    std::vector<float> down;       ///< [d_ff]
  };
  std::vector<Layer> layers;
  std::vector<float> head;  ///< [d_model]
};

/// Zeros, for a pass to add to.
[[nodiscard]] InputSquares zero_squares(const speculation::ModelShape& shape);

/// Sums that hold a NaN or an infinity become empty: they say nothing.
void drop_non_finite(InputSquares& squares);

/// `count` tokens below `vocab`, the same ones on every machine.
[[nodiscard]] std::vector<std::int32_t> random_tokens(std::int32_t vocab, std::size_t count);

}  // namespace draftscope::engine::cpu
