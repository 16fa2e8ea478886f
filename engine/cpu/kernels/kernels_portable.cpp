// SPDX-License-Identifier: GPL-3.0-or-later
// The frozen reference: what every other set computes, in loops that any compiler and processor take.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cpu/kernels/kernels.h"
#include "numbers/bf16.h"

namespace draftscope::engine::cpu {
namespace {

constexpr int lanes = 16;
using Lanes = std::array<float, lanes>;

/// Sums lanes i and i+8, then i and i+4, and so on: the order that halving a vector register gives.
float sum(Lanes& values) {
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int i = 0; i < half; ++i)
      values[static_cast<std::size_t>(i)] +=
          values[static_cast<std::size_t>(i) + static_cast<std::size_t>(half)];
  return values[0];
}

float weight_at(const std::byte* row, std::int64_t k, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return load_unaligned<float>(row + 4 * k);
    case DType::bf16:
      return bf16_to_float(load_unaligned<std::uint16_t>(row + 2 * k));
    case DType::f16:
      return f16_to_float(load_unaligned<std::uint16_t>(row + 2 * k));
  }
  return 0.0F;
}

std::size_t set_bytes(std::int32_t rows, std::int64_t depth) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(depth) * sizeof(float);
}

template <DType dtype>
void pack(const float* row, std::int32_t index, std::int64_t depth, std::byte* set) {
  float* out = reinterpret_cast<float*>(set) + index * depth;
  for (std::int64_t k = 0; k < depth; ++k) out[k] = dtype == DType::bf16 ? round_to_bf16(row[k]) : row[k];
}

template <DType dtype>
void product(const ProductTask& task, std::int64_t begin, std::int64_t end) {
  const std::int64_t whole = task.depth - task.depth % lanes;
  const auto row_bytes = static_cast<std::int64_t>(dtype_bytes(dtype)) * task.depth;
  for (std::int64_t o = begin; o < end; ++o) {
    const std::byte* weights = task.weights + o * row_bytes;
    for (std::int32_t row = 0; row < task.rows; ++row) {
      const float* x = reinterpret_cast<const float*>(task.activations) + row * task.depth;
      Lanes sums{};
      for (std::int64_t k = 0; k < whole; k += lanes)
        for (int lane = 0; lane < lanes; ++lane)
          sums[static_cast<std::size_t>(lane)] += weight_at(weights, k + lane, dtype) * x[k + lane];
      for (std::int64_t k = whole; k < task.depth; ++k)
        sums[static_cast<std::size_t>(k - whole)] += weight_at(weights, k, dtype) * x[k];
      const float dot = sum(sums) + (task.bias != nullptr ? task.bias[o] : 0.0F);
      float& out = task.out[row * task.out_stride + o];
      out = task.accumulate ? out + dot : dot;
    }
  }
}

/// Computes exp(x) as 2^n · p(r) with x = n ln 2 + r, |r| ≤ ln 2 / 2; within 2 units in the last place over
/// [-87, 88].
float exponential(float x) {
  constexpr float lowest = -87.3F;
  if (!(x > lowest)) return std::isnan(x) ? x : 0.0F;
  const float n = std::nearbyint(std::min(x, 88.0F) * 1.44269504F);
  const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  for (const float c :
       {1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F})
    p = p * r + c;
  p = (p * r) * r + r + 1.0F;
  return p * std::bit_cast<float>((static_cast<std::int32_t>(n) + 127) << 23);
}

/// Computes cap · tanh(value / cap), with tanh y = 1 − 2 / (exp 2y + 1).
float soft_capped(float value, float cap) {
  return cap * (1.0F - 2.0F / (exponential(2.0F * (value / cap)) + 1.0F));
}

