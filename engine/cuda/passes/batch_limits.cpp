// SPDX-License-Identifier: GPL-3.0-or-later
#include "batch_limits.h"

#include <algorithm>
#include <cstddef>

#include "cuda/kernels/launch_shape.h"
#include "cuda/kernels/params.h"
#include "cuda/kernels/pass_state.h"

namespace draftscope::engine::cuda {

namespace {

Result<void> check_round_states(const ChainRound& round, const BackendLimits& limits) {
  const bool is_exit = round.mask == nullptr || round.mask->is_early_exit();
  if (round.above_exit && round.weights)
    return fail("chain round: verifies above the exit, expected a draft on the model's own weights");
  if (round.above_exit && (round.draft_length < 1 || round.layers.end < 1 || !is_exit))
    return fail("chain round: verifies above the exit, expected a draft by all layers below layer {}",
                round.layers.end);
  for (std::size_t i = 0; i < round.states.size(); ++i)
    if (round.states[i] < (i == 0 ? 0 : round.states[i - 1] + 1) || round.states[i] > limits.n_layers)
      return fail("chain round: states[{}] is {}, expected ascending boundaries from 0 to {}", i,
                  round.states[i], limits.n_layers);
  return {};
}

/// Error: decoding could not continue from a round that only drafts.
Result<void> check_unverified(const ChainRound& round, const BackendLimits& limits) {
  const bool is_greedy = round.sampling == nullptr || round.sampling->greedy();
  if (round.draft_length > 0 && round.layers.end == limits.n_layers && round.mask == nullptr &&
      !round.weights && !round.above_exit && round.states.empty() && is_greedy)
    return {};
  return fail(
      "chain round: verifies nothing, expected one step at least of a greedy draft by all {} layers alone",
      limits.n_layers);
}

}  // namespace

Result<void> check_round(const ChainRound& round, const BackendLimits& limits) {
  if (round.root < 0 || round.root >= limits.vocab)
    return fail("chain round: root is {}, expected 0 to {}", round.root, limits.vocab - 1);
  const std::int32_t most = std::min(limits.invariant_rows - 1, max_drafted_tokens);
  if (round.draft_length < 0 || round.draft_length > most)
    return fail("chain round: draft_length is {}, expected 0 to {}", round.draft_length, most);
  if (round.sampling != nullptr) DRAFTSCOPE_TRY(check(*round.sampling));
  if (round.root_position < 0 ||
      round.root_position + round.draft_length >= std::min(limits.cache_rows, limits.positions))
    return fail("chain round: root_position is {} with draft_length {}, expected them to end within {} rows",
                round.root_position, round.draft_length, std::min(limits.cache_rows, limits.positions));
  if (round.layers.begin != 0 || round.layers.end < 0 || round.layers.end > limits.n_layers)
    return fail("chain round: layers are [{}, {}), expected [0, E) with E at most {}", round.layers.begin,
                round.layers.end, limits.n_layers);
  if (round.mask != nullptr && round.mask->n_layers() != limits.n_layers)
    return fail("chain round: mask is for {} layers, expected {}", round.mask->n_layers(), limits.n_layers);
  DRAFTSCOPE_TRY(check_round_states(round, limits));
  if (!round.verifies) DRAFTSCOPE_TRY(check_unverified(round, limits));
  if (round.stops.size() > max_stop_tokens)
    return fail("chain round: {} stop tokens, expected at most {}", round.stops.size(), max_stop_tokens);
  return {};
}

Result<void> check_limits(const Batch& batch, const BackendLimits& limits) {
  for (std::size_t i = 0; i < batch.rows.size(); ++i)
    if (batch.rows[i].position >= limits.positions)
      return fail("batch.rows[{}].position is {}, expected less than {} on this device", i,
                  batch.rows[i].position, limits.positions);
  if (batch.wanted.top_k > max_top)
    return fail("batch.wanted.top_k is {}, expected at most {} on this device", batch.wanted.top_k, max_top);
  const auto rows = static_cast<std::int32_t>(batch.rows.size());
  if (batch.wanted.head && rows - batch.wanted.head_from > max_decode_rows)
    return fail("batch.wanted.head_from is {} of {} rows, expected at most {} head rows on this device",
                batch.wanted.head_from, rows, max_decode_rows);
  if (batch.weights && rows > max_decode_rows)
    return fail("batch.weights is given for {} rows, expected at most {} on this device", rows,
                max_decode_rows);
  const auto& states = batch.wanted.hidden_after;
  const bool last_alone =
      states.size() == 1 && states.front() == batch.layers.end && batch.wanted.keep_at < 0;
  if (!states.empty() && rows > max_decode_rows && !last_alone)
    return fail(
        "batch.wanted.hidden_after is given for {} rows, expected at most {}, or the last layer alone, "
        "on this device",
        rows, max_decode_rows);
  return {};
}

}  // namespace draftscope::engine::cuda
