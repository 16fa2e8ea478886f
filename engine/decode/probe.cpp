// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/probe.h>

#include <algorithm>
#include <utility>

#include "decode/state_cosine.h"

namespace draftscope::engine {

std::int32_t Probe::room() const {
  return std::min(head_room(), backend_.cache_rows() - committed_);
}

std::int32_t Probe::head_room() const {
  return std::min(backend_.max_invariant_rows(), backend_.max_rows());
}

StateBank& Probe::states() {
  StateBank* const own = backend_.states();
  return own != nullptr ? *own : host_states_;
}

/// Runs a pass on a backend that has no bank; the host's bank replaces it.
Result<void> Probe::forward(Batch batch, Outputs& outputs) {
  if (backend_.states() != nullptr) return backend_.forward(batch, outputs);
  if (batch.reads_kept) batch.hidden = host_states_.values();
  batch.reads_kept = false;
  const std::int32_t keep_at = std::exchange(batch.wanted.keep_at, -1);
  DRAFTSCOPE_TRY(backend_.forward(batch, outputs));
  return keep_at < 0 ? Result<void>{} : host_states_.put(keep_at, outputs.hidden);
}

Result<void> Probe::run(const ProbePass& pass, Outputs& outputs) {
  const auto count = static_cast<std::int32_t>(pass.rows.size());
  const bool head_alone = pass.layers.begin == pass.layers.end;
  const std::int32_t most = head_alone ? head_room() : room();
  if (count > most) return fail("probe: found {} rows, expected at most {}", count, most);
  if (head_alone)
    return forward({.rows = pass.rows,
                    .hidden = pass.hidden,
                    .reads_kept = pass.reads_kept,
                    .layers = pass.layers,
                    .wanted = pass.wanted},
                   outputs);
  if (pass.context > committed_)
    return fail("probe: found a context of {} positions, expected at most {}", pass.context, committed_);
  // The text's rows from `context` on are uncommitted for this pass, and no row attends to them.
  const std::int32_t hidden_rows = committed_ - pass.context;
  constexpr std::int32_t bits = 64;
  const std::int32_t words = (hidden_rows + count + bits - 1) / bits;
  // Allocate at once for the widest pass at the context's end, since `hidden_rows` grows with the text.
  const std::int32_t max_words = (backend_.cache_rows() + bits - 1) / bits;
  ancestors_.reserve(static_cast<std::size_t>(max_words) * static_cast<std::size_t>(head_room()));
  ancestors_.assign(static_cast<std::size_t>(words) * pass.rows.size(), 0);
  for (std::int32_t row = 0; pass.chain && row < count; ++row)
    for (std::int32_t before = pass.chain_rows > 0 ? row - row % pass.chain_rows : 0; before < row;
         ++before) {
      const std::int32_t bit = hidden_rows + before;
      const std::int32_t word = row * words + bit / bits;
      ancestors_[static_cast<std::size_t>(word)] |= std::uint64_t{1} << (bit % bits);
    }
  return forward({.rows = pass.rows,
                  .hidden = pass.hidden,
                  .reads_kept = pass.reads_kept,
                  .committed = pass.context,
                  .first_row = committed_,
                  .ancestors = ancestors_,
                  .mask = pass.mask,
                  .layers = pass.layers,
                  .wanted = pass.wanted},
                 outputs);
}

Result<std::int32_t> HostStates::reserve(std::int32_t count) {
  values_.resize(std::max(values_.size(), static_cast<std::size_t>(count) * d_model_));
  return 0;
}

Result<void> HostStates::put(std::int32_t at, std::span<const float> states) {
  std::copy(states.begin(), states.end(), state(at).begin());
  return {};
}

Result<void> HostStates::move(std::span<const StateMove> moves) {
  for (const StateMove& move : moves) std::copy_n(state(move.from).begin(), d_model_, state(move.to).begin());
  return {};
}

Result<void> HostStates::compare(std::span<const StatePair> pairs, std::vector<double>& cosines) {
  cosines.clear();
  for (const StatePair& pair : pairs) cosines.push_back(state_cosine(state(pair.a), state(pair.b)));
  return {};
}

}  // namespace draftscope::engine
