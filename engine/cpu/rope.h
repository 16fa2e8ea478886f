// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rotary position embedding: angles of a position, for the five kinds of scaling. Frequencies follow Hugging
// Face transformers' modeling_rope_utils.py, in fp32 where it uses fp32, so that angles agree at long
// contexts.

#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <vector>

namespace draftscope::engine::cpu {

class Rope {
 public:
  explicit Rope(const speculation::ModelShape& shape);

  /// cos and sin of the head_dim / 2 angles at `position`, scaled by the attention factor.
  void angles(std::int32_t position, float* cosine, float* sine) const;

 private:
  [[nodiscard]] double frequency(std::int32_t pair, double theta) const;

  speculation::RopeScaling scaling_;
  std::int32_t head_dim_;
  std::int32_t max_positions_;
  std::vector<float> frequencies_;
  double attention_factor_ = 1.0;
};

/// Rotates one head in place; dimension i pairs with i + head_dim / 2.
void rotate(float* head, std::int32_t head_dim, const float* cosine, const float* sine);

}  // namespace draftscope::engine::cpu
