// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Attention of up to 64 rows over the cache, split along the keys (attention_plan.h). Its sums of each split
// or run are combined after a grid barrier (attention_combine.h).
//
// A row's keys are numbered in path order and cut into splits of 256. Each split has eight runs of 32 keys,
// one per warp. The cuts depend on key numbers alone; runs are combined in order, then a group's splits, then
// groups. So a row's bits depend only on its own keys, and a branch of a tree equals the same tokens as a
// chain.
//
// An item takes up to two tiles of 16 queries: the query heads of a K/V head's group, and several rows as
// long as key j is the same cache row for all of them. Tensor cores multiply queries by keys and weights by
// values. A run's keys are loaded into registers once and multiplied with each tile; its values are likewise
// unpacked once. They need no transposition: a lane loads four dimensions of each of its keys and treats them
// as one column of four mma. A warp requests all of its keys at once, then its values, which are already on
// their way into the L2 cache. So are the keys of the item's next split.
//
// Where items are few, a warp computes a run of one tile independently, and no block waits for it.

#include "attention_combine.h"
#include "run_softmax.h"

namespace draftscope::engine::cuda {

template <typename Element, int head_dim>
class Attention {
  static constexpr int blocks = head_dim / dimension_block;
  static constexpr int run_tiles = warp_keys / 8;    ///< Tiles of eight keys, as an mma takes them.
  static constexpr int run_halves = warp_keys / 16;  ///< Halves of sixteen keys.
  static_assert(head_dim % dimension_block == 0 && head_dim <= max_head_dim);

  using Combine = AttentionCombine<Element, head_dim>;
  using Sum = typename Combine::Sum;

 public:
  /// Computes all items of a plan. No item may have more tiles than attention_shared_bytes() was given.
  DRAFTSCOPE_DEVICE static void run(const PassView& p, const AttentionPlan& plan) {
    const int items = plan.items() * p.model.n_kv_heads;
    if (plan.is_by_runs) {
      // Consecutive runs go to different blocks.
      for (int task = block_index() + thread_index() / warp_threads * block_count();
           task < items * attention_warps; task += block_count() * attention_warps) {
        ItemWork& work = shared_work(thread_index() / warp_threads);
        begin_item(p, plan, work, task / attention_warps);
        synchronise_lanes();
        Attention(p, plan, work, task % attention_warps).attend_run();
        synchronise_lanes();  // All lanes have read the work.
      }
      return;
    }
    for (int item = block_index(); item < items; item += block_count()) {
      if (thread_index() < warp_threads) begin_item(p, plan, shared_work(0), item);
      synchronise();
      Attention(p, plan, shared_work(0), thread_index() / warp_threads).attend();
      synchronise();  // All threads have read the item.
    }
  }

 private:
  /// An item as seen by all threads that compute it.
  struct ItemWork {
    AttentionItem item;
    int kv_head;
    KeyRun keys;
    int max_keys, min_keys;  ///< Maximum and minimum keys over the rows of an item.
  };
  static_assert(sizeof(ItemWork) <= warp_work_bytes);
  DRAFTSCOPE_DEVICE static ItemWork& shared_work(int warp) {
    return *reinterpret_cast<ItemWork*>(shared_memory() + warp * warp_work_bytes);
  }

  /// Called by one warp, in which each lane inspects a row of the item.
  DRAFTSCOPE_DEVICE static void begin_item(const PassView& p, const AttentionPlan& plan, ItemWork& work,
                                           int index) {
    static_assert(max_item_tiles * tile_queries <= warp_threads);
    const AttentionItem item = attention_item(plan, index % plan.items());
    const int first = item.first_query / plan.group;
    const int rows = (item.first_query + item.n_queries - 1) / plan.group - first + 1;
    const PassRow* row = p.row + first;
    const int lane = thread_index() % warp_threads;
    int most = key_count(row[lane < rows ? lane : 0].keys);
    int least = most;
    for (int mask = warp_threads / 2; mask > 0; mask /= 2) {
      const int other_max = shuffle_xor(most, mask);
      const int other_min = shuffle_xor(least, mask);
      most = other_max > most ? other_max : most;
      least = other_min < least ? other_min : least;
    }
    if (lane != 0) return;
    work = {item, index / plan.items(), item.is_shared ? KeyRun{0, most, 0, 0} : row->keys, most, least};
  }

