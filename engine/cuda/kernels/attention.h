// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Attention of up to 64 rows over the cache, split along the keys.
//
// A row's keys are numbered in path order and cut into splits of 256, each split into eight runs of 32, one a
// warp. Where a cut falls depends on a key's number alone; runs are combined in order, then splits. So a
// row's bits depend on its own keys only, and a branch of a tree equals the same tokens as a chain.
//
// A tile of 16 queries shares what is loaded: the query heads of a K/V head's group, and several rows as long
// as key j is the same cache row for all of them. Tensor cores multiply queries with keys and weights with
// values. Values need no transposition: a lane loads four dimensions of each of its keys, and calls them one
// column of four mma.

#include "product_ops.h"

namespace draftscope::engine::cuda {

template <typename Element, int head_dim>
class Attention {
  static constexpr int blocks = head_dim / dimension_block;
  static constexpr float lowest = -3.402823466e38F;
  static_assert(head_dim % dimension_block == 0 && head_dim <= max_head_dim);

  /// The launch's pieces of work, counted and put in order. The first `shared_splits` splits take tiles of
  /// mixed rows.
  struct Plan {
    int group, rows, queries;
    int splits, shared_splits;
    int shared_tiles, tiles_per_row, single_tiles;
    int items;  ///< of one K/V head
  };

  struct Item {
    int split;
    int first_query;  ///< row · group + head within the group, counted from this launch's first row
    int n_queries;
  };

 public:
  DRAFTSCOPE_DEVICE static void run(const PassParams& p) {
    let_next_kernel_start();
    wait_for_previous_kernel();
    if (p.work.slots[p.slot].attention == 0 || p.work.state->stopped != 0) return;
    const Plan plan = make_plan(p);
    for (int work = block_index(); work < plan.items * p.model.n_kv_heads; work += block_count()) {
      const int kv_head = work / plan.items;
      attend(p, plan, kv_head, item_of(plan, work % plan.items));
      // Whoever finishes a head's last item puts its splits together.
      synchronise();
      int* is_last = reinterpret_cast<int*>(shared_memory());
      if (thread_index() == 0) {
        unsigned* arrivals = p.work.arrivals + kv_head;
        *is_last = arrive(arrivals) + 1 == static_cast<unsigned>(plan.items) ? 1 : 0;
        if (*is_last != 0) *arrivals = 0;
      }
      synchronise();
      if (*is_last != 0) combine_splits(p, plan, kv_head);
      synchronise();
    }
  }

 private:
  DRAFTSCOPE_DEVICE static int ceiling(int a, int b) { return (a + b - 1) / b; }

  DRAFTSCOPE_DEVICE static Plan make_plan(const PassParams& p) {
    const PassState& state = *p.work.state;
    Plan plan;
    plan.group = p.model.n_heads / p.model.n_kv_heads;
    const int rows = state.rows - p.row_begin;
    plan.rows = rows < 0 ? 0 : rows > max_decode_rows ? max_decode_rows : rows;
    plan.queries = plan.rows * plan.group;
    plan.splits = ceiling(state.max_keys, split_keys);
    const int shared = state.shared_keys / split_keys;
    plan.shared_splits = shared < plan.splits ? shared : plan.splits;
    plan.shared_tiles = ceiling(plan.queries, tile_queries);
    plan.tiles_per_row = ceiling(plan.group, tile_queries);
    plan.single_tiles = plan.rows * plan.tiles_per_row;
    plan.items =
        plan.shared_splits * plan.shared_tiles + (plan.splits - plan.shared_splits) * plan.single_tiles;
    return plan;
  }

  DRAFTSCOPE_DEVICE static Item item_of(const Plan& plan, int index) {
    const int shared_items = plan.shared_splits * plan.shared_tiles;
    if (index < shared_items) {
      const int first = index % plan.shared_tiles * tile_queries;
      const int left = plan.queries - first;
      return {index / plan.shared_tiles, first, left < tile_queries ? left : tile_queries};
    }
    const int rest = index - shared_items;
    const int tile = rest % plan.single_tiles;
    const int within = tile % plan.tiles_per_row * tile_queries;
    const int left = plan.group - within;
    return {plan.shared_splits + rest / plan.single_tiles, tile / plan.tiles_per_row * plan.group + within,
            left < tile_queries ? left : tile_queries};
  }

