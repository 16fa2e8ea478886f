// SPDX-License-Identifier: GPL-3.0-or-later
#include "toy_backend.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace draftscope::engine {

namespace {

std::uint32_t mix(std::uint32_t a, std::uint32_t b) {
  std::uint64_t x = (std::uint64_t{a} << 32U) | b;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return static_cast<std::uint32_t>(x ^ (x >> 31U));
}

// A state crosses the interface as two floats that carry 16 bits each, which they hold exactly.
std::uint32_t from_floats(const float* pair) {
  return (static_cast<std::uint32_t>(pair[0]) << 16U) | static_cast<std::uint32_t>(pair[1]);
}

/// Whether row i of the batch attends to a cache row other than its own.
bool attends(const Batch& batch, std::int32_t i, std::int32_t row) {
  if (row < batch.committed) return true;
  if (batch.ancestors.empty()) return row < batch.first_row + i;
  const std::size_t words = batch.ancestors.size() / batch.rows.size();
  const auto bit = static_cast<std::size_t>(row - batch.committed);
  return row != batch.first_row + i &&
         ((batch.ancestors[static_cast<std::size_t>(i) * words + bit / 64] >> (bit % 64)) & 1U) != 0;
}

}  // namespace

ToyBackend::ToyBackend(const Options& options) : options_(options) {
  shape_.n_layers = options.n_layers;
  shape_.d_model = 2;
  shape_.d_ff = options.vocab;  // makes a layer as large as three heads, for code that compares costs
  shape_.vocab = options.vocab;
  shape_.max_positions = options.cache_rows;
  cache_.assign(static_cast<std::size_t>(options.n_layers),
                std::vector<std::uint32_t>(static_cast<std::size_t>(options.cache_rows), 0xDEAD));
}

/// Computes logits from the state alone, as the head of a model does: an exit drafts what the head gives for
/// its state.
void ToyBackend::head(std::uint32_t state, std::vector<float>& logits) const {
  // All exits share the embedding state (depth 0 of a row) through the history in `state`. The shared part is
  // keyed by the text alone, which the low half of the state carries unchanged from layer to layer.
  const std::uint32_t text = state & 0xFFFFU;
  const bool agree = (mix(text, 77) % 1000U) < static_cast<std::uint32_t>(options_.agreement * 1000.0);
  for (std::int32_t token = 0; token < options_.vocab; ++token) {
    const std::uint32_t key = agree ? text : state;
    logits.push_back(static_cast<float>(mix(key, static_cast<std::uint32_t>(token) + 1000U) % 4096U) /
                     1024.0F);
  }
}

Result<void> ToyBackend::forward(const Batch& batch, Outputs& outputs) {
  ++forwards;
  const auto count = static_cast<std::int32_t>(batch.rows.size());
  if (!batch.wanted.head && (batch.wanted.logits || batch.wanted.top_k != 0))
    return fail("wanted: found logits or top_k without head, expected head with them");
  if (count < 1 || count > options_.max_rows)
    return fail("rows: found {}, expected 1 to {}", count, options_.max_rows);
  if (batch.first_row + count > options_.cache_rows) return fail("first_row: beyond the cache");
  const std::size_t words = (static_cast<std::size_t>(batch.first_row - batch.committed + count) + 63) / 64;
  if (!batch.ancestors.empty() && batch.ancestors.size() != words * static_cast<std::size_t>(count))
    return fail("ancestors: found {} words, expected {} a row", batch.ancestors.size(), words);

  std::vector<std::uint32_t> states;
  for (const Row& row : batch.rows) {
    if (row.token >= 0) {
      states.push_back(mix(static_cast<std::uint32_t>(row.token) + options_.seed * 131U,
                           static_cast<std::uint32_t>(row.position)));
    } else {
      states.push_back(from_floats(&batch.hidden[static_cast<std::size_t>(row.hidden) * 2]));
    }
  }
  outputs = {};
  const auto store_hidden = [&](std::int32_t boundary) {
    if (std::find(batch.wanted.hidden_after.begin(), batch.wanted.hidden_after.end(), boundary) ==
        batch.wanted.hidden_after.end())
      return;
    for (const std::uint32_t state : states) {
      outputs.hidden.push_back(static_cast<float>(state >> 16U));
      outputs.hidden.push_back(static_cast<float>(state & 0xFFFFU));
    }
  };
  store_hidden(batch.layers.begin);
  for (std::int32_t layer = batch.layers.begin; layer < batch.layers.end; ++layer) {
    const bool skipped = batch.mask != nullptr && !batch.mask->runs_attention(layer);
    auto& rows = cache_[static_cast<std::size_t>(layer)];
    for (std::int32_t i = 0; i < count && !skipped; ++i)
      rows[static_cast<std::size_t>(batch.first_row + i)] = states[static_cast<std::size_t>(i)];
    for (std::int32_t i = 0; i < count && !skipped; ++i) {
      // Hash the rows that this row attends to, in path order, itself last.
      std::uint32_t attended = 0;
      for (std::int32_t row = 0; row < batch.first_row + count; ++row)
        if (attends(batch, i, row)) attended = mix(attended, rows[static_cast<std::size_t>(row)]);
      attended = mix(attended, rows[static_cast<std::size_t>(batch.first_row + i)]);
      std::uint32_t& state = states[static_cast<std::size_t>(i)];
      // The first layer turns the state of the token into a state of the whole text. Later layers change only
      // the high half.
      if (layer == 0)
        state = attended;
      else
        state = (mix(state, attended + static_cast<std::uint32_t>(layer)) & 0xFFFF0000U) | (state & 0xFFFFU);
    }
    store_hidden(layer + 1);
  }
  if (!batch.wanted.head) return {};
  for (std::int32_t i = batch.wanted.head_from; i < count; ++i) {
    std::vector<float> logits;
    head(states[static_cast<std::size_t>(i)], logits);
    const auto best = std::max_element(logits.begin(), logits.end());
    double sum = 0.0;
    for (const float logit : logits) sum += std::exp(static_cast<double>(logit - *best));
    std::vector<std::int32_t> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
    });
    for (std::int32_t k = 0; k < batch.wanted.top_k; ++k) {
      const float logit = logits[static_cast<std::size_t>(order[static_cast<std::size_t>(k)])];
      outputs.top.push_back({order[static_cast<std::size_t>(k)], logit,
                             static_cast<float>(std::exp(static_cast<double>(logit - *best)) / sum)});
    }
    if (batch.wanted.logits) outputs.logits.insert(outputs.logits.end(), logits.begin(), logits.end());
  }
  return {};
}

Result<void> ToyBackend::move_cache_rows(std::span<const CacheMove> moves) {
  for (const CacheMove& move : moves)
    for (auto& rows : cache_)
      rows[static_cast<std::size_t>(move.to)] = rows[static_cast<std::size_t>(move.from)];
  return {};
}

}  // namespace draftscope::engine