  /// In an mma, lane 4·g + t holds queries g and g + 8 of a tile. `run` is the run of a split that this warp
  /// takes.
  DRAFTSCOPE_DEVICE Attention(const PassView& p, const AttentionPlan& plan, const ItemWork& work, int run)
      : p_(p),
        plan_(plan),
        work_(work),
        combine_(p, plan_, work.kv_head),
        warp_(run),
        lane_(thread_index() % warp_threads),
        g_(lane_ / 4),
        t_(lane_ % 4),
        tiles_(ceiling_of(work_.item.n_queries, tile_queries)) {
    const DeviceLayer& layer = p.layer;
    const std::int64_t plane = std::int64_t{work_.kv_head} * p.model.cache_rows * head_dim;
    keys_ = layer.keys + plane;
    values_ = layer.values + plane;
  }

  /// Computes a single run and stores its sums of values, maxima and sums of weights uncombined.
  DRAFTSCOPE_DEVICE void attend_run() const {
    const int first_key = work_.item.split * split_keys + warp_ * warp_keys;
    if (first_key >= work_.max_keys) return;
    // Request everything that fits in registers at once, since memory latency is long while weights stream.
    Chunk queries[blocks][2];
#pragma unroll
    for (int block = 0; block < blocks; ++block) load_query(block, 0, queries[block]);
    Chunk keys[run_tiles][blocks];
    load_keys(first_key, keys);
    constexpr int early_blocks = blocks < 2 ? blocks : 2;
    constexpr int late_blocks = blocks - early_blocks;
    HalfChunk early_values[early_blocks][run_halves][4];
    load_values<0>(first_key, early_values);
    float scores[run_tiles][4] = {};
#pragma unroll
    for (int block = 0; block < blocks; ++block)
      multiply_block(query_halves(queries[block]), keys, block, scores);
    HalfChunk late_values[late_blocks > 0 ? late_blocks : 1][run_halves][4];
    if constexpr (late_blocks > 0) load_values<early_blocks>(first_key, late_values);
    const bool is_whole = first_key + warp_keys <= work_.min_keys;
    const RunStatistics statistics = turn_into_weights(scores, is_whole, first_key, 0);
    const int unit = work_.item.split * attention_warps + warp_;
    const Weights weights = packed_weights(scores);
#pragma unroll
    for (int block = 0; block < blocks; ++block) {
      float mixed[4][4] = {};
      const auto& values = block < early_blocks ? early_values[block] : late_values[block - early_blocks];
      UnpackedValues(values).multiply(weights.halves, mixed);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int of_item = g_ + i / 2 * 8;
        if (of_item < work_.item.n_queries)
          combine_.keep_values(unit, work_.item.first_query + of_item,
                               block * dimension_block + t_ * 8 + i % 2 * 4,
                               {{mixed[0][i], mixed[1][i], mixed[2][i], mixed[3][i]}});
      }
    }
    if (t_ != 0) return;
    for (int i = 0; i < 2; ++i)
      if (g_ + 8 * i < work_.item.n_queries)
        combine_.keep_statistics(unit, work_.item.first_query + g_ + 8 * i, statistics.maximum[i],
                                 statistics.sum[i]);
  }

  /// Weights of both halves of a run, as an mma takes them.
  struct Weights {
    Chunk halves[run_halves];
  };

  DRAFTSCOPE_DEVICE void attend() {
    const int n_splits = work_.item.splits;
    Sum group = Sum::none();  // Its values wait in shared memory.
#pragma unroll 1
    for (int i = 0; i < n_splits; ++i) {
      const int first_key = (work_.item.split + i) * split_keys + warp_ * warp_keys;
      const bool has_keys = first_key < work_.max_keys;
      weigh(first_key, has_keys, i == 0);
      if (has_keys && i + 1 < n_splits) fetch(keys_, first_key + split_keys);
      Sum statistics = Sum::none();
      mix_blocks<0>(first_key, i, statistics, group);
    }
  }

