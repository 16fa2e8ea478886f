// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How a launch of decode attention is divided: plain numbers, for the kernel and for those who count work.
//
// Keys are cut by their numbers, whoever reads them: into runs of 32; eight runs make a split, and four
// splits make a group. Sums of runs are combined within their split, splits in order within their group,
// groups in order. An item is a split, or a whole group, whose runs one block computes. Where items are few,
// each run is computed by any warp. So many rows store a quarter of the sums, and a short context is read by
// all multiprocessors, with the same bits.

#include "launch_shape.h"

namespace draftscope::engine::cuda {

/// The launch's items of one K/V head, in order: groups of keys that all rows share, splits of such keys,
/// splits of keys that each row has alone.
struct AttentionPlan {
  int group;         ///< Query heads per K/V head.
  int queries;       ///< rows · group
  int splits;        ///< Splits of the row with the most keys.
  int whole_groups;  ///< Groups that are computed as one item each.
  int shared_splits;
  int item_tiles;     ///< Maximum tiles of 16 queries per item.
  int shared_items;   ///< Items per split of shared keys.
  int tiles_per_row;  ///< Items per row and split of keys that are not shared.
  int rows;
  bool is_by_runs;  ///< A warp computes each run of an item, and the sums per run are stored.

  [[nodiscard]] constexpr int units() const { return splits - (split_group - 1) * whole_groups; }
  [[nodiscard]] constexpr int items() const {
    return (shared_splits - (split_group - 1) * whole_groups) * shared_items +
           (splits - shared_splits) * rows * tiles_per_row;
  }
};

/// Splits that an item computes for some of a K/V head's queries.
struct AttentionItem {
  int split;  ///< The first split.
  int splits;
  int first_query;  ///< row · group + head within the group, counted from this launch's first row
  int n_queries;
  bool is_shared;  ///< Key j is cache row j.
};

inline constexpr int ceiling_of(int a, int b) {
  return (a + b - 1) / b;
}

/// Maximum tiles per item. Two, so that K/V are loaded and unpacked once for 32 queries. One if a block has
/// room for one alone (`most`), or if two would leave fewer than 12 items per K/V head. With eight heads,
/// fewer would not fill a large device's multiprocessors.
inline constexpr int item_tiles_of(int units, int tiles, int most) {
  constexpr int enough_items = 12;
  return tiles > 1 && units * ceiling_of(tiles, most) >= enough_items ? most : 1;
}

/// Whether warps take runs independently: there are at most as many splits as in a group, and so few queries
/// that only a few warps request the same K/V.
inline constexpr bool are_runs_apart(int splits, int tiles) {
  constexpr int max_run_tiles = 4;
  return splits <= split_group && tiles <= max_run_tiles;
}

/// Plans `rows` rows, the longest of which has `max_keys` keys. For each of them key j is cache row j as long
/// as j < shared_keys. `max_tiles` is the maximum per item.
inline constexpr AttentionPlan plan_attention(int rows, int group, int max_keys, int shared_keys,
                                              int max_tiles = max_item_tiles) {
  AttentionPlan plan{};
  plan.group = group;
  plan.rows = rows < 0 ? 0 : rows > max_attention_rows ? max_attention_rows : rows;
  plan.queries = plan.rows * group;
  plan.splits = ceiling_of(max_keys, split_keys);
  const int shared = shared_keys / split_keys;
  plan.shared_splits = shared < plan.splits ? shared : plan.splits;
  const int tiles = ceiling_of(plan.queries, tile_queries);
  // So few splits must be items of their own, and the sums of few queries are small.
  constexpr int few_splits = 2 * split_group;
  plan.whole_groups = tiles > 1 && plan.splits > few_splits ? plan.shared_splits / split_group : 0;
  plan.item_tiles = item_tiles_of(plan.units(), tiles, max_tiles);
  plan.shared_items = ceiling_of(tiles, plan.item_tiles);
  plan.tiles_per_row = ceiling_of(group, tile_queries);
  plan.is_by_runs = are_runs_apart(plan.splits, tiles);
  if (plan.is_by_runs) {
    plan.item_tiles = 1;
    plan.shared_items = tiles;
  }
  return plan;
}

inline constexpr AttentionItem attention_item(const AttentionPlan& plan, int index) {
  const int shared_units = plan.shared_splits - (split_group - 1) * plan.whole_groups;
  if (index < shared_units * plan.shared_items) {
    const int unit = index / plan.shared_items;
    const bool is_group = unit < plan.whole_groups;
    const int queries = plan.item_tiles * tile_queries;
    const int first = index % plan.shared_items * queries;
    const int left = plan.queries - first;
    return {is_group ? unit * split_group : unit + (split_group - 1) * plan.whole_groups,
            is_group ? split_group : 1, first, left < queries ? left : queries, true};
  }
  const int rest = index - shared_units * plan.shared_items;
  const int of_split = plan.rows * plan.tiles_per_row;
  const int tile = rest % of_split;
  const int within = tile % plan.tiles_per_row * tile_queries;
  const int left = plan.group - within;
  return {plan.shared_splits + rest / of_split, 1, tile / plan.tiles_per_row * plan.group + within,
          left < tile_queries ? left : tile_queries, false};
}

}  // namespace draftscope::engine::cuda