template <DType dtype>
void attention(const AttentionTask& task) {
  const std::int32_t n = task.list.size();
  for (std::int32_t head = 0; head < task.heads; ++head) {
    const float* query = task.queries + head * task.head_stride;
    float* scores = task.scores + head * task.score_stride;
    float maximum = -std::numeric_limits<float>::infinity();
    for (std::int32_t place = 0; place < n; ++place) {
      const std::byte* key = task.keys + task.list.row(place) * task.row_bytes;
      Lanes sums{};
      for (std::int32_t d = 0; d < task.head_stride; d += lanes)
        for (int lane = 0; lane < lanes; ++lane)
          sums[static_cast<std::size_t>(lane)] += query[d + lane] * weight_at(key, d + lane, dtype);
      scores[place] = task.score_cap > 0.0F ? soft_capped(sum(sums), task.score_cap) : sum(sums);
      maximum = std::max(maximum, scores[place]);
    }
    Lanes sums{};
    for (std::int32_t place = 0; place < n; ++place) {
      scores[place] = exponential(scores[place] - maximum);
      sums[static_cast<std::size_t>(place % lanes)] += scores[place];
    }
    const float scale = 1.0F / sum(sums);
    float* out = task.out + head * task.head_stride;
    std::fill_n(out, task.head_stride, 0.0F);
    for (std::int32_t place = 0; place < n; ++place) {
      const std::byte* value = task.values + task.list.row(place) * task.row_bytes;
      for (std::int32_t d = 0; d < task.head_stride; ++d)
        out[d] += scores[place] * weight_at(value, d, dtype);
    }
    for (std::int32_t d = 0; d < task.head_stride; ++d) out[d] *= scale;
  }
}

void rms_norm(const float* row, const float* weight, std::int64_t n, float epsilon, float* out) {
  Lanes squares{};
  for (std::int64_t i = 0; i < n; ++i) squares[static_cast<std::size_t>(i % lanes)] += row[i] * row[i];
  const float scale = 1.0F / std::sqrt(sum(squares) / static_cast<float>(n) + epsilon);
  for (std::int64_t i = 0; i < n; ++i) out[i] = row[i] * scale * weight[i];
}

void swiglu(float* gate, const float* up, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) gate[i] = gate[i] / (1.0F + exponential(-gate[i])) * up[i];
}

/// GELU by its tanh approximation equals x · σ(2u).
void geglu(float* gate, const float* up, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = gate[i];
    const float u = 0.797884561F * (x + 0.044715F * (x * x * x));
    gate[i] = x / (1.0F + exponential(-2.0F * u)) * up[i];
  }
}

void relu_squared(float* values, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float positive = std::max(values[i], 0.0F);
    values[i] = positive * positive;
  }
}

void xielu(float* values, const Xielu& numbers, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    const float x = values[i];
    const float curved =
        x > 0.0F ? numbers.alpha_p * x * x : numbers.alpha_n * (std::expm1(std::min(x, numbers.epsilon)) - x);
    values[i] = curved + numbers.beta * x;
  }
}

void soft_cap(float* values, float cap, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) values[i] = soft_capped(values[i], cap);
}

void to_bf16(const float* row, std::int64_t n, std::uint16_t* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = float_to_bf16(row[i]);
}

BlockSoftmax block_softmax(const float* logits, std::int64_t n) {
  BlockSoftmax block{-std::numeric_limits<float>::infinity(), 0.0F};
  for (std::int64_t i = 0; i < n; ++i) block.maximum = std::max(block.maximum, logits[i]);
  const float shift = softmax_shift(block.maximum);
  Lanes sums{};
  for (std::int64_t i = 0; i < n; ++i)
    sums[static_cast<std::size_t>(i % lanes)] += exponential(logits[i] - shift);
  block.sum = sum(sums);
  return block;
}

template <DType dtype>
constexpr ProductKernels products{set_bytes, pack<dtype>, product<dtype>};

}  // namespace

const Kernels& portable_kernels() {
  static const Kernels kernels{"portable",
                               {products<DType::f32>, products<DType::bf16>, products<DType::f16>},
                               {attention<DType::f32>, attention<DType::bf16>},
                               rms_norm,
                               {swiglu, geglu},
                               relu_squared,
                               xielu,
                               soft_cap,
                               to_bf16,
                               block_softmax,
                               &portable_packed_products()};
  return kernels;
}

}  // namespace draftscope::engine::cpu
