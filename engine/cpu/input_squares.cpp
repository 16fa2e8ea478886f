// SPDX-License-Identifier: GPL-3.0-or-later
#include "input_squares.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace draftscope::engine::cpu {

InputSquares zero_squares(const speculation::ModelShape& shape) {
  const auto zeros = [](std::int32_t n) { return std::vector<float>(static_cast<std::size_t>(n)); };
  InputSquares squares;
  squares.head = zeros(shape.d_model);
  for (std::int32_t layer = 0; layer < shape.n_layers; ++layer)
    squares.layers.push_back(
        {zeros(shape.d_model), zeros(shape.q_width()), zeros(shape.d_model), zeros(shape.d_ff)});
  return squares;
}

void drop_non_finite(InputSquares& squares) {
  const auto drop = [](std::vector<float>& sums) {
    if (!std::all_of(sums.begin(), sums.end(), [](float sum) { return std::isfinite(sum); })) sums.clear();
  };
  for (InputSquares::Layer& layer : squares.layers)
    for (std::vector<float>* sums : {&layer.attention, &layer.output, &layer.mlp, &layer.down}) drop(*sums);
  drop(squares.head);
}

std::vector<std::int32_t> random_tokens(std::int32_t vocab, std::size_t count) {
  std::mt19937 random(2024);  // The standard defines its numbers, but not those of a distribution.
  std::vector<std::int32_t> tokens(count);
  for (std::int32_t& token : tokens)
    token = static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vocab));
  return tokens;
}

}  // namespace draftscope::engine::cpu
