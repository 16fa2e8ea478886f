// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How large the values are that a model's matrices multiply, column by column. This tells how much an error
// in a column's weights affects the output. llama.cpp's importance matrices are the same sums.
//
// A pass over random tokens serves as well as one over text, so no tokenizer is needed, and the same model
// gives the same weights. On SmolLM2-135M-Instruct, drafts in 4 bits (q4_0) predict the best token in 85.8 %
// of cases with random tokens, in 85.3 to 86.1 % with several texts, and in 80.3 % without sums.

#include <draftscope/speculation/model_shape.h>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftscope::engine::cpu {

/// Sums of squares over the rows of a pass. Empty = unknown.
struct InputSquares {
  struct Layer {
    std::vector<float> attention;  ///< [d_model], inputs of q, k and v
    std::vector<float> output;     ///< [q_width], inputs of o
    std::vector<float> mlp;        ///< [d_model], inputs of gate and up
    std::vector<float> down;       ///< [d_ff], inputs of down
  };
  std::vector<Layer> layers;
  std::vector<float> head;  ///< [d_model]
};

/// Sums of zero, for a pass to add to.
[[nodiscard]] InputSquares zero_squares(const speculation::ModelShape& shape);

/// Clears sums that contain a NaN or an infinity: they are meaningless.
void drop_non_finite(InputSquares& squares);

/// Returns `count` tokens below `vocab`, the same ones on every machine.
[[nodiscard]] std::vector<std::int32_t> random_tokens(std::int32_t vocab, std::size_t count);

}  // namespace draftscope::engine::cpu
