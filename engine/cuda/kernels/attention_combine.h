// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Splits of attention put together: by the item that comes last of those that 16 queries have. Groups of
// splits are added at once, a warp a query and group, then each query's groups in order.

#include "attention_plan.h"
#include "product_ops.h"
#include "softmax_sum.h"

namespace draftscope::engine::cuda {

DRAFTSCOPE_DEVICE int key_count(const KeyRun& keys) {
  return keys.end - keys.begin + (keys.extra_end - keys.extra_begin);
}

/// Work of a block, as all of its threads know it, at the start of its shared memory.
struct BlockWork {
  AttentionPlan plan;
  AttentionItem item;
  int kv_head;
  KeyRun keys;             ///< the item's
  int max_keys, min_keys;  ///< of the item's rows
  int is_last;             ///< whether the item completes what is put together
};
static_assert(sizeof(BlockWork) <= block_work_bytes);

DRAFTSCOPE_DEVICE BlockWork& block_work() {
  return *reinterpret_cast<BlockWork*>(shared_memory());
}

template <typename Element, int head_dim, typename Pass = PassParams>
class AttentionCombine {
 public:
  static constexpr int lane_values = 4;  ///< dimensions that a thread adds
  using Sum = SoftmaxSum<lane_values>;

  DRAFTSCOPE_DEVICE explicit AttentionCombine(const Pass& p) : p_(p), block_(block_work()) {}

  /// One query's dimensions in a buffer of all rows' queries, or of what becomes of them.
  template <typename T>
  DRAFTSCOPE_DEVICE T* query(T* rows, int index) const {
    const std::int64_t row = p_.row_begin + index / block_.plan.group;
    const int head = block_.kv_head * block_.plan.group + index % block_.plan.group;
    return rows + (row * p_.model.n_heads + head) * head_dim;
  }

  /// Keeps what the item has found of a query's dimensions from `dimension` on; writes the result, where
  /// there is no other split.
  DRAFTSCOPE_DEVICE void keep(int of_item, int dimension, const Sum& sum) const {
    if (of_item >= block_.item.n_queries) return;
    const int index = block_.item.first_query + of_item;
    if (block_.plan.splits == 1) return finish(index, dimension, sum);
    const std::int64_t at = place(block_.item.split, index);
    FloatChunk values;
    for (int i = 0; i < lane_values; ++i) values.values[i] = sum.values[i];
    *reinterpret_cast<FloatChunk*>(p_.work.split_sums + at * head_dim + dimension) = values;
    if (dimension != 0) return;
    p_.work.split_statistics[at * 2] = sum.maximum;
    p_.work.split_statistics[at * 2 + 1] = sum.sum;
  }

  /// Puts together the splits of queries that this item completes. Queries are counted by sixteens, whatever
  /// tiles their items took them in: each item brings each of its queries once.
  DRAFTSCOPE_DEVICE void complete() const {
    const AttentionItem& item = block_.item;
    const int end = item.first_query + item.n_queries;
    const int groups_of_head = arrival_groups(max_attention_rows * block_.plan.group);
    for (int group = item.first_query / tile_queries; group * tile_queries < end; ++group) {
      const int first = group * tile_queries;
      const int left = block_.plan.queries - first;
      const int queries = left < tile_queries ? left : tile_queries;
      synchronise();  // all of the block's sums are written; the sixteen before have been looked at
      if (thread_index() == 0) {
        const int mine = (end < first + queries ? end : first + queries) -
                         (item.first_query > first ? item.first_query : first);
        unsigned* arrivals = p_.work.arrivals + block_.kv_head * groups_of_head + group;
        const auto all = static_cast<unsigned>(block_.plan.units() * queries);
        block_.is_last =
            arrive(arrivals, static_cast<unsigned>(mine)) + static_cast<unsigned>(mine) == all ? 1 : 0;
        if (block_.is_last != 0) *arrivals = 0;
      }
      synchronise();
      if (block_.is_last != 0) put_together(first, queries);
    }
  }

