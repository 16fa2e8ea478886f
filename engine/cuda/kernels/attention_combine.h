// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Combines the sums of attention, one warp per query, after all of its runs or splits are stored.

#include "attention_plan.h"
#include "product_ops.h"
#include "softmax_sum.h"

namespace draftscope::engine::cuda {

DRAFTSCOPE_DEVICE int key_count(const KeyRun& keys) {
  return keys.end - keys.begin + (keys.extra_end - keys.extra_begin);
}

/// Statistics by run of a split.
struct SplitStatistics {
  float maximum[attention_warps];
  float sum[attention_warps];
};

/// Computes the factors that rescale a split's runs to their common maximum, and the sum of their weights.
/// `maximum` becomes the common maximum.
DRAFTSCOPE_DEVICE float bring_together(SplitStatistics& runs, float& maximum) {
  maximum = runs.maximum[0];
  for (int run = 1; run < attention_warps; ++run) maximum = fmaxf(maximum, runs.maximum[run]);
  for (int run = 0; run < attention_warps; ++run) {
    runs.maximum[run] = exponential_of_two(runs.maximum[run] - maximum);
    runs.sum[run] *= runs.maximum[run];
  }
  for (int step = 1; step < attention_warps; step *= 2)
    for (int run = 0; run < attention_warps; run += 2 * step) runs.sum[run] += runs.sum[run + step];
  return runs.sum[0];
}

/// Defines where sums are stored until they are combined, and how they are combined.
template <typename Element, int head_dim>
class AttentionCombine {
 public:
  static constexpr int lane_values = 4;  ///< Dimensions that a thread adds.
  using Sum = SoftmaxSum<lane_values>;

  DRAFTSCOPE_DEVICE AttentionCombine(const PassView& p, const AttentionPlan& plan, int kv_head)
      : p_(p), plan_(plan), kv_head_(kv_head) {}

  /// Called by all warps of the grid.
  DRAFTSCOPE_DEVICE static void run(const PassView& p, const AttentionPlan& plan) {
    constexpr int warps = attention_warps;
    for (int task = block_index() * warps + thread_index() / warp_threads; task < plan.rows * p.model.n_heads;
         task += block_count() * warps) {
      const int head = task % p.model.n_heads;
      AttentionCombine(p, plan, head / plan.group)
          .put_together(task / p.model.n_heads * plan.group + head % plan.group);
    }
  }

  /// Dimensions of one query in a buffer of the queries, or attention results, of all rows.
  template <typename T>
  DRAFTSCOPE_DEVICE T* query(T* rows, int index) const {
    const std::int64_t row = p_.row_begin + index / plan_.group;
    const int head = kv_head_ * plan_.group + index % plan_.group;
    return rows + (row * p_.model.n_heads + head) * head_dim;
  }

  /// Place of a query's sums for a split or run.
  DRAFTSCOPE_DEVICE std::int64_t place(int unit, int index) const {
    const std::int64_t units = max_kept_sums(p_.model.cache_rows);
    return (kv_head_ * units + unit) * (max_attention_rows * plan_.group) + index;
  }
  DRAFTSCOPE_DEVICE void keep_values(int unit, int index, int dimension, const FloatChunk& values) const {
    *reinterpret_cast<FloatChunk*>(p_.work.split_sums + place(unit, index) * head_dim + dimension) = values;
  }
  DRAFTSCOPE_DEVICE void keep_statistics(int unit, int index, float maximum, float sum) const {
    float* const to = p_.work.split_statistics + place(unit, index) * 2;
    to[0] = maximum;
    to[1] = sum;
  }

 private:
  DRAFTSCOPE_DEVICE Sum kept(int unit, int index, int dimension) const {
    const std::int64_t at = place(unit, index);
    Sum result;
    result.maximum = p_.work.split_statistics[at * 2];
    result.sum = p_.work.split_statistics[at * 2 + 1];
    const auto values = *reinterpret_cast<const FloatChunk*>(p_.work.split_sums + at * head_dim + dimension);
    for (int i = 0; i < lane_values; ++i) result.values[i] = values.values[i];
    return result;
  }

  /// The sums of a split's runs.
  struct Runs {
    Sum sums[attention_warps];
  };
  DRAFTSCOPE_DEVICE Runs kept_runs(int split, int keys, int index, int dimension) const {
    Runs runs;
#pragma unroll
    for (int run = 0; run < attention_warps; ++run) {
      const int unit = split * attention_warps + run;
      runs.sums[run] = unit * warp_keys < keys ? kept(unit, index, dimension) : Sum::none();
    }
    return runs;
  }
  DRAFTSCOPE_DEVICE static Sum together(const Runs& runs) {
    const auto& held = runs.sums;
    SplitStatistics statistics;
    for (int run = 0; run < attention_warps; ++run) {
      statistics.maximum[run] = held[run].maximum;
      statistics.sum[run] = held[run].sum;
    }
    Sum result = Sum::none();
    result.sum = bring_together(statistics, result.maximum);
#pragma unroll
    for (int run = 0; run < attention_warps; ++run)
      for (int i = 0; i < lane_values; ++i)
        result.values[i] = fmaf(statistics.maximum[run], held[run].values[i], result.values[i]);
    return result;
  }

  /// Sums the splits of one group for a query.
  DRAFTSCOPE_DEVICE Sum of_group(int group, int keys, int index, int dimension) const {
    const int first = group * split_group;
    Sum result = Sum::none();
    const int own = ceiling_of(keys, split_keys) - first;
    if (plan_.is_by_runs) {
      const int end = first + (own < split_group ? own : split_group);
      Runs next = kept_runs(first, keys, index, dimension);
      for (int split = first; split < end; ++split) {
        const Runs runs = next;
        if (split + 1 < end) next = kept_runs(split + 1, keys, index, dimension);
        result.add(together(runs));
      }
      return result;
    }
    const int parts = group < plan_.whole_groups ? 1 : own < split_group ? own : split_group;
    Sum held[split_group];
#pragma unroll
    for (int i = 0; i < split_group; ++i)
      held[i] = i < parts ? kept(first + i, index, dimension) : Sum::none();
#pragma unroll
    for (int i = 0; i < split_group; ++i) result.add(held[i]);
    return result;
  }

  /// Combines the sums of one query. Called by a warp.
  DRAFTSCOPE_DEVICE void put_together(int index) const {
    const int dimension = thread_index() % warp_threads * lane_values;
    if (dimension >= head_dim) return;
    const int keys = key_count(p_.row[index / plan_.group].keys);
    Sum sum = Sum::none();
    for (int group = 0; group * split_group * split_keys < keys; ++group)
      sum.add(of_group(group, keys, index, dimension));
    const float share = 1.0F / sum.sum;
    HalfChunk packed;
    for (int i = 0; i < lane_values; i += 2)
      packed.words[i / 2] = pack<Element>(sum.values[i] * share, sum.values[i + 1] * share);
    *reinterpret_cast<HalfChunk*>(query(p_.work.attended, index) + dimension) = packed;
  }

  const PassView& p_;
  const AttentionPlan& plan_;
  int kv_head_;
};

}  // namespace draftscope::engine::cuda
