// SPDX-License-Identifier: GPL-3.0-or-later
#include "quantise.h"

#include <algorithm>
#include <cmath>

#include "numbers/bf16.h"

namespace draftscope::engine::cpu {
namespace {

// Sums have separate lanes, so that compilers may use vectors.
constexpr std::size_t lanes = 8;
using Lanes = std::array<float, lanes>;

constexpr std::uint16_t half_nan = 0x7e00;

struct Range {
  float low, high;  ///< range of quants minus their zero point
};

Range range_of(const PackedLayout& layout) {
  if (layout.format == speculation::WeightFormat::q8_0) return {-127.0F, 127.0F};
  const auto zero = static_cast<float>(layout.zero());
  return {-zero, static_cast<float>((1 << layout.bits()) - 1) - zero};
}

/// A line w = step · q + offset.
struct Line {
  float step = 0.0F;
  float offset = 0.0F;
};

/// Rounds to the nearest whole number, ties to even, for |x| < 2²²; loops over it become vector code.
float nearest(float x) {
  constexpr float magic = 12582912.0F;
  return (x + magic) - magic;
}

float quant_of(float x, const Line& line, float inverse, const Range& range) {
  const float q = nearest((x - line.offset) * inverse);
  const float above = q > range.low ? q : range.low;
  return above < range.high ? above : range.high;
}

float inverse_of(const Line& line) {
  return line.step == 0.0F ? 0.0F : 1.0F / line.step;
}

Line as_stored(const Line& line) {
  return {f16_to_float(float_to_f16(line.step)), f16_to_float(float_to_f16(line.offset))};
}

float total(const Lanes& sums) {
  float sum = 0.0F;
  for (const float lane : sums) sum += lane;
  return sum;
}

/// Weight of an error in each of a block's values. In formats with minima, small weights matter as much as
/// large ones. If they were neglected, those near zero would all have the same error, and sums of many a
/// large one.
std::array<float, block_depth> error_weights(const float* x, bool has_minima) {
  std::array<float, block_depth> weights;
  for (std::size_t k = 0; k < block_depth; ++k) weights[k] = has_minima ? 1.0F : x[k] * x[k];
  return weights;
}

float error_of(const float* x, const float* importance, const Line& line, const Range& range) {
  const float inverse = inverse_of(line);
  Lanes sums{};
  for (std::size_t k = 0; k < block_depth; k += lanes)
    for (std::size_t i = 0; i < lanes; ++i) {
      const float value = x[k + i];
      const float missed = value - (line.step * quant_of(value, line, inverse, range) + line.offset);
      sums[i] += importance[k + i] * (missed * missed);
    }
  return total(sums);
}

struct Fit {
  Line line;
  float explained = 0.0F;  ///< explained part of the weighted squares, up to a constant
};

/// Finds the best line for the quants that `line` gives.
Fit refit(const float* x, const float* importance, const Line& line, const Range& range, bool has_minima) {
  const float inverse = inverse_of(line);
  Lanes w{};
  Lanes q{};
  Lanes qq{};
  Lanes wx{};
  Lanes xq{};
  for (std::size_t k = 0; k < block_depth; k += lanes)
    for (std::size_t i = 0; i < lanes; ++i) {
      const float value = x[k + i];
      const float weight = importance[k + i];
      const float quant = quant_of(value, line, inverse, range);
      w[i] += weight;
      q[i] += weight * quant;
      qq[i] += weight * (quant * quant);
      wx[i] += weight * value;
      xq[i] += weight * (value * quant);
    }
  const float squares = total(qq);
  const float products = total(xq);
  if (!has_minima) {
    if (!(squares > 0.0F)) return {line, 0.0F};
    return {{products / squares, 0.0F}, products * products / squares};
  }
  const float all = total(w);
  const float first = total(q);
  const float values = total(wx);
  const float determinant = all * squares - first * first;
  if (!(determinant > 1e-6F * all * squares)) return {line, 0.0F};
  const float step = (all * products - first * values) / determinant;
  const float offset = (values - step * first) / all;
  return {{step, offset}, step * products + offset * values};
}

/// The line given by only the values' range.
Line plain_line(const PackedLayout& layout, const float* x, std::int64_t count) {
  const Range range = range_of(layout);
  float low = x[0];
  float high = x[0];
  for (std::int64_t k = 0; k < count; ++k) {
    low = std::min(low, x[k]);
    high = std::max(high, x[k]);
  }
  if (layout.has_minima) return {(high - low) / range.high, low};
  const float largest = -low > high ? low : high;
  // The largest value is mapped to the end that reaches further: the lower one.
  return {largest / range.low, 0.0F};
}

QuantisedBlock block_of(const PackedLayout& layout, const float* x, const Line& line) {
  const Range range = range_of(layout);
  const float inverse = inverse_of(line);
  QuantisedBlock block;
  block.scale = float_to_f16(line.step);
  block.minimum = layout.has_minima ? float_to_f16(line.offset) : std::uint16_t{0};
  for (std::size_t k = 0; k < block_depth; ++k)
    block.quants[k] =
        static_cast<std::uint8_t>(static_cast<int>(quant_of(x[k], line, inverse, range)) + layout.zero());
  return block;
}

bool is_finite(const float* x) {
  return std::all_of(x, x + block_depth, [](float value) { return std::isfinite(value); });
}

QuantisedBlock no_numbers() {
  QuantisedBlock block;
  block.scale = half_nan;
  return block;
}

}  // namespace

QuantisedBlock quantise_plainly(const PackedLayout& layout, const float* weights, std::int64_t count) {
  if (!is_finite(weights)) return no_numbers();
  return block_of(layout, weights, as_stored(plain_line(layout, weights, count)));
}

QuantisedBlock quantise_block(const PackedLayout& layout, const float* weights, std::int64_t count,
                              const float* importance) {
  constexpr std::array around{0.8F, 0.85F, 0.9F, 0.95F, 1.0F, 1.05F, 1.1F, 1.15F};
  constexpr std::array inside{1.0F, 0.96F, 0.92F, 0.88F, 0.84F, 0.8F};
  if (!is_finite(weights)) return no_numbers();
  const Line plain = plain_line(layout, weights, count);
  if (!weighs_columns(layout)) return block_of(layout, weights, as_stored(plain));
  const Range range = range_of(layout);
  const auto own = error_weights(weights, layout.has_minima);
  const float* counts = importance != nullptr ? importance : own.data();
  Fit best{plain, -1.0F};
  const auto offer = [&](const Line& line) {
    const Fit fit = refit(weights, counts, line, range, layout.has_minima);
    if (fit.explained > best.explained) best = fit;
  };
  if (layout.has_minima) {
    const float middle = plain.offset + plain.step * range.high / 2.0F;
    for (const float share : inside)
      offer({plain.step * share, middle - plain.step * share * range.high / 2.0F});
  } else {
    for (const float share : around) offer({plain.step * share, 0.0F});
  }
  const Line found = as_stored(best.line);
  const Line stored = as_stored(plain);
  return block_of(
      layout, weights,
      error_of(weights, counts, found, range) < error_of(weights, counts, stored, range) ? found : stored);
}

}  // namespace draftscope::engine::cpu
