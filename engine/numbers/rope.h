// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rotary position embedding: the angles of a position, for the six kinds of scaling. Frequencies follow
// Hugging Face transformers' modeling_rope_utils.py, in fp32 where it uses fp32, so that angles agree at long
// contexts.

#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <vector>

namespace draftscope::engine {

class Rope {
 public:
  /// Prepares angles for contexts of up to `max_context` rows; longrope chooses its factors by this length.
  Rope(const speculation::ModelShape& shape, std::int32_t max_context);

  /// Computes cos and sin of the rotary_width() / 2 angles at `position`, scaled by the attention factor.
  void angles(std::int32_t position, float* cosine, float* sine) const;

 private:
  [[nodiscard]] double frequency(std::int32_t pair, double theta) const;

  speculation::RopeScaling scaling_;
  std::int32_t width_;  ///< dimensions that are rotated
  std::int32_t max_positions_;
  std::vector<float> frequencies_;
  double attention_factor_ = 1.0;
};

/// Factor of cos and sin: given or derived for yarn and longrope, 1 for the other kinds.
[[nodiscard]] double attention_factor(const speculation::RopeScaling& scaling);

/// Factor of a row's queries (RopeScaling::query_beta); 1 without one.
[[nodiscard]] float query_scale(const speculation::RopeScaling& scaling, std::int32_t position);

/// The shape with the rotation of layers that have a sliding window.
[[nodiscard]] speculation::ModelShape with_local_rope(speculation::ModelShape shape);

/// Rotates the first `width` dimensions of a head in place; dimension i pairs with i + width / 2.
void rotate(float* head, std::int32_t width, const float* cosine, const float* sine);

}  // namespace draftscope::engine