  DRAFTSCOPE_DEVICE static int key_count(const KeyRun& keys) {
    return keys.end - keys.begin + (keys.extra_end - keys.extra_begin);
  }

  /// Cache row of key `j`, or -1 past the end.
  DRAFTSCOPE_DEVICE static int cache_row(const PassParams& p, const KeyRun& keys, int j, int n_keys) {
    if (j >= n_keys) return -1;
    const int run = keys.end - keys.begin;
    return j < run ? keys.begin + j : p.work.extra_keys[keys.extra_begin + (j - run)];
  }

  /// One lane's part of an item. In an mma, lane 4·g + t holds queries g and g + 8 of the tile.
  struct Lane {
    int warp, g, t;
    const std::uint16_t* keys;    ///< [cache_rows][head_dim], of the K/V head
    const std::uint16_t* values;  ///< likewise
    const KeyRun* run;            ///< the longest of the tile's rows'; null without keys
    int tile_keys;                ///< its length
    int first_key;                ///< of this warp
    int query_keys[2];            ///< keys of the lane's two queries
  };

  /// Unnormalised softmax of the lane's two queries over the warp's keys.
  struct RunStatistics {
    float maximum[2];
    float sum[2];
  };

  DRAFTSCOPE_DEVICE static void attend(const PassParams& p, const Plan& plan, int kv_head, const Item& item) {
    Lane lane = make_lane(p, plan, kv_head, item);
    Part query[2][blocks];
    load_queries(p, plan, kv_head, item, lane, query);
    float scores[4][4];
    multiply_by_keys(p, lane, query, scores);
    const RunStatistics statistics = turn_into_weights(p, lane, scores);
    float mixed[blocks * 4][4];
    mix_values(p, lane, scores, mixed);
    synchronise();  // the item before has been read
    store_run(lane, mixed, statistics);
    synchronise();
    combine_runs(p, plan, kv_head, item);
  }

  DRAFTSCOPE_DEVICE static Lane make_lane(const PassParams& p, const Plan& plan, int kv_head,
                                          const Item& item) {
    const int in_warp = thread_index() % warp_threads;
    const DeviceLayer& layer = layer_of(p);
    const std::int64_t plane = std::int64_t{kv_head} * p.model.cache_rows * head_dim;
    Lane lane{thread_index() / warp_threads,
              in_warp / 4,
              in_warp % 4,
              layer.keys + plane,
              layer.values + plane,
              nullptr,
              0,
              0,
              {0, 0}};
    lane.first_key = item.split * split_keys + lane.warp * warp_keys;
    for (int i = 0; i < item.n_queries; ++i) {
      const KeyRun& candidate = p.work.state->keys[p.row_begin + (item.first_query + i) / plan.group];
      if (key_count(candidate) <= lane.tile_keys) continue;
      lane.tile_keys = key_count(candidate);
      lane.run = &candidate;
    }
    return lane;
  }

