// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Attention of wide passes (prefill): many rows of one chain, each with the keys of a range of cache rows.
//
// A block takes 128 queries of a K/V head: the heads of its group and as many rows as fit. A warp takes 16 of
// them, whose sums it keeps in registers with their running maximum. Keys arrive 32 at a time through a ring
// in shared memory, three tiles deep, and serve all of the block's queries: tile i + 2 is requested when all
// have read tile i - 1. No sums leave the block. A warp skips tiles whose keys none of its queries has. It
// checks single keys only where some of its queries have part of a tile.
//
// Tiles are cut at multiples of 32 cache rows and are added in order. So a row's bits depend on its own query
// and keys alone, not on the other rows of the pass nor on where the prompt was cut. They differ from the
// bits of decode passes (attention.h), which add in another order. No backend promises equal bits for passes
// of more than max_invariant_rows() rows, whose products a library computes.

#include "attention_plan.h"
#include "product_ops.h"
#include "softmax_sum.h"

namespace draftscope::engine::cuda {

template <typename Element, int head_dim>
class PrefillAttention {
  static constexpr int blocks = head_dim / dimension_block;
  static constexpr int tile_columns = prefill_keys / 8;  ///< Columns of eight keys, as an mma takes them.
  static constexpr int tile_halves = prefill_keys / 16;  ///< Halves of sixteen keys.
  static constexpr int row_chunks = head_dim * 2 / static_cast<int>(sizeof(Chunk));
  static_assert(head_dim % dimension_block == 0 && head_dim <= max_head_dim);

 public:
  DRAFTSCOPE_DEVICE static void run(const PassView& p) {
    const int queries = p.work.state->rows * (p.model.n_heads / p.model.n_kv_heads);
    const int tiles = ceiling_of(queries, prefill_queries);
    // The grid has prefill_blocks() blocks.
    if (thread_index() < warp_threads)
      begin(p, block_index() / tiles, block_index() % tiles * prefill_queries);
    synchronise();
    PrefillAttention(p).attend();
  }

 private:
  /// Rows of keys [begin, end) of the cache.
  struct Range {
    int begin, end;
  };

  /// The work of a block as seen by all of its threads, at the start of its shared memory.
  struct BlockWork {
    int group;                    ///< Query heads per K/V head.
    int first_head;               ///< First head of the group.
    int first_query;              ///< row · group + head within the group
    int n_queries;                ///< Queries of the pass.
    Range keys;                   ///< Keys that at least one of the block's queries has.
    const std::byte* key_rows;    ///< [cache_rows][head_dim] of the K/V head
    const std::byte* value_rows;  ///< [cache_rows][head_dim] of the K/V head
  };
  static_assert(sizeof(BlockWork) <= block_work_bytes);
  DRAFTSCOPE_DEVICE static BlockWork& block_work() { return *reinterpret_cast<BlockWork*>(shared_memory()); }

  /// Called by one warp, whose lanes take turns at the rows.
  DRAFTSCOPE_DEVICE static void begin(const PassView& p, int kv_head, int first_query) {
    const int group = p.model.n_heads / p.model.n_kv_heads;
    const int queries = p.work.state->rows * group;
    const int last_row = (least(first_query + prefill_queries, queries) - 1) / group;
    const int lane = thread_index();
    Range all = range_of(p, first_query / group);
    for (int row = first_query / group + lane; row <= last_row; row += warp_threads)
      widen(all, range_of(p, row));
    for (int mask = 1; mask < warp_threads; mask *= 2)
      widen(all, {shuffle_xor(all.begin, mask), shuffle_xor(all.end, mask)});
    if (lane != 0) return;
    const DeviceLayer& layer = p.layer;
    const std::int64_t plane = std::int64_t{kv_head} * p.model.cache_rows * head_dim;
    block_work() = {group,
                    kv_head * group,
                    first_query,
                    queries,
                    all,
                    reinterpret_cast<const std::byte*>(layer.keys + plane),
                    reinterpret_cast<const std::byte*>(layer.values + plane)};
  }

  DRAFTSCOPE_DEVICE static Range range_of(const PassView& p, int row) {
    const KeyRun& keys = p.work.state->row[row].keys;
    return {keys.begin, keys.end};
  }
  DRAFTSCOPE_DEVICE static void widen(Range& range, const Range& more) {
    range = {least(range.begin, more.begin), most(range.end, more.end)};
  }
  DRAFTSCOPE_DEVICE static int least(int a, int b) { return a < b ? a : b; }
  DRAFTSCOPE_DEVICE static int most(int a, int b) { return a > b ? a : b; }