  /// Applies the weights to the values of the blocks of dimensions from `first` on, for the item's `i`-th
  /// split. Registers have room for two blocks at a time.
  template <int first>
  DRAFTSCOPE_DEVICE void mix_blocks(int first_key, int i, Sum& statistics, Sum& group) const {
    constexpr int n_blocks = first + 2 <= blocks ? 2 : 1;
    const bool has_keys = first_key < work_.max_keys;
    HalfChunk values[n_blocks][run_halves][4];
    load_values<first>(first_key, values);
    if constexpr (first == 0) {
      synchronise();  // The maxima and sums of the runs are complete.
      statistics = find_factors();
    }
    Sum added = group;
#pragma unroll
    for (int block = first; block < first + n_blocks; ++block) {
      if (block > 0) synchronise();  // The previous block has been read.
      mix(values[block - first], has_keys);
      synchronise();
      if (!combines()) continue;
      added = combined_runs(statistics);
      if (work_.item.splits > 1) add_to_group(block, group, i == 0, added);
      if (i + 1 == work_.item.splits) keep(block * dimension_block + dimension_of_thread(), added);
    }
    if constexpr (first + n_blocks < blocks) {
      mix_blocks<first + n_blocks>(first_key, i, statistics, group);
    } else {
      group.maximum = added.maximum;
      group.sum = added.sum;
    }
  }

  /// Stores the item's result for the thread's query, from dimension `dimension` on.
  DRAFTSCOPE_DEVICE void keep(int dimension, const Sum& sum) const {
    if (query_of_thread() >= work_.item.n_queries) return;
    const int index = work_.item.first_query + query_of_thread();
    FloatChunk values;
    for (int i = 0; i < Combine::lane_values; ++i) values.values[i] = sum.values[i];
    combine_.keep_values(work_.item.split, index, dimension, values);
    if (dimension == 0) combine_.keep_statistics(work_.item.split, index, sum.maximum, sum.sum);
  }

  /// Adds a split's sum to the sums of its group; `group` has the maximum and sum of weights so far.
  DRAFTSCOPE_DEVICE void add_to_group(int block, const Sum& group, bool is_first, Sum& added) const {
    FloatChunk& waiting =
        group_values()[block * plan_.item_tiles * tile_queries * attention_warps + thread_index()];
    Sum sum = group;
    if (!is_first)
      for (int i = 0; i < Combine::lane_values; ++i) sum.values[i] = waiting.values[i];
    sum.add(added);
    for (int i = 0; i < Combine::lane_values; ++i) waiting.values[i] = sum.values[i];
    added = sum;
  }

  /// Whether all keys of a run exist and are consecutive rows of the cache.
  DRAFTSCOPE_DEVICE bool is_contiguous(int first_key) const {
    return first_key + warp_keys <= work_.keys.end - work_.keys.begin;
  }

  /// Cache row of key `j`. Past the end it is the row of the last key, whose values may safely get a weight
  /// of zero.
  DRAFTSCOPE_DEVICE int cache_row(int j) const {
    const KeyRun& keys = work_.keys;
    const int key = j < work_.max_keys ? j : work_.max_keys - 1;
    const int run = keys.end - keys.begin;
    return key < run ? keys.begin + key : p_.work.extra_keys[keys.extra_begin + (key - run)];
  }

  /// Prefetches a run's rows of keys or values into the L2 cache.
  DRAFTSCOPE_DEVICE void fetch(const std::uint16_t* plane, int first_key) const {
    if (!is_contiguous(first_key)) return;
    constexpr int sector_bytes = 32;
    const auto* from =
        reinterpret_cast<const std::byte*>(plane + std::int64_t{work_.keys.begin + first_key} * head_dim) +
        lane_ * sector_bytes;
#pragma unroll
    for (int at = 0; at < warp_keys * head_dim * 2; at += warp_threads * sector_bytes) begin_fetch(from + at);
  }

  /// Multiplies a run's keys by the item's queries, and stores the resulting weights and their statistics in
  /// shared memory. The item's first split also loads the queries there.
  DRAFTSCOPE_DEVICE void weigh(int first_key, bool has_keys, bool is_first) const {
    Chunk held[run_tiles][blocks];
    load_keys(first_key, held);
    fetch(values_, first_key);
    if (is_first) {
      share_queries();
      synchronise();
    }
    const bool is_whole = first_key + warp_keys <= work_.min_keys;
#pragma unroll 1
    for (int tile = 0; tile < tiles_; ++tile) {
      float scores[run_tiles][4] = {};
      if (!has_keys) {
        share_statistics(tile, RunStatistics{});
        continue;
      }
      multiply(tile, held, scores);
      share_statistics(tile, turn_into_weights(scores, is_whole, first_key, tile));
      share_weights(tile, scores);
    }
  }