  DRAFTSCOPE_DEVICE static void load_queries(const PassParams& p, const Plan& plan, int kv_head,
                                             const Item& item, Lane& lane, Part (&query)[2][blocks]) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int index = lane.g + 8 * i;
#pragma unroll
      for (int block = 0; block < blocks; ++block) query[i][block] = Part{};
      if (index >= item.n_queries) continue;
      const int row = p.row_begin + (item.first_query + index) / plan.group;
      const int head = kv_head * plan.group + (item.first_query + index) % plan.group;
      lane.query_keys[i] = key_count(p.work.state->keys[row]);
      const std::uint16_t* source = p.work.queries + (std::int64_t{row} * p.model.n_heads + head) * head_dim;
#pragma unroll
      for (int block = 0; block < blocks; ++block) {
        const auto* words =
            reinterpret_cast<const Chunk*>(source + block * dimension_block + lane.t * 8)->words;
        query[i][block] = {{words[0], words[1], words[2], words[3]}};
      }
    }
  }

  /// Cache row of key `j` of the tile, or -1 past the end.
  DRAFTSCOPE_DEVICE static int tile_row(const PassParams& p, const Lane& lane, int j) {
    return lane.run == nullptr ? -1 : cache_row(p, *lane.run, j, lane.tile_keys);
  }

  DRAFTSCOPE_DEVICE static void multiply_by_keys(const PassParams& p, const Lane& lane,
                                                 const Part (&query)[2][blocks], float (&scores)[4][4]) {
#pragma unroll
    for (int tile = 0; tile < 4; ++tile) {
      for (int i = 0; i < 4; ++i) scores[tile][i] = 0.0F;
      const int row = tile_row(p, lane, lane.first_key + tile * 8 + lane.g);
#pragma unroll
      for (int block = 0; block < blocks; ++block) {
        const Chunk key = row < 0 ? Chunk{}
                                  : *reinterpret_cast<const Chunk*>(lane.keys + std::int64_t{row} * head_dim +
                                                                    block * dimension_block + lane.t * 8);
#pragma unroll
        for (int i = 0; i < 4; i += 2)
          Element::multiply_accumulate(scores[tile], query[0][block].pairs[i], query[1][block].pairs[i],
                                       query[0][block].pairs[i + 1], query[1][block].pairs[i + 1],
                                       key.words[i], key.words[i + 1]);
      }
    }
  }

  /// Softmax over this warp's keys, unnormalised; the four lanes of a query hold its scores.
  DRAFTSCOPE_DEVICE static RunStatistics turn_into_weights(const PassParams& p, const Lane& lane,
                                                           float (&scores)[4][4]) {
    RunStatistics result{{lowest, lowest}, {0.0F, 0.0F}};
    const auto is_present = [&](int tile, int i) {
      return lane.first_key + tile * 8 + lane.t * 2 + i % 2 < lane.query_keys[i / 2];
    };
#pragma unroll
    for (int tile = 0; tile < 4; ++tile)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        scores[tile][i] = is_present(tile, i) ? scores[tile][i] * p.model.attention_scale : lowest;
        result.maximum[i / 2] = fmaxf(result.maximum[i / 2], scores[tile][i]);
      }
#pragma unroll
    for (int mask = 1; mask <= 2; mask *= 2)
      for (int i = 0; i < 2; ++i)
        result.maximum[i] = fmaxf(result.maximum[i], shuffle_xor(result.maximum[i], mask));
#pragma unroll
    for (int tile = 0; tile < 4; ++tile)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        scores[tile][i] = is_present(tile, i) ? expf(scores[tile][i] - result.maximum[i / 2]) : 0.0F;
        result.sum[i / 2] += scores[tile][i];
      }
