// SPDX-License-Identifier: GPL-3.0-or-later
#include "validate.h"

#include <cstdint>

namespace draftscope::engine::cpu {
namespace {

Result<void> check_rows(const Batch& batch, const speculation::ModelShape& shape, const Limits& limits) {
  const std::size_t n = batch.rows.size();
  if (n == 0 || n > static_cast<std::size_t>(limits.max_rows))
    return fail("batch.rows has {} rows, expected 1 to {}", n, limits.max_rows);
  const auto d_model = static_cast<std::size_t>(shape.d_model);
  if (batch.hidden.size() % d_model != 0)
    return fail("batch.hidden has {} values, expected a multiple of d_model {}", batch.hidden.size(),
                d_model);
  const std::size_t n_hidden =
      batch.reads_kept ? static_cast<std::size_t>(limits.states) : batch.hidden.size() / d_model;
  for (std::size_t i = 0; i < n; ++i) {
    const Row& row = batch.rows[i];
    if (row.token < -1 || row.token >= shape.vocab)
      return fail("batch.rows[{}].token is {}, expected -1 to {}", i, row.token, shape.vocab - 1);
    if (row.token == -1 && (row.hidden < 0 || static_cast<std::size_t>(row.hidden) >= n_hidden))
      return fail("batch.rows[{}].hidden is {}, expected a row of {}, which has {}", i, row.hidden,
                  batch.reads_kept ? "the bank of states" : "batch.hidden", n_hidden);
    // Dynamic scaling is made for positions beyond those of training. With other kinds, such positions are a
    // caller's mistake.
    const bool bounded = shape.rope.kind != speculation::RopeKind::dynamic;
    if (row.position < 0 || (bounded && row.position >= shape.max_positions))
      return fail("batch.rows[{}].position is {}, expected 0 to {}", i, row.position,
                  shape.max_positions - 1);
  }
  return {};
}

Result<void> check_layers(const Batch& batch, const speculation::ModelShape& shape) {
  const LayerRange range = batch.layers;
  if (range.begin < 0 || range.begin > range.end || range.end > shape.n_layers)
    return fail("batch.layers is [{}, {}), expected a range within [0, {})", range.begin, range.end,
                shape.n_layers);
  if (batch.mask != nullptr && batch.mask->n_layers() != shape.n_layers)
    return fail("batch.mask is for {} layers, expected {}", batch.mask->n_layers(), shape.n_layers);
  return {};
}

Result<void> check_cache(const Batch& batch, const Limits& limits) {
  if (batch.committed < 0 || batch.committed > limits.cache_rows)
    return fail("batch.committed is {}, expected 0 to {}", batch.committed, limits.cache_rows);
  if (batch.first_row < batch.committed)
    return fail("batch.first_row is {}, expected at least batch.committed {}", batch.first_row,
                batch.committed);
  const auto n = static_cast<std::int64_t>(batch.rows.size());
  if (batch.first_row + n > limits.cache_rows)
    return fail("batch.first_row is {} with {} rows, expected them to end within the cache's {} rows",
                batch.first_row, n, limits.cache_rows);
  return {};
}

Result<void> check_ancestors(const Batch& batch) {
  if (batch.ancestors.empty()) return {};
  const std::size_t words = ancestor_words(batch);
  const std::size_t n = batch.rows.size();
  if (batch.ancestors.size() != words * n)
    return fail("batch.ancestors has {} words, expected {} ({} for each of {} rows)", batch.ancestors.size(),
                words * n, words, n);
  const std::size_t used_bits = (static_cast<std::size_t>(batch.first_row - batch.committed) + n) % 64;
  if (used_bits == 0) return {};
  for (std::size_t i = 0; i < n; ++i)
    if (const std::uint64_t last = batch.ancestors[i * words + words - 1]; last >> used_bits != 0)
      return fail(
          "batch.ancestors of row {} names a cache row beyond {}, expected rows of this batch or before", i,
          batch.first_row + static_cast<std::int64_t>(n) - 1);
  return {};
}

Result<void> check_wanted(const Batch& batch, const speculation::ModelShape& shape, const Limits& limits) {
  const Wanted& wanted = batch.wanted;
  const std::int64_t kept_end =
      wanted.keep_at + static_cast<std::int64_t>(wanted.hidden_after.size() * batch.rows.size());
  if (wanted.keep_at >= 0 && (wanted.keep_at < limits.first_reserved || kept_end > limits.states))
    return fail("batch.wanted.keep_at is {} for {} states, expected them within {} to {}", wanted.keep_at,
                kept_end - wanted.keep_at, limits.first_reserved, limits.states);
  std::int32_t previous = -1;
  for (std::size_t i = 0; i < wanted.hidden_after.size(); ++i) {
    const std::int32_t boundary = wanted.hidden_after[i];
    if (boundary < batch.layers.begin || boundary > batch.layers.end)
      return fail("batch.wanted.hidden_after[{}] is {}, expected {} to {}", i, boundary, batch.layers.begin,
                  batch.layers.end);
    if (boundary <= previous)
      return fail("batch.wanted.hidden_after[{}] is {} after {}, expected ascending boundaries", i, boundary,
                  previous);
    previous = boundary;
  }
  if (!wanted.head) {
    if (wanted.logits || wanted.top_k != 0)
      return fail("batch.wanted has {} without head, expected head with it",
                  wanted.logits ? "logits" : "top_k");
    return {};
  }
  if (wanted.head_from < 0 || static_cast<std::size_t>(wanted.head_from) >= batch.rows.size())
    return fail("batch.wanted.head_from is {}, expected a row, 0 to {}", wanted.head_from,
                batch.rows.size() - 1);
  if (wanted.top_k < 0 || wanted.top_k > shape.vocab)
    return fail("batch.wanted.top_k is {}, expected 0 to {}", wanted.top_k, shape.vocab);
  return {};
}

}  // namespace

Result<void> check_batch(const Batch& batch, const speculation::ModelShape& shape, const Limits& limits) {
  DRAFTSCOPE_TRY(check_rows(batch, shape, limits));
  DRAFTSCOPE_TRY(check_layers(batch, shape));
  DRAFTSCOPE_TRY(check_wanted(batch, shape, limits));
  if (batch.layers.begin == batch.layers.end) return {};  // No layer runs, so the cache is not touched.
  DRAFTSCOPE_TRY(check_cache(batch, limits));
  return check_ancestors(batch);
}

Result<void> check_moves(std::span<const CacheMove> moves, std::int32_t cache_rows) {
  for (std::size_t i = 0; i < moves.size(); ++i)
    for (const std::int32_t row : {moves[i].from, moves[i].to})
      if (row < 0 || row >= cache_rows)
        return fail("cache move {} is {} to {}, expected rows 0 to {}", i, moves[i].from, moves[i].to,
                    cache_rows - 1);
  return {};
}

}  // namespace draftscope::engine::cpu