  DRAFTSCOPE_DEVICE void load_keys(int first_key, Chunk (&held)[run_tiles][blocks]) const {
    int rows[run_tiles];
#pragma unroll
    for (int tile = 0; tile < run_tiles; ++tile) rows[tile] = work_.keys.begin + first_key + tile * 8 + g_;
    if (!is_contiguous(first_key))
#pragma unroll
      for (int tile = 0; tile < run_tiles; ++tile) rows[tile] = cache_row(first_key + tile * 8 + g_);
    const std::uint16_t* from = keys_ + t_ * 8;
#pragma unroll
    for (int tile = 0; tile < run_tiles; ++tile)
#pragma unroll
      for (int block = 0; block < blocks; ++block)
        held[tile][block] = load_whole(
            reinterpret_cast<const Chunk*>(from + (rows[tile] * head_dim + block * dimension_block)));
  }

  /// Key within a run that belongs to the `i`-th of a lane's four values in one of the run's halves.
  DRAFTSCOPE_DEVICE int value_key(int half, int i) const {
    return half * 16 + t_ * 2 + i / 2 * 8 + i % 2;
  }

  template <int first_block, int n_blocks>
  DRAFTSCOPE_DEVICE void load_values(int first_key, HalfChunk (&held)[n_blocks][run_halves][4]) const {
    int rows[run_halves * 4];
#pragma unroll
    for (int i = 0; i < run_halves * 4; ++i) rows[i] = work_.keys.begin + first_key + value_key(i / 4, i % 4);
    if (!is_contiguous(first_key))
#pragma unroll
      for (int i = 0; i < run_halves * 4; ++i) rows[i] = cache_row(first_key + value_key(i / 4, i % 4));
    const std::uint16_t* from = values_ + first_block * dimension_block + g_ * 4;
#pragma unroll
    for (int half = 0; half < run_halves; ++half)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int block = 0; block < n_blocks; ++block)
          held[block][half][i] = load_whole(reinterpret_cast<const HalfChunk*>(
              from + (rows[half * 4 + i] * head_dim + block * dimension_block)));
      }
  }

  /// The tiles' queries as an mma's lanes take them, [tile][block][mma][lane].
  DRAFTSCOPE_DEVICE Chunk* shared_queries() const {
    return reinterpret_cast<Chunk*>(shared_memory() + block_work_bytes);
  }
  DRAFTSCOPE_DEVICE void share_queries() const {
    // Each warp loads one tile and block of dimensions at a time.
    for (int i = warp_; i < tiles_ * blocks; i += attention_warps) {
      Chunk held[2];
      load_query(i % blocks, i / blocks, held);
      put_queries(shared_queries() + i * 2 * warp_threads + lane_, held[0], held[1]);
    }
  }
  /// Loads a lane's dimensions of a block, for queries g and g + 8 of a tile.
  DRAFTSCOPE_DEVICE void load_query(int block, int tile, Chunk (&held)[2]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int of_item = tile * tile_queries + half * 8 + g_;
      held[half] = Chunk{};
      if (of_item < work_.item.n_queries)
        held[half] = load_whole(
            reinterpret_cast<const Chunk*>(combine_.query(p_.work.queries, work_.item.first_query + of_item) +
                                           block * dimension_block + t_ * 8));
    }
  }
  /// Sixteen queries' dimensions, as two mma take them.
  struct QueryHalves {
    Chunk halves[2];
  };
  DRAFTSCOPE_DEVICE static QueryHalves query_halves(const Chunk (&held)[2]) {
    return {{{{held[0].words[0], held[1].words[0], held[0].words[1], held[1].words[1]}},
             {{held[0].words[2], held[1].words[2], held[0].words[3], held[1].words[3]}}}};
  }
  DRAFTSCOPE_DEVICE static void multiply_block(const QueryHalves& queries,
                                               const Chunk (&held)[run_tiles][blocks], int block,
                                               float (&scores)[run_tiles][4]) {
#pragma unroll
    for (int of_run = 0; of_run < run_tiles; ++of_run)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const Chunk& half = queries.halves[i];
        Element::multiply_accumulate(scores[of_run], half.words[0], half.words[1], half.words[2],
                                     half.words[3], held[of_run][block].words[2 * i],
                                     held[of_run][block].words[2 * i + 1]);
      }
  }

  DRAFTSCOPE_DEVICE void multiply(int tile, const Chunk (&held)[run_tiles][blocks],
                                  float (&scores)[run_tiles][4]) const {
#pragma unroll
    for (int block = 0; block < blocks; ++block) {
      const Chunk* queries = shared_queries() + (tile * blocks + block) * 2 * warp_threads + lane_;
      multiply_block({{queries[0], queries[warp_threads]}}, held, block, scores);
    }
  }

  /// Turns the run's scores for a tile into weights. `is_whole`: every query has all of the run's keys.
  DRAFTSCOPE_DEVICE RunStatistics turn_into_weights(float (&scores)[run_tiles][4], bool is_whole,
                                                    int first_key, int tile) const {
    const float scale = p_.model.attention_scale * log2_of_e;
    if (is_whole) return run_softmax(scores, scale, [](int, int) { return true; });
    int query_keys[2];
    for (int i = 0; i < 2; ++i) {
      const int of_item = tile * tile_queries + g_ + 8 * i;
      const int row = (work_.item.first_query + of_item) / plan_.group;
      query_keys[i] = of_item < work_.item.n_queries ? key_count(p_.row[row].keys) : 0;
    }
    return run_softmax(scores, scale, [&](int of_run, int i) {
      return first_key + of_run * 8 + t_ * 2 + i % 2 < query_keys[i / 2];
    });
  }

  /// Weights as an mma takes them, [tile][warp][half of a run][lane]: each lane reads only its own.
  DRAFTSCOPE_DEVICE Chunk* shared_weights(int tile) const {
    return shared_queries() + plan_.item_tiles * blocks * 2 * warp_threads +
           (tile * attention_warps + warp_) * run_halves * warp_threads + lane_;
  }
  DRAFTSCOPE_DEVICE void share_weights(int tile, const float (&weights)[run_tiles][4]) const {
    const Weights packed = packed_weights(weights);
#pragma unroll
    for (int half = 0; half < run_halves; ++half)
      shared_weights(tile)[half * warp_threads] = packed.halves[half];
  }
  DRAFTSCOPE_DEVICE static Weights packed_weights(const float (&weights)[run_tiles][4]) {
    Weights packed;
#pragma unroll
    for (int half = 0; half < run_halves; ++half)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        packed.halves[half].words[i] =
            pack<Element>(weights[2 * half + i / 2][i % 2 * 2], weights[2 * half + i / 2][i % 2 * 2 + 1]);
    return packed;
  }

  /// Maxima and sums of the runs, [query of the item][run][2], stored after all tiles' weights; later the
  /// factors, [query][run].
  DRAFTSCOPE_DEVICE float* shared_statistics() const {
    return reinterpret_cast<float*>(
        shared_queries() + plan_.item_tiles * (blocks * 2 + attention_warps * run_halves) * warp_threads);
  }
  DRAFTSCOPE_DEVICE float* shared_factors() const {
    return shared_statistics() + plan_.item_tiles * tile_queries * attention_warps * 2;
  }
  DRAFTSCOPE_DEVICE void share_statistics(int tile, const RunStatistics& statistics) const {
    if (t_ != 0) return;
    for (int i = 0; i < 2; ++i) {
      float* of_run =
          shared_statistics() + ((tile * tile_queries + g_ + 8 * i) * attention_warps + warp_) * 2;
      of_run[0] = statistics.maximum[i];
      of_run[1] = statistics.sum[i];
    }
  }

  /// Whether this thread combines runs: eight threads do so per query, each for four dimensions of a block.
  DRAFTSCOPE_DEVICE bool combines() const {
    return thread_index() < tiles_ * tile_queries * attention_warps;
  }
  DRAFTSCOPE_DEVICE static int query_of_thread() {
    return thread_index() / attention_warps;
  }
  DRAFTSCOPE_DEVICE static int dimension_of_thread() {
    return thread_index() % attention_warps * Combine::lane_values;
  }

  /// Computes the factors that rescale the runs of a query to their common maximum, one thread per run.
  /// Returns that maximum and the sum of weights for the thread's query.
  DRAFTSCOPE_DEVICE Sum find_factors() const {
    Sum result = Sum::none();
    if (!combines()) return result;
    const float* of_run = shared_statistics() + thread_index() * 2;
    result.maximum = of_run[0];
    for (int mask = 1; mask < attention_warps; mask *= 2)
      result.maximum = fmaxf(result.maximum, shuffle_xor(result.maximum, mask));
    const float factor = exponential_of_two(of_run[0] - result.maximum);
    shared_factors()[thread_index()] = factor;
    result.sum = factor * of_run[1];
    for (int mask = 1; mask < attention_warps; mask *= 2) result.sum += shuffle_xor(result.sum, mask);
    return result;
  }

  /// Sums of the runs of a block of dimensions, [run][query of the item][run_sum_stride].
  DRAFTSCOPE_DEVICE float* shared_sums(int run) const {
    return shared_factors() + plan_.item_tiles * tile_queries * (attention_warps + run * run_sum_stride);
  }
  /// Values of a group so far, [block][thread]; they lie after the sums.
  DRAFTSCOPE_DEVICE FloatChunk* group_values() const {
    return reinterpret_cast<FloatChunk*>(shared_sums(attention_warps));
  }

  /// Values of a block of dimensions, as mma take them.
  struct UnpackedValues {
    std::uint32_t words[run_halves][4][2];

    DRAFTSCOPE_DEVICE explicit UnpackedValues(const HalfChunk (&held)[run_halves][4]) {
#pragma unroll
      for (int half = 0; half < run_halves; ++half)
#pragma unroll
        for (int column = 0; column < 4; ++column)
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            const std::uint32_t low = held[half][2 * i].words[column / 2];
            const std::uint32_t high = held[half][2 * i + 1].words[column / 2];
            words[half][column][i] = column % 2 == 0 ? low_halves(low, high) : high_halves(low, high);
          }
    }
    DRAFTSCOPE_DEVICE void multiply(const Chunk (&weights)[run_halves], float (&mixed)[4][4]) const {
#pragma unroll
      for (int half = 0; half < run_halves; ++half)
#pragma unroll
        for (int column = 0; column < 4; ++column)
          Element::multiply_accumulate(mixed[column], weights[half].words[0], weights[half].words[1],
                                       weights[half].words[2], weights[half].words[3], words[half][column][0],
                                       words[half][column][1]);
    }
  };

  /// Multiplies a run's weights by its values, for one block of dimensions.
  DRAFTSCOPE_DEVICE void mix(const HalfChunk (&held)[run_halves][4], bool has_keys) const {
    const UnpackedValues unpacked(held);
#pragma unroll 1
    for (int tile = 0; tile < tiles_; ++tile) {
      float mixed[4][4] = {};
      if (has_keys) {
        Chunk weights[run_halves];
        for (int half = 0; half < run_halves; ++half)
          weights[half] = shared_weights(tile)[half * warp_threads];
        unpacked.multiply(weights, mixed);
      }
      float* sums = shared_sums(warp_) + (tile * tile_queries + g_) * run_sum_stride + t_ * 8;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        *reinterpret_cast<FloatChunk*>(sums + i / 2 * 8 * run_sum_stride +
                                       i % 2 * 4) = {{mixed[0][i], mixed[1][i], mixed[2][i], mixed[3][i]}};
    }
  }

  /// Sums all runs, in order, for the thread's query and dimensions.
  DRAFTSCOPE_DEVICE Sum combined_runs(const Sum& statistics) const {
    Sum result = statistics;
    FloatChunk factors[2];
    for (int half = 0; half < 2; ++half)
      factors[half] = *reinterpret_cast<const FloatChunk*>(shared_factors() +
                                                           query_of_thread() * attention_warps + half * 4);
#pragma unroll
    for (int run = 0; run < attention_warps; ++run) {
      const FloatChunk sums = *reinterpret_cast<const FloatChunk*>(
          shared_sums(run) + query_of_thread() * run_sum_stride + dimension_of_thread());
      for (int i = 0; i < Combine::lane_values; ++i)
        result.values[i] = fmaf(factors[run / 4].values[run % 4], sums.values[i], result.values[i]);
    }
    return result;
  }

  const PassView& p_;
  const AttentionPlan& plan_;
  const ItemWork& work_;
  Combine combine_;
  int warp_, lane_, g_, t_;
  int tiles_;
  const std::uint16_t* keys_;    ///< [cache_rows][head_dim] of the K/V head
  const std::uint16_t* values_;  ///< [cache_rows][head_dim] of the K/V head
};

}  // namespace draftscope::engine::cuda