#pragma unroll
    for (int mask = 1; mask <= 2; mask *= 2)
      for (int i = 0; i < 2; ++i) result.sum[i] += shuffle_xor(result.sum[i], mask);
    return result;
  }

  DRAFTSCOPE_DEVICE static void mix_values(const PassParams& p, const Lane& lane,
                                           const float (&weights)[4][4], float (&mixed)[blocks * 4][4]) {
#pragma unroll
    for (int column = 0; column < blocks * 4; ++column)
      for (int i = 0; i < 4; ++i) mixed[column][i] = 0.0F;
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const std::uint32_t a0 = pack<Element>(weights[2 * pair][0], weights[2 * pair][1]);
      const std::uint32_t a1 = pack<Element>(weights[2 * pair][2], weights[2 * pair][3]);
      const std::uint32_t a2 = pack<Element>(weights[2 * pair + 1][0], weights[2 * pair + 1][1]);
      const std::uint32_t a3 = pack<Element>(weights[2 * pair + 1][2], weights[2 * pair + 1][3]);
      int rows[4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        rows[i] = tile_row(p, lane, lane.first_key + pair * 16 + lane.t * 2 + i / 2 * 8 + i % 2);
#pragma unroll
      for (int block = 0; block < blocks; ++block) {
        HalfChunk value[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          value[i] = rows[i] < 0 ? HalfChunk{}
                                 : *reinterpret_cast<const HalfChunk*>(lane.values +
                                                                       std::int64_t{rows[i]} * head_dim +
                                                                       block * dimension_block + lane.g * 4);
#pragma unroll
        for (int column = 0; column < 4; ++column) {
          const int shift = column % 2 * 16;
          const auto at = [&](int i) { return value[i].words[column / 2] >> shift & 0xffffU; };
          Element::multiply_accumulate(mixed[block * 4 + column], a0, a1, a2, a3, at(0) | at(1) << 16,
                                       at(2) | at(3) << 16);
        }
      }
    }
  }

  /// Sums of the warps' runs in shared memory, [warp][query][head_dim]; behind them [warp][query][2], the
  /// maxima and sums of weights.
  DRAFTSCOPE_DEVICE static float* run_sums() {
    return reinterpret_cast<float*>(shared_memory());
  }
  DRAFTSCOPE_DEVICE static float* run_statistics() {
    return run_sums() + attention_warps * tile_queries * head_dim;
  }

  DRAFTSCOPE_DEVICE static void store_run(const Lane& lane, const float (&mixed)[blocks * 4][4],
                                          const RunStatistics& statistics) {
    float* sums = run_sums();
#pragma unroll
    for (int column = 0; column < blocks * 4; ++column)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int dimension = column / 4 * dimension_block + (lane.t * 2 + i % 2) * 4 + column % 4;
        sums[(lane.warp * tile_queries + lane.g + i / 2 * 8) * head_dim + dimension] = mixed[column][i];
      }
    if (lane.t != 0) return;
    for (int i = 0; i < 2; ++i) {
      float* of_query = run_statistics() + (lane.warp * tile_queries + lane.g + 8 * i) * 2;
      of_query[0] = statistics.maximum[i];
      of_query[1] = statistics.sum[i];
    }
  }

  /// Puts the warps' runs together, in order, into the item's split.
  DRAFTSCOPE_DEVICE static void combine_runs(const PassParams& p, const Plan& plan, int kv_head,
                                             const Item& item) {
    for (int i = thread_index(); i < item.n_queries * head_dim; i += attention_threads) {
      const int query_index = i / head_dim;
      const std::int64_t place = split_place(p, plan, kv_head, item.split, item.first_query + query_index);
      const Combined combined =
          combine(attention_warps, run_sums() + i % head_dim, tile_queries * head_dim, query_index * head_dim,
                  run_statistics() + query_index * 2, tile_queries * 2);
      p.work.split_sums[place * head_dim + i % head_dim] = combined.value;
      if (i % head_dim == 0) {
        p.work.split_statistics[place * 2] = combined.maximum;
        p.work.split_statistics[place * 2 + 1] = combined.sum;
      }
    }
  }

  DRAFTSCOPE_DEVICE static std::int64_t split_place(const PassParams& p, const Plan& plan, int kv_head,
                                                    int split, int query) {
    const std::int64_t splits = max_splits(p.model.cache_rows);
    return (kv_head * splits + split) * (max_decode_rows * plan.group) + query;
  }

  struct Combined {
    float value, maximum, sum;
  };

  /// One dimension of several parts' unnormalised sums, in order; parts without keys are passed over, those
  /// whose sum is a NaN are not.
  DRAFTSCOPE_DEVICE static Combined combine(int n, const float* sums, std::int64_t sum_stride,
                                            std::int64_t offset, const float* statistics,
                                            std::int64_t statistics_stride) {
    Combined result{0.0F, lowest, 0.0F};
    for (int i = 0; i < n; ++i)
      if (statistics[i * statistics_stride + 1] != 0.0F)
        result.maximum = fmaxf(result.maximum, statistics[i * statistics_stride]);
    for (int i = 0; i < n; ++i) {
      const float part = statistics[i * statistics_stride + 1];
      if (part == 0.0F) continue;
      const float weight = expf(statistics[i * statistics_stride] - result.maximum);
      result.value += weight * sums[i * sum_stride + offset];
      result.sum += weight * part;
    }
    return result;
  }

  DRAFTSCOPE_DEVICE static void combine_splits(const PassParams& p, const Plan& plan, int kv_head) {
    const std::int64_t stride = split_place(p, plan, kv_head, 1, 0) - split_place(p, plan, kv_head, 0, 0);
    for (int i = thread_index(); i < plan.queries * head_dim; i += attention_threads) {
      const int query = i / head_dim;
      const int row = p.row_begin + query / plan.group;
      const int head = kv_head * plan.group + query % plan.group;
      const std::int64_t place = split_place(p, plan, kv_head, 0, query);
      const int splits = ceiling(key_count(p.work.state->keys[row]), split_keys);
      const Combined combined =
          combine(splits, p.work.split_sums, stride * head_dim, place * head_dim + i % head_dim,
                  p.work.split_statistics + place * 2, stride * 2);
      p.work.attended[(std::int64_t{row} * p.model.n_heads + head) * head_dim + i % head_dim] =
          Element::from_float(combined.value / combined.sum);
    }
  }
};

}  // namespace draftscope::engine::cuda
