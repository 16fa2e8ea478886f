// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Building blocks of norm, gate and softmax for any vector type. An element's result does not depend on its
// lane.

#include <cmath>
#include <cstdint>
#include <limits>

#include "cpu/kernels/kernels.h"

namespace draftscope::engine::cpu {

/// e^x = 2^n · (1 + rest).
template <typename V>
struct Power {
  typename V::Value rest;
  typename V::Value n;
};

/// Splits e^x with x = n ln 2 + r, |r| ≤ ln 2 / 2, and x from -87.3 to 88. The polynomial is Cephes' expf.
template <typename V>
Power<V> power_of(typename V::Value x) {
  const auto n = V::round(V::mul(x, V::all(1.44269504F)));
  const auto r = V::fma(n, V::all(2.12194440e-4F), V::fma(n, V::all(-0.693359375F), x));
  auto p = V::all(1.9875691500e-4F);
  p = V::fma(p, r, V::all(1.3981999507e-3F));
  p = V::fma(p, r, V::all(8.3334519073e-3F));
  p = V::fma(p, r, V::all(4.1665795894e-2F));
  p = V::fma(p, r, V::all(1.6666665459e-1F));
  p = V::fma(p, r, V::all(5.0000001201e-1F));
  return {V::fma(V::mul(p, r), r, r), n};
}

/// Computes exp(x). Below -87.3 it is 0, above 88 it is exp(88), in between it is within 2 units in the last
/// place. A NaN stays a NaN: if one operand is NaN, V::min and V::max return the second operand.
template <typename V>
typename V::Value exponential(typename V::Value x) {
  const auto power = power_of<V>(V::min(V::all(88.0F), V::max(V::all(-87.3F), x)));
  const auto p = V::add(power.rest, V::all(1.0F));
  return V::zero_where_less(V::scale_by_power(p, power.n), x, V::all(-87.3F));
}

/// Computes exp(x) − 1 without the loss of digits near 0, for x up to 88.
template <typename V>
typename V::Value exponential_less_one(typename V::Value x) {
  const auto power = power_of<V>(V::min(V::all(88.0F), V::max(V::all(-87.3F), x)));
  const auto whole = V::sub(V::scale_by_power(V::all(1.0F), power.n), V::all(1.0F));
  return V::add(V::scale_by_power(power.rest, power.n), whole);
}

template <typename V>
void vector_rms_norm(const float* row, const float* weight, std::int64_t n, float epsilon, float* out) {
  constexpr int chains = 4;  // Several chains hide the latency of the sums.
  typename V::Value squares[chains] = {V::zero(), V::zero(), V::zero(), V::zero()};
  std::int64_t i = 0;
  for (; i + chains * V::width <= n; i += chains * V::width)
    for (int chain = 0; chain < chains; ++chain) {
      const auto x = V::load(row + i + chain * V::width);
      squares[chain] = V::fma(x, x, squares[chain]);
    }
  for (; i < n; i += V::width) {
    const auto x = V::load_first(row + i, n - i < V::width ? n - i : V::width, 0.0F);
    squares[0] = V::fma(x, x, squares[0]);
  }
  const float sum = V::sum(V::add(V::add(squares[0], squares[1]), V::add(squares[2], squares[3])));
  const float scale = 1.0F / std::sqrt(sum / static_cast<float>(n) + epsilon);
  for (i = 0; i < n; ++i) out[i] = row[i] * scale * weight[i];
}

template <typename V>
struct Silu {
  static typename V::Value of(typename V::Value x) {
    return V::div(x, V::add(V::all(1.0F), exponential<V>(V::sub(V::zero(), x))));
  }
};

/// GELU by its tanh approximation, which equals x · σ(2u).
template <typename V>
struct GeluTanh {
  static typename V::Value of(typename V::Value x) {
    const auto cube = V::mul(V::mul(x, x), x);
    const auto u = V::mul(V::all(0.797884561F), V::fma(V::all(0.044715F), cube, x));
    return V::div(x, V::add(V::all(1.0F), exponential<V>(V::mul(V::all(-2.0F), u))));
  }
};

template <typename V, typename Activation>
void vector_gate(float* gate, const float* up, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + V::width <= n; i += V::width)
    V::store(gate + i, V::mul(Activation::of(V::load(gate + i)), V::load(up + i)));
  if (i < n)
    V::store_first(
        gate + i, n - i,
        V::mul(Activation::of(V::load_first(gate + i, n - i, 0.0F)), V::load_first(up + i, n - i, 0.0F)));
}

/// Computes values = of(values), with the same bits for any division of [0, n).
template <typename V, typename Of>
void vector_each(float* values, std::int64_t n, const Of& of) {
  std::int64_t i = 0;
  for (; i + V::width <= n; i += V::width) V::store(values + i, of(V::load(values + i)));
  if (i < n) V::store_first(values + i, n - i, of(V::load_first(values + i, n - i, 0.0F)));
}

template <typename V>
void vector_relu_squared(float* values, std::int64_t n) {
  vector_each<V>(values, n, [](typename V::Value x) {
    const auto positive = V::max(V::zero(), x);
    return V::mul(positive, positive);
  });
}

template <typename V>
void vector_xielu(float* values, const Xielu& numbers, std::int64_t n) {
  vector_each<V>(values, n, [&](typename V::Value x) {
    const auto positive = V::max(V::zero(), x);
    const auto below = V::sub(exponential_less_one<V>(V::min(V::all(numbers.epsilon), x)), x);
    const auto bent = V::zero_where_less(V::mul(V::all(numbers.alpha_n), below), V::zero(), x);
    const auto curved = V::fma(V::mul(V::all(numbers.alpha_p), positive), positive, bent);
    return V::fma(V::all(numbers.beta), x, curved);
  });
}

/// Computes cap · tanh(value / cap), with tanh y = 1 − 2 / (exp 2y + 1).
template <typename V>
typename V::Value soft_capped(typename V::Value value, float cap) {
  const auto twice = V::mul(V::all(2.0F), V::div(value, V::all(cap)));
  const auto share = V::div(V::all(2.0F), V::add(exponential<V>(twice), V::all(1.0F)));
  return V::mul(V::all(cap), V::sub(V::all(1.0F), share));
}

template <typename V>
void vector_soft_cap(float* values, float cap, std::int64_t n) {
  vector_each<V>(values, n, [&](typename V::Value x) { return soft_capped<V>(x, cap); });
}

template <typename V>
BlockSoftmax vector_block_softmax(const float* logits, std::int64_t n) {
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  const auto at = [&](std::int64_t i) {
    return i + V::width <= n ? V::load(logits + i) : V::load_first(logits + i, n - i, lowest);
  };
  auto highest = V::all(lowest);
  for (std::int64_t i = 0; i < n; i += V::width) highest = V::max(at(i), highest);
  BlockSoftmax block{V::maximum(highest), 0.0F};
  const auto shift = V::all(softmax_shift(block.maximum));
  auto sum = V::zero();
  for (std::int64_t i = 0; i < n; i += V::width) sum = V::add(sum, exponential<V>(V::sub(at(i), shift)));
  block.sum = V::sum(sum);
  return block;
}

template <typename V>
void vector_to_bf16(const float* row, std::int64_t n, std::uint16_t* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, row + i, sizeof bits);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
    out[i] = static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x40U : rounded);
  }
}

}  // namespace draftscope::engine::cpu
