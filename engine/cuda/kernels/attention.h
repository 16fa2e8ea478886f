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
// column of four mma. A warp's keys are all asked for at once, its values in two halves.
//
// What comes last puts splits together: the item that completes 16 queries, a warp a query. A query with one
// split has nothing to put together.

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
      const Item item = item_of(plan, work % plan.items);
      attend(p, plan, kv_head, item);
      if (plan.splits > 1) combine_complete(p, plan, kv_head, item);
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
    KeyRun run;                   ///< the longest of the tile's rows'
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
              {0, 0, 0, 0},
              0,
              0,
              {0, 0}};
    lane.first_key = item.split * split_keys + lane.warp * warp_keys;
    const int last_row = (item.first_query + item.n_queries - 1) / plan.group;
    for (int row = item.first_query / plan.group; row <= last_row; ++row) {
      const KeyRun candidate = p.work.state->row[p.row_begin + row].keys;
      if (key_count(candidate) <= lane.tile_keys) continue;
      lane.tile_keys = key_count(candidate);
      lane.run = candidate;
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
      lane.query_keys[i] = key_count(p.work.state->row[row].keys);
      const std::uint16_t* source = p.work.queries + (std::int64_t{row} * p.model.n_heads + head) * head_dim;
#pragma unroll
      for (int block = 0; block < blocks; ++block) {
        const Chunk held =
            load_whole(reinterpret_cast<const Chunk*>(source + block * dimension_block + lane.t * 8));
        query[i][block] = {{held.words[0], held.words[1], held.words[2], held.words[3]}};
      }
    }
  }

  /// Cache row of key `j` of the tile, or -1 past the end.
  DRAFTSCOPE_DEVICE static int tile_row(const PassParams& p, const Lane& lane, int j) {
    return cache_row(p, lane.run, j, lane.tile_keys);
  }

  DRAFTSCOPE_DEVICE static void multiply_by_keys(const PassParams& p, const Lane& lane,
                                                 const Part (&query)[2][blocks], float (&scores)[4][4]) {
    // All of the warp's keys before the first is used. One that is absent counts for nothing, whatever it is.
    Chunk keys[4][blocks];
#pragma unroll
    for (int tile = 0; tile < 4; ++tile) {
      const int row = tile_row(p, lane, lane.first_key + tile * 8 + lane.g);
      const std::uint16_t* source = lane.keys + std::int64_t{row < 0 ? 0 : row} * head_dim + lane.t * 8;
#pragma unroll
      for (int block = 0; block < blocks; ++block)
        keys[tile][block] = load_whole(reinterpret_cast<const Chunk*>(source + block * dimension_block));
    }
#pragma unroll
    for (int tile = 0; tile < 4; ++tile) {
      for (int i = 0; i < 4; ++i) scores[tile][i] = 0.0F;
#pragma unroll
      for (int block = 0; block < blocks; ++block)
#pragma unroll
        for (int i = 0; i < 4; i += 2)
          Element::multiply_accumulate(scores[tile], query[0][block].pairs[i], query[1][block].pairs[i],
                                       query[0][block].pairs[i + 1], query[1][block].pairs[i + 1],
                                       keys[tile][block].words[i], keys[tile][block].words[i + 1]);
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
    std::uint32_t packed[2][4];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        packed[pair][i] =
            pack<Element>(weights[2 * pair + i / 2][i % 2 * 2], weights[2 * pair + i / 2][i % 2 * 2 + 1]);
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      HalfChunk values[blocks][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = tile_row(p, lane, lane.first_key + pair * 16 + lane.t * 2 + i / 2 * 8 + i % 2);
        const std::uint16_t* source = lane.values + std::int64_t{row < 0 ? 0 : row} * head_dim + lane.g * 4;
#pragma unroll
        for (int block = 0; block < blocks; ++block) {
          // An absent value has no weight, and may be a NaN.
          values[block][i] = load_whole(reinterpret_cast<const HalfChunk*>(source + block * dimension_block));
          if (row < 0) values[block][i] = HalfChunk{};
        }
      }
#pragma unroll
      for (int block = 0; block < blocks; ++block)
#pragma unroll
        for (int column = 0; column < 4; ++column) {
          const int shift = column % 2 * 16;
          const auto at = [&](int i) { return values[block][i].words[column / 2] >> shift & 0xffffU; };
          Element::multiply_accumulate(mixed[block * 4 + column], packed[pair][0], packed[pair][1],
                                       packed[pair][2], packed[pair][3], at(0) | at(1) << 16,
                                       at(2) | at(3) << 16);
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

  /// Puts the warps' runs together, in order, into the item's split; into the result, where there is no
  /// other.
  DRAFTSCOPE_DEVICE static void combine_runs(const PassParams& p, const Plan& plan, int kv_head,
                                             const Item& item) {
    for (int i = thread_index(); i < item.n_queries * head_dim; i += attention_threads) {
      const int of_item = i / head_dim;
      const int query = item.first_query + of_item;
      const float* sums = run_sums() + of_item * head_dim + i % head_dim;
      const float* statistics = run_statistics() + of_item * 2;
      Combined combined{0.0F, lowest, 0.0F};
      for (int warp = 0; warp < attention_warps; ++warp)
        if (statistics[warp * tile_queries * 2 + 1] != 0.0F)
          combined.maximum = fmaxf(combined.maximum, statistics[warp * tile_queries * 2]);
      for (int warp = 0; warp < attention_warps; ++warp)
        combined.add(statistics + warp * tile_queries * 2, sums[warp * tile_queries * head_dim]);
      if (plan.splits == 1) {
        attended(p, plan, kv_head, query)[i % head_dim] = Element::from_float(combined.value / combined.sum);
        continue;
      }
      const std::int64_t place = split_place(p, plan, kv_head, item.split, query);
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
  DRAFTSCOPE_DEVICE static std::uint16_t* attended(const PassParams& p, const Plan& plan, int kv_head,
                                                   int query) {
    const std::int64_t row = p.row_begin + query / plan.group;
    const int head = kv_head * plan.group + query % plan.group;
    return p.work.attended + (row * p.model.n_heads + head) * head_dim;
  }

  /// One dimension of several parts' unnormalised sums, which are added in order once the maximum is known.
  /// Parts without keys are passed over, those whose sum is a NaN are not.
  struct Combined {
    float value, maximum, sum;

    DRAFTSCOPE_DEVICE void add(const float* statistics, float part_value) {
      const float part = statistics[1];
      if (part == 0.0F) return;
      const float weight = expf(statistics[0] - maximum);
      value += weight * part_value;
      sum += weight * part;
    }
  };

  /// Puts together the splits of queries that this item completes. Queries are counted by sixteens, whatever
  /// tiles their splits took them in: each split brings each query once.
  DRAFTSCOPE_DEVICE static void combine_complete(const PassParams& p, const Plan& plan, int kv_head,
                                                 const Item& item) {
    const int end = item.first_query + item.n_queries;
    const int groups_of_head = arrival_groups(max_decode_rows * plan.group);
    for (int group = item.first_query / tile_queries; group * tile_queries < end; ++group) {
      const int first = group * tile_queries;
      const int left = plan.queries - first;
      const int queries = left < tile_queries ? left : tile_queries;
      synchronise();  // all of the block's sums are written; the sixteen before have been looked at
      int* is_last = reinterpret_cast<int*>(shared_memory());
      if (thread_index() == 0) {
        const int mine = (end < first + queries ? end : first + queries) -
                         (item.first_query > first ? item.first_query : first);
        unsigned* arrivals = p.work.arrivals + kv_head * groups_of_head + group;
        const auto all = static_cast<unsigned>(plan.splits * queries);
        *is_last = arrive(arrivals, static_cast<unsigned>(mine)) + static_cast<unsigned>(mine) == all ? 1 : 0;
        if (*is_last != 0) *arrivals = 0;
      }
      synchronise();
      if (*is_last == 0) continue;
      for (int query = first + thread_index() / warp_threads; query < first + queries;
           query += attention_warps)
        combine_splits(p, plan, kv_head, query);
    }
  }

  /// By a warp; a lane takes four dimensions.
  DRAFTSCOPE_DEVICE static void combine_splits(const PassParams& p, const Plan& plan, int kv_head,
                                               int query) {
    constexpr int lane_values = 4;
    const int dimension = thread_index() % warp_threads * lane_values;
    if (dimension >= head_dim) return;
    const int splits =
        ceiling(key_count(p.work.state->row[p.row_begin + query / plan.group].keys), split_keys);
    const std::int64_t stride = split_place(p, plan, kv_head, 1, 0) - split_place(p, plan, kv_head, 0, 0);
    const std::int64_t place = split_place(p, plan, kv_head, 0, query);
    const float* statistics = p.work.split_statistics + place * 2;
    const float* sums = p.work.split_sums + place * head_dim + dimension;
    float maximum = lowest;
#pragma unroll 4
    for (int split = 0; split < splits; ++split)
      if (statistics[split * stride * 2 + 1] != 0.0F)
        maximum = fmaxf(maximum, statistics[split * stride * 2]);
    Combined combined[lane_values];
    for (Combined& of_dimension : combined) of_dimension = {0.0F, maximum, 0.0F};
#pragma unroll 4
    for (int split = 0; split < splits; ++split) {
      const FloatChunk part = *reinterpret_cast<const FloatChunk*>(sums + split * stride * head_dim);
      for (int i = 0; i < lane_values; ++i) combined[i].add(statistics + split * stride * 2, part.values[i]);
    }
    HalfChunk packed;
    for (int i = 0; i < lane_values; i += 2)
      packed.words[i / 2] =
          pack<Element>(combined[i].value / combined[i].sum, combined[i + 1].value / combined[i + 1].sum);
    *reinterpret_cast<HalfChunk*>(attended(p, plan, kv_head, query) + dimension) = packed;
  }
};

}  // namespace draftscope::engine::cuda
