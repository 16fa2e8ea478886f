// SPDX-License-Identifier: GPL-3.0-or-later
#include "numbers/trait_numbers.h"

#include <cmath>

#include "numbers/bf16.h"

namespace draftscope::engine {

float attention_scale(const speculation::ModelShape& shape) {
  if (shape.traits.attention_multiplier > 0.0) return static_cast<float>(shape.traits.attention_multiplier);
  return 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
}

float embedding_scale(const speculation::ModelShape& shape, DType dtype) {
  const double multiplier = shape.traits.embedding_multiplier;
  const auto scale = static_cast<float>(multiplier > 0.0 ? multiplier : std::sqrt(shape.d_model));
  switch (dtype) {
    case DType::bf16:
      return round_to_bf16(scale);
    case DType::f16:
      return f16_to_float(float_to_f16(scale));
    case DType::f32:
      break;
  }
  return scale;
}

float norm_offset(const speculation::ModelShape& shape) {
  return shape.traits.norm_weight == speculation::NormWeight::plus_one ? 1.0F : 0.0F;
}

}  // namespace draftscope::engine