  /// In an mma, lane 4·g + t holds queries g and g + 8 of the warp.
  DRAFTSCOPE_DEVICE explicit PrefillAttention(const PassView& p)
      : p_(p), block_(block_work()), lane_(thread_index() % warp_threads), g_(lane_ / 4), t_(lane_ % 4) {
    const int first = block_.first_query + thread_index() / warp_threads * tile_queries + g_;
    Range all = range_of(p, read_query(first) / block_.group);
    const Range second = range_of(p, read_query(first + 8) / block_.group);
    if (t_ == 0) {
      own()[0] = {first, all};
      own()[8] = {first + 8, second};
    }
    bring_queries(first);
    widen(all, second);
    for (int mask = 4; mask < warp_threads; mask *= 2)
      widen(all, {shuffle_xor(all.begin, mask), shuffle_xor(all.end, mask)});
    if (lane_ == 0) warp_keys() = all;
  }

  /// Limits a query to the pass: its last query replaces any that does not exist, and that result is not
  /// stored.
  DRAFTSCOPE_DEVICE int read_query(int query) const { return least(query, block_.n_queries - 1); }

  /// The lane's first query of the block; its second one lies eight further.
  struct Query {
    int index;
    Range keys;
  };
  static_assert(sizeof(Query) * prefill_queries + sizeof(Range) * attention_warps <=
                prefill_work_bytes - block_work_bytes);
  DRAFTSCOPE_DEVICE Query* own() const {
    return reinterpret_cast<Query*>(shared_memory() + block_work_bytes) +
           thread_index() / warp_threads * tile_queries + g_;
  }

  /// Keys that at least one of the warp's queries has.
  DRAFTSCOPE_DEVICE Range& warp_keys() const {
    return reinterpret_cast<Range*>(shared_memory() + block_work_bytes +
                                    sizeof(Query) * prefill_queries)[thread_index() / warp_threads];
  }

  DRAFTSCOPE_DEVICE void attend() {
    for (int column = 0; column < blocks * 4; ++column)
      for (int i = 0; i < 4; ++i) mixed_[column][i] = 0.0F;
    softmax() = {{lowest_score, lowest_score, 0.0F, 0.0F}};
    int key = block_.keys.begin / prefill_keys * prefill_keys;
    for (int ahead = 0; ahead < prefill_stages - 1; ++ahead) bring_tile(key + ahead * prefill_keys, ahead);
    int stage = 0;
    for (; key < block_.keys.end; key += prefill_keys) {
      wait_for_copies<prefill_stages - 2>();
      synchronise();  // All of the tile has arrived, and the previous one has been read.
      bring_tile(key + (prefill_stages - 1) * prefill_keys, stage == 0 ? prefill_stages - 1 : stage - 1);
      if (key < warp_keys().end && key + prefill_keys > warp_keys().begin) add_tile(key, stage);
      stage = stage == prefill_stages - 1 ? 0 : stage + 1;
    }
    finish();
  }

  /// The warp's queries as an mma's lanes take them, [warp][block][mma][lane]: each lane reads only its own.
  DRAFTSCOPE_DEVICE Chunk* queries() const {
    return reinterpret_cast<Chunk*>(shared_memory() + prefill_work_bytes) +
           thread_index() / warp_threads * blocks * 2 * warp_threads + lane_;
  }
  DRAFTSCOPE_DEVICE void bring_queries(int first) const {
    const auto* upper = reinterpret_cast<const Chunk*>(head_of(p_.work.queries, read_query(first)));
    const auto* lower = reinterpret_cast<const Chunk*>(head_of(p_.work.queries, read_query(first + 8)));
#pragma unroll
    for (int block = 0; block < blocks; ++block)
      put_queries(queries() + block * 2 * warp_threads, load_whole(upper + block * 4 + t_),
                  load_whole(lower + block * 4 + t_));
  }
  /// Dimensions of one query in a buffer of the queries, or attention results, of all rows.
  template <typename T>
  DRAFTSCOPE_DEVICE T* head_of(T* rows, int query) const {
    const std::int64_t row = query / block_.group;
    return rows + (row * p_.model.n_heads + block_.first_head + query % block_.group) * head_dim;
  }

