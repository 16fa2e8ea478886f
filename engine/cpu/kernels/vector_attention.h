// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Attention of one query row for the heads of one K/V head, for any vector type.
//
//   Math     scores = q · kᵀ, capped if asked; weights = exp(score - max); out = Σ weight · v / Σ weight
//   Order    a score is one vector sum over head_dim; Σ weight adds a lane's places in order, then the lanes;
//            out adds keys one by one in list order. No order depends on where a key lies in the cache.
//   Reuse    up to four heads share every key and value that is loaded and widened.

#include <cstddef>
#include <cstdint>
#include <limits>

#include "cpu/kernels/kernels.h"
#include "cpu/kernels/vector_elementwise.h"

namespace draftscope::engine::cpu {

template <typename V, DType dtype, int heads>
void score_keys(const AttentionTask& task, std::int32_t first_head) {
  constexpr int keys_at_once = V::accumulators / heads;
  const std::int32_t n = task.list.size();
  for (std::int32_t place = 0; place < n; place += keys_at_once) {
    const std::byte* keys[keys_at_once];
    for (int key = 0; key < keys_at_once; ++key)  // A short last block repeats its last key.
      keys[key] = task.keys + task.list.row(place + key < n ? place + key : n - 1) * task.row_bytes;
    typename V::Value sums[heads * keys_at_once];
    for (auto& sum : sums) sum = V::zero();
    for (std::int32_t d = 0; d < task.head_stride; d += V::width) {
      typename V::Value query[heads];
      for (int head = 0; head < heads; ++head)
        query[head] = V::load(task.queries + (first_head + head) * task.head_stride + d);
      for (int key = 0; key < keys_at_once; ++key) {
        const auto k =
            V::template load_as<dtype>(keys[key] + d * static_cast<std::int64_t>(dtype_bytes(dtype)));
        for (int head = 0; head < heads; ++head)
          sums[head * keys_at_once + key] = V::fma(query[head], k, sums[head * keys_at_once + key]);
      }
    }
    alignas(64) float scores[V::template room_for_sums<heads * keys_at_once>];
    V::sums(sums, scores);
    for (int head = 0; head < heads; ++head)
      for (int key = 0; key < keys_at_once && place + key < n; ++key)
        task.scores[(first_head + head) * task.score_stride + place + key] =
            scores[head * keys_at_once + key];
  }
}

/// Turns scores into unnormalised softmax weights; returns 1 / their sum.
template <typename V>
float softmax_weights(float* scores, std::int32_t n) {
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  std::int32_t padded = n;
  for (; padded % V::width != 0; ++padded) scores[padded] = lowest;
  auto highest = V::all(lowest);
  for (std::int32_t place = 0; place < padded; place += V::width)
    highest = V::max(V::load(scores + place), highest);
  const auto maximum = V::all(V::maximum(highest));
  auto sum = V::zero();
  for (std::int32_t place = 0; place < padded; place += V::width) {
    const auto weight = exponential<V>(V::sub(V::load(scores + place), maximum));
    V::store(scores + place, weight);
    sum = V::add(sum, weight);
  }
  return 1.0F / V::sum(sum);
}

/// Computes `vectors` vectors of the heads' outputs from dimension d on.
template <typename V, DType dtype, int heads, int vectors>
void mix_values(const AttentionTask& task, std::int32_t first_head, std::int32_t d, const float* scales) {
  const float* weights[heads];
  for (int head = 0; head < heads; ++head)
    weights[head] = task.scores + (first_head + head) * task.score_stride;
  typename V::Value sums[heads * vectors];
  for (auto& sum : sums) sum = V::zero();
  const std::int32_t n = task.list.size();
  const std::byte* column = task.values + d * static_cast<std::int64_t>(dtype_bytes(dtype));
  constexpr auto vector_bytes = V::width * static_cast<std::int64_t>(dtype_bytes(dtype));
  for (std::int32_t place = 0; place < n; ++place) {
    const std::byte* row = column + task.list.row(place) * task.row_bytes;
    typename V::Value value[vectors];
    for (int i = 0; i < vectors; ++i) value[i] = V::template load_as<dtype>(row + i * vector_bytes);
    for (int head = 0; head < heads; ++head) {
      const auto weight = V::all(weights[head][place]);
      for (int i = 0; i < vectors; ++i)
        sums[head * vectors + i] = V::fma(weight, value[i], sums[head * vectors + i]);
    }
  }
  for (int head = 0; head < heads; ++head)
    for (int i = 0; i < vectors; ++i)
      V::store(task.out + (first_head + head) * task.head_stride + d + i * V::width,
               V::mul(sums[head * vectors + i], V::all(scales[head])));
}

template <typename V, DType dtype, int heads>
void attend_heads(const AttentionTask& task, std::int32_t first_head) {
  score_keys<V, dtype, heads>(task, first_head);
  if (task.score_cap > 0.0F)
    for (int head = 0; head < heads; ++head)
      vector_soft_cap<V>(task.scores + (first_head + head) * task.score_stride, task.score_cap,
                         task.list.size());
  float scales[heads];
  for (int head = 0; head < heads; ++head)
    scales[head] =
        softmax_weights<V>(task.scores + (first_head + head) * task.score_stride, task.list.size());
  constexpr int vectors = V::accumulators / 4;
  std::int32_t d = 0;
  for (; d + vectors * V::width <= task.head_stride; d += vectors * V::width)
    mix_values<V, dtype, heads, vectors>(task, first_head, d, scales);
  for (; d < task.head_stride; d += V::width) mix_values<V, dtype, heads, 1>(task, first_head, d, scales);
}

template <typename V, DType dtype>
void vector_attention(const AttentionTask& task) {
  std::int32_t head = 0;
  for (; head + 4 <= task.heads; head += 4) attend_heads<V, dtype, 4>(task, head);
  switch (task.heads - head) {
    case 3:
      attend_heads<V, dtype, 3>(task, head);
      break;
    case 2:
      attend_heads<V, dtype, 2>(task, head);
      break;
    case 1:
      attend_heads<V, dtype, 1>(task, head);
      break;
    default:
      break;
  }
}

}  // namespace draftscope::engine::cpu