 private:
  DRAFTSCOPE_DEVICE std::int64_t place(int split, int index) const {
    const std::int64_t splits = max_splits(p_.model.cache_rows);
    return (block_.kv_head * splits + split) * (max_attention_rows * block_.plan.group) + index;
  }

  DRAFTSCOPE_DEVICE void finish(int index, int dimension, const Sum& sum) const {
    const float share = 1.0F / sum.sum;
    HalfChunk packed;
    for (int i = 0; i < lane_values; i += 2)
      packed.words[i / 2] = pack<Element>(sum.values[i] * share, sum.values[i + 1] * share);
    *reinterpret_cast<HalfChunk*>(query(p_.work.attended, index) + dimension) = packed;
  }

  /// Sum of one group's splits of a query.
  DRAFTSCOPE_DEVICE Sum of_group(int group, int index, int dimension) const {
    const int keys = key_count(p_.work.state->row[p_.row_begin + index / block_.plan.group].keys);
    const int first = group * split_group;
    const int own = ceiling_of(keys, split_keys) - first;
    const int parts = group < block_.plan.whole_groups ? 1 : own < split_group ? own : split_group;
    Sum held[split_group];
#pragma unroll
    for (int i = 0; i < split_group; ++i) {
      held[i] = Sum::none();
      if (i >= parts || dimension >= head_dim) continue;
      const std::int64_t at = place(first + i, index);
      held[i].maximum = p_.work.split_statistics[at * 2];
      held[i].sum = p_.work.split_statistics[at * 2 + 1];
      const auto values =
          *reinterpret_cast<const FloatChunk*>(p_.work.split_sums + at * head_dim + dimension);
      for (int j = 0; j < lane_values; ++j) held[i].values[j] = values.values[j];
    }
    Sum result = Sum::none();
#pragma unroll
    for (int i = 0; i < split_group; ++i) result.add(held[i]);
    return result;
  }

  DRAFTSCOPE_DEVICE void put_together(int first, int queries) const {
    const int warp = thread_index() / warp_threads;
    const int dimension = thread_index() % warp_threads * lane_values;
    const int groups = ceiling_of(block_.plan.splits, split_group);
    const int at_once = combined_at_once / queries;
    // [group][query] of those at once, each with its maximum and sum behind it.
    constexpr int stride = head_dim + lane_values;
    float* shared = reinterpret_cast<float*>(shared_memory() + block_work_bytes);
    constexpr int warp_queries = tile_queries / attention_warps;
    Sum sums[warp_queries];
    for (Sum& sum : sums) sum = Sum::none();
    for (int done = 0; done < groups; done += at_once) {
      const int now = groups - done < at_once ? groups - done : at_once;
      synchronise();  // what was there before has been read
      for (int task = warp; task < now * queries; task += attention_warps) {
        const Sum sum = of_group(done + task / queries, first + task % queries, dimension);
        float* to = shared + task * stride;
        if (dimension < head_dim)
          *reinterpret_cast<FloatChunk*>(to + dimension) = {
              {sum.values[0], sum.values[1], sum.values[2], sum.values[3]}};
        if (dimension == 0) {
          to[head_dim] = sum.maximum;
          to[head_dim + 1] = sum.sum;
        }
      }
      synchronise();
#pragma unroll
      for (int i = 0; i < warp_queries; ++i) {
        const int of_tile = warp + i * attention_warps;
        if (of_tile >= queries || dimension >= head_dim) continue;
        for (int group = 0; group < now; ++group) {
          const float* from = shared + (group * queries + of_tile) * stride;
          const FloatChunk values = *reinterpret_cast<const FloatChunk*>(from + dimension);
          sums[i].add({{values.values[0], values.values[1], values.values[2], values.values[3]},
                       from[head_dim],
                       from[head_dim + 1]});
        }
      }
    }
#pragma unroll
    for (int i = 0; i < warp_queries; ++i) {
      const int of_tile = warp + i * attention_warps;
      if (of_tile < queries && dimension < head_dim) finish(first + of_tile, dimension, sums[i]);
    }
  }

  const Pass& p_;
  BlockWork& block_;
};

}  // namespace draftscope::engine::cuda