  /// The maxima of the lane's two queries, and the lane's part of their sums of weights; one per lane.
  DRAFTSCOPE_DEVICE FloatChunk& softmax() const {
    return reinterpret_cast<FloatChunk*>(shared_memory() + prefill_work_bytes +
                                         prefill_queries * head_dim * 2)[thread_index()];
  }

  /// A tile of the ring: keys, then values, each row at a stride that lets lanes read without bank conflicts.
  DRAFTSCOPE_DEVICE std::byte* tile_keys(int stage) const {
    return shared_memory() + prefill_work_bytes + prefill_queries * head_dim * 2 +
           attention_threads * static_cast<int>(sizeof(FloatChunk)) + stage * prefill_stage_bytes(head_dim);
  }
  DRAFTSCOPE_DEVICE std::byte* tile_values(int stage) const {
    return tile_keys(stage) + prefill_keys * staged_row_bytes(head_dim);
  }

  /// Starts the copies of a tile, a chunk per thread and turn. Keys that no query of the block has become
  /// zeros: their weight is zero, but the memory may hold a NaN.
  DRAFTSCOPE_DEVICE void bring_tile(int first_key, int stage) const {
    constexpr int chunks = prefill_keys * row_chunks;
    if (first_key < block_.keys.end)
#pragma unroll
      for (int done = 0; done < chunks; done += attention_threads) {
        const int i = done + thread_index();
        if (i >= chunks) break;
        const int row = i / row_chunks;
        const int key = first_key + row;
        const bool present = key >= block_.keys.begin && key < block_.keys.end;
        const int chunk = i % row_chunks * static_cast<int>(sizeof(Chunk));
        const std::uint32_t from = present ? static_cast<std::uint32_t>(key * head_dim * 2 + chunk) : 0;
        begin_copy(tile_keys(stage) + row * staged_row_bytes(head_dim) + chunk, block_.key_rows + from,
                   present);
        begin_copy(tile_values(stage) + row * prefill_value_bytes(head_dim) + chunk, block_.value_rows + from,
                   present);
      }
    end_copy_group();
  }

  DRAFTSCOPE_DEVICE void add_tile(int key, int stage) {
    float scores[tile_columns][4] = {};
    multiply(stage, scores);
    hide_absent(key, scores);
    float highest[2] = {lowest_score, lowest_score};
#pragma unroll
    for (int column = 0; column < tile_columns; ++column)
#pragma unroll
      for (int i = 0; i < 4; ++i) highest[i / 2] = fmaxf(highest[i / 2], scores[column][i]);
    const FloatChunk before = softmax();
    for (int i = 0; i < 2; ++i) {
      for (int mask = 1; mask <= 2; mask *= 2) highest[i] = fmaxf(highest[i], shuffle_xor(highest[i], mask));
      highest[i] = fmaxf(before.values[i], highest[i] * scale());
    }
    float sums[2];
    for (int i = 0; i < 2; ++i) sums[i] = exponential_of_two(before.values[i] - highest[i]);
    move_maxima(sums);
    for (int i = 0; i < 2; ++i) sums[i] *= before.values[2 + i];
#pragma unroll
    for (int column = 0; column < tile_columns; ++column)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        scores[column][i] = exponential_of_two(fmaf(scores[column][i], scale(), -highest[i / 2]));
        sums[i / 2] += scores[column][i];
      }
    softmax() = {{highest[0], highest[1], sums[0], sums[1]}};
    std::uint32_t packed[tile_halves][4];
#pragma unroll
    for (int half = 0; half < tile_halves; ++half)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        packed[half][i] =
            pack<Element>(scores[2 * half + i / 2][i % 2 * 2], scores[2 * half + i / 2][i % 2 * 2 + 1]);
    mix(stage, packed);
  }

