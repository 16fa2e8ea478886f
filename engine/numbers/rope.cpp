// SPDX-License-Identifier: GPL-3.0-or-later
#include "numbers/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace draftscope::engine {
namespace {

double yarn_attention_factor(const speculation::RopeScaling& scaling) {
  const auto magnitude = [&](double mscale) {
    return scaling.factor <= 1.0 ? 1.0 : 0.1 * mscale * std::log(scaling.factor) + 1.0;
  };
  if (scaling.mscale > 0.0 && scaling.mscale_all_dim > 0.0)
    return magnitude(scaling.mscale) / magnitude(scaling.mscale_all_dim);
  return magnitude(1.0);
}

double longrope_attention_factor(const speculation::RopeScaling& scaling) {
  if (scaling.factor <= 1.0) return 1.0;
  return std::sqrt(1.0 + std::log(scaling.factor) / std::log(scaling.original_max_positions));
}

double llama3_frequency(double frequency, const speculation::RopeScaling& scaling) {
  const double original = scaling.original_max_positions;
  const double wavelength = 2.0 * std::numbers::pi / frequency;
  if (wavelength < original / scaling.high_frequency_factor) return frequency;
  if (wavelength > original / scaling.low_frequency_factor) return frequency / scaling.factor;
  const double smooth = (original / wavelength - scaling.low_frequency_factor) /
                        (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1.0 - smooth) * frequency / scaling.factor + smooth * frequency;
}

/// Frequency by yarn. Pairs below `low` rotate often enough to keep their frequency; pairs above `high` are
/// interpolated.
double yarn_frequency(double frequency, std::int32_t pair, std::int32_t head_dim,
                      const speculation::RopeScaling& scaling) {
  const auto pair_that_rotates = [&](double rotations) {
    return head_dim * std::log(scaling.original_max_positions / (rotations * 2.0 * std::numbers::pi)) /
           (2.0 * std::log(scaling.theta));
  };
  double low = pair_that_rotates(scaling.beta_fast);
  double high = pair_that_rotates(scaling.beta_slow);
  if (scaling.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, head_dim - 1.0);
  if (low == high) high += 0.001;  // This is transformers' guard against a division by zero.
  const double ramp = std::clamp((pair - low) / (high - low), 0.0, 1.0);
  return frequency / scaling.factor * ramp + frequency * (1.0 - ramp);
}

}  // namespace

Rope::Rope(const speculation::ModelShape& shape, std::int32_t max_context)
    : scaling_(shape.rope), width_(shape.rotary_width()), max_positions_(shape.max_positions) {
  attention_factor_ = attention_factor(scaling_);
  if (scaling_.kind == speculation::RopeKind::longrope) {
    // The choice depends on max_context. transformers decides by each call's longest position, which would
    // make a row depend on its neighbours. In a text that grows longer, keys would then have other factors
    // than queries.
    if (max_context > scaling_.original_max_positions) scaling_.short_factors = scaling_.long_factors;
  }
  if (scaling_.kind == speculation::RopeKind::dynamic && scaling_.original_max_positions > 0)
    max_positions_ = scaling_.original_max_positions;
  frequencies_.resize(static_cast<std::size_t>(width_ / 2));
  for (std::int32_t pair = 0; pair < width_ / 2; ++pair)
    frequencies_[static_cast<std::size_t>(pair)] = static_cast<float>(frequency(pair, scaling_.theta));
}

double Rope::frequency(std::int32_t pair, double theta) const {
  const double standard = std::pow(theta, -2.0 * pair / width_);
  switch (scaling_.kind) {
    case speculation::RopeKind::linear:
      return standard / scaling_.factor;
    case speculation::RopeKind::llama3:
      return llama3_frequency(standard, scaling_);
    case speculation::RopeKind::yarn:
      return yarn_frequency(standard, pair, width_, scaling_);
    case speculation::RopeKind::longrope:
      // Computed in fp32, the type of the factors in transformers and GGUF files.
      return standard / static_cast<float>(scaling_.short_factors[static_cast<std::size_t>(pair)]);
    case speculation::RopeKind::standard:
      if (!scaling_.divisors.empty()) return standard / scaling_.divisors[static_cast<std::size_t>(pair)];
      break;
    case speculation::RopeKind::dynamic:
      break;
  }
  return standard;
}

void Rope::angles(std::int32_t position, float* cosine, float* sine) const {
  // Dynamic NTK stretches the base with the sequence's length. transformers takes the longest position of the
  // call, which would make a row depend on its neighbours. Here the length is the row's position, which is
  // also what transformers computes when it decodes token by token.
  const bool stretched = scaling_.kind == speculation::RopeKind::dynamic && position >= max_positions_;
  double theta = scaling_.theta;
  if (stretched)
    theta *= std::pow(scaling_.factor * (position + 1.0) / max_positions_ - (scaling_.factor - 1.0),
                      width_ / (width_ - 2.0));
  for (std::int32_t pair = 0; pair < width_ / 2; ++pair) {
    const float frequency_of_pair =
        stretched ? static_cast<float>(frequency(pair, theta)) : frequencies_[static_cast<std::size_t>(pair)];
    const float angle = static_cast<float>(position) * frequency_of_pair;
    cosine[pair] = static_cast<float>(std::cos(angle) * attention_factor_);
    sine[pair] = static_cast<float>(std::sin(angle) * attention_factor_);
  }
}

double attention_factor(const speculation::RopeScaling& scaling) {
  const bool is_longrope = scaling.kind == speculation::RopeKind::longrope;
  if (!is_longrope && scaling.kind != speculation::RopeKind::yarn) return 1.0;
  if (scaling.attention_factor > 0.0) return scaling.attention_factor;
  return is_longrope ? longrope_attention_factor(scaling) : yarn_attention_factor(scaling);
}

float query_scale(const speculation::RopeScaling& scaling, std::int32_t position) {
  if (scaling.query_beta == 0.0) return 1.0F;
  const std::int32_t contexts = position / scaling.original_max_positions;
  return static_cast<float>(1.0 + scaling.query_beta * std::log(1.0 + contexts));
}

speculation::ModelShape with_local_rope(speculation::ModelShape shape) {
  if (shape.rope.local_theta <= 0.0) return shape;
  const double theta = shape.rope.local_theta;
  shape.rope = {.theta = theta, .local_theta = theta, .rotated_dimensions = shape.rope.rotated_dimensions};
  return shape;
}

void rotate(float* head, std::int32_t width, const float* cosine, const float* sine) {
  const std::int32_t half = width / 2;
  for (std::int32_t pair = 0; pair < half; ++pair) {
    const float first = head[pair];
    const float second = head[pair + half];
    head[pair] = first * cosine[pair] - second * sine[pair];
    head[pair + half] = second * cosine[pair] + first * sine[pair];
  }
}

}  // namespace draftscope::engine
