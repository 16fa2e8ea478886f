// SPDX-License-Identifier: GPL-3.0-or-later
#include "host_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace draftscope::engine::cuda {

namespace {

constexpr std::int32_t every_key = 1 << 30;

}  // namespace

void set_rows(const Batch& batch, PassState& state) {
  state.rows = static_cast<std::int32_t>(batch.rows.size());
  state.first_row = state.root_position = batch.first_row;
  state.head_from = batch.wanted.head ? batch.wanted.head_from : 0;
  state.stopped = 0;
  state.drafted = 0;
  state.shared_keys = 0;
  state.max_keys = 0;
  state.reads_kept = batch.reads_kept ? 1 : 0;
  state.keep_at = batch.wanted.keep_at;
  for (std::size_t i = 0; i < batch.rows.size(); ++i)
    state.row[i].input = {batch.rows[i].token, batch.rows[i].hidden, batch.rows[i].position};
}

void set_keys(const Batch& batch, std::span<const KeyListRange> ranges, bool has_sliding_window,
              PassState& state) {
  state.shared_keys = batch.ancestors.empty() ? every_key : batch.committed;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    const KeyListRange& range = ranges[i];
    state.row[i].keys = {range.begin, range.end, range.extra_begin, range.extra_end};
    state.max_keys = std::max(state.max_keys, range.size());
    if (range.begin != 0) state.shared_keys = 0;
    if (batch.ancestors.empty() && range.extra_end > range.extra_begin) state.shared_keys = 0;
  }
  if (has_sliding_window) state.shared_keys = 0;
}

void set_round(const ChainRound& round, PassState& state) {
  state.rows = 1;
  state.first_row = round.root_position;
  state.shared_keys = every_key;
  state.max_keys = round.root_position + 1;
  state.head_from = 0;
  state.stopped = 0;
  state.drafted = 0;
  state.draft_length = round.draft_length;
  state.reads_kept = 0;
  state.keep_at = -1;
  state.root_token = round.root;
  state.root_position = round.root_position;
  state.above_exit = round.above_exit ? 1 : 0;
  state.threshold = static_cast<float>(round.threshold);
  state.n_stop_tokens = static_cast<std::int32_t>(round.stops.size());
  std::copy(round.stops.begin(), round.stops.end(), state.stop_tokens);
  state.row[0].input = {round.root, -1, round.root_position};
  state.row[0].keys = {0, round.root_position + 1, 0, 0};
  if (!is_sampled(round)) return;
  const SamplingOptions& sampling = *round.sampling;
  state.sampling = {.inverse_temperature = static_cast<float>(1.0 / sampling.temperature),
                    .top_k = sampling.top_k,
                    .top_p = sampling.top_p,
                    .temperature = sampling.temperature,
                    .coupled = sampling.coupled ? 1 : 0,
                    .seed = round.key.seed,
                    .stream = round.key.stream};
}

bool is_sampled(const ChainRound& round) {
  return round.sampling != nullptr && !round.sampling->greedy();
}

void take_round(const PassState& state, std::span<const HeadResult> results, bool sampled,
                ChainRoundOutputs& outputs) {
  const auto drafted = static_cast<std::size_t>(state.drafted);
  outputs.drafted.clear();
  outputs.drawn_probabilities.clear();
  outputs.drafted_ns.clear();
  std::uint64_t begin_ns = state.draft_start_ns;
  for (const DraftedToken& draft : std::span(state.draft).first(drafted)) {
    outputs.drafted.push_back({draft.token, draft.logit, draft.probability});
    outputs.drawn_probabilities.push_back(draft.drawn_probability);
    outputs.drafted_ns.push_back(static_cast<std::int64_t>(draft.end_ns - begin_ns));
    begin_ns = draft.end_ns;
  }
  outputs.accepted = sampled ? state.accepted : 0;
  outputs.bonus_token = sampled ? state.bonus_token : -1;
  outputs.verified.clear();
  for (const HeadResult& result : results.first(std::min(drafted + 1, results.size())))
    outputs.verified.push_back({result.token, result.logit, result.probability});
  outputs.verify_ns = results.empty() ? 0 : static_cast<std::int64_t>(state.end_ns - state.verify_start_ns);
}

}  // namespace draftscope::engine::cuda