  DRAFTSCOPE_DEVICE void multiply(int stage, float (&scores)[tile_columns][4]) const {
    const std::byte* keys =
        tile_keys(stage) + g_ * staged_row_bytes(head_dim) + t_ * static_cast<int>(sizeof(Chunk));
#pragma unroll 1  // Unrolling would not fit in the registers.
    for (int block = 0; block < blocks; ++block) {
      const Chunk halves[2] = {queries()[block * 2 * warp_threads],
                               queries()[(block * 2 + 1) * warp_threads]};
#pragma unroll
      for (int column = 0; column < tile_columns; ++column) {
        const Chunk held = *reinterpret_cast<const Chunk*>(keys + column * 8 * staged_row_bytes(head_dim) +
                                                           block * dimension_block * 2);
#pragma unroll
        for (int i = 0; i < 2; ++i)
          Element::multiply_accumulate(scores[column], halves[i].words[0], halves[i].words[1],
                                       halves[i].words[2], halves[i].words[3], held.words[2 * i],
                                       held.words[2 * i + 1]);
      }
    }
  }

  /// Replaces scores of keys that a query does not have by the score of weight zero.
  DRAFTSCOPE_DEVICE void hide_absent(int key, float (&scores)[tile_columns][4]) const {
    const Range ranges[2] = {own()[0].keys, own()[8].keys};
    if (key >= most(ranges[0].begin, ranges[1].begin) &&
        key + prefill_keys <= least(ranges[0].end, ranges[1].end))
      return;
#pragma unroll
    for (int column = 0; column < tile_columns; ++column)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = key + column * 8 + t_ * 2 + i % 2;
        if (at < ranges[i / 2].begin || at >= ranges[i / 2].end) scores[column][i] = no_score;
      }
  }

  /// Rescales the sums so far to new maxima. An unchanged maximum changes nothing.
  DRAFTSCOPE_DEVICE void move_maxima(const float (&factors)[2]) {
    if (factors[0] == 1.0F && factors[1] == 1.0F) return;
#pragma unroll
    for (int column = 0; column < blocks * 4; ++column)
#pragma unroll
      for (int i = 0; i < 4; ++i) mixed_[column][i] *= factors[i / 2];
  }

  /// A lane reads four dimensions of each of its keys and treats them as one column of four mma
  /// (attention.h).
  DRAFTSCOPE_DEVICE void mix(int stage, const std::uint32_t (&weights)[tile_halves][4]) {
    const std::byte* values = tile_values(stage) + t_ * 2 * prefill_value_bytes(head_dim) +
                              g_ * static_cast<int>(sizeof(HalfChunk));
#pragma unroll
    for (int half = 0; half < tile_halves; ++half)
#pragma unroll
      for (int block = 0; block < blocks; ++block) {
        HalfChunk held[4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
          held[i] = *reinterpret_cast<const HalfChunk*>(
              values + (half * 16 + i / 2 * 8 + i % 2) * prefill_value_bytes(head_dim) +
              block * dimension_block * 2);
#pragma unroll
        for (int column = 0; column < 4; ++column) {
          std::uint32_t pairs[2];
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            const std::uint32_t low = held[2 * i].words[column / 2];
            const std::uint32_t high = held[2 * i + 1].words[column / 2];
            pairs[i] = column % 2 == 0 ? low_halves(low, high) : high_halves(low, high);
          }
          Element::multiply_accumulate(mixed_[block * 4 + column], weights[half][0], weights[half][1],
                                       weights[half][2], weights[half][3], pairs[0], pairs[1]);
        }
      }
  }

  DRAFTSCOPE_DEVICE void finish() {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float sum = softmax().values[2 + half];
      for (int mask = 1; mask <= 2; mask *= 2) sum += shuffle_xor(sum, mask);
      const float share = 1.0F / sum;
      const int query = own()[8 * half].index;
      if (query >= block_.n_queries) continue;
      auto* to = reinterpret_cast<HalfChunk*>(head_of(p_.work.attended, query));
#pragma unroll
      for (int block = 0; block < blocks; ++block)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const auto of = [&](int column) { return mixed_[block * 4 + column][half * 2 + i] * share; };
          to[block * 8 + t_ * 2 + i] = {{pack<Element>(of(0), of(1)), pack<Element>(of(2), of(3))}};
        }
    }
  }

  /// Factor that turns a product into an exponent of two.
  DRAFTSCOPE_DEVICE float scale() const {
    return p_.model.attention_scale * log2_of_e;
  }

  /// Far below every score; its weight is 0.
  static constexpr float no_score = -INFINITY;

  const PassView& p_;
  const BlockWork& block_;
  int lane_, g_, t_;
  float mixed_[blocks * 4][4];
};

}  // namespace draftscope::engine::cuda
