// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/recorded_statistics.h"

#include <draftscope/traces/text_share.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "analysis/run_specification.h"
#include "rounds/drafts/auxiliary_times.h"

namespace draftscope::simulator {

namespace {

bool is_target_step(const traces::Round& round, std::int32_t steps) {
  return round.drafted == 0 && steps == 0 && round.verify_rows <= 1;
}

/// Numbers every kind of draft from 1 on: the exit layer, or an index into the sublayer counts.
class DraftNumbers {
 public:
  DraftNumbers(bool by_exit, const DraftWeights& weights, const LayerSetsById& sets)
      : by_exit_(by_exit), weights_(weights), sets_(sets) {}

  std::int32_t number(const traces::Round& round) {
    const auto set = sets_.find(round.layer_set_id);
    if (by_exit_) return set->second->exit_layer;
    const speculation::DraftSublayers draft =
        draft_with(set == sets_.end() ? nullptr : set->second, weights_);
    const auto known = std::ranges::find(drafts_, draft);
    const auto number = static_cast<std::int32_t>(known - drafts_.begin()) + 1;
    if (known == drafts_.end()) drafts_.push_back(draft);
    return number;
  }
  [[nodiscard]] std::vector<speculation::DraftSublayers> drafts() && { return std::move(drafts_); }

 private:
  bool by_exit_;
  const DraftWeights& weights_;
  const LayerSetsById& sets_;
  std::vector<speculation::DraftSublayers> drafts_;
};

/// Draft steps of a round. Tokens that no model drafted have none, however deep their tree is.
std::int32_t steps_of(const traces::Round& round) {
  return round.layer_set_id == 0 ? 0 : round.tree_depth;
}

/// Whether every draft runs the complete layers 0 to its exit − 1, on the target's weights.
Result<bool> drafts_by_exit(const RunRows& run, const LayerSetsById& sets, const DraftWeights& weights) {
  bool by_exit = true;
  std::int64_t rounds = 0;
  for (const RequestRows& request : run.requests)
    for (const traces::Round& round : request.rounds) {
      ++rounds;
      if (is_target_step(round, steps_of(round))) continue;
      const auto set = sets.find(round.layer_set_id);
      if (round.layer_set_id != 0 && set == sets.end())
        return fail("round {}: found no layer set {}, expected it in the recording", round.id,
                    round.layer_set_id);
      by_exit = by_exit && set != sets.end() && is_exit(*set->second) && !weights.format(set->second->origin);
    }
  if (rounds == 0)
    return fail("run {}: found no round of a finished request, expected one", run.run->specification);
  return by_exit;
}

/// Adds the auxiliary passes of each request, and those of another model if it drafts.
void add_own_passes(const RunRows& run, const traces::Meta& meta, const ModelShape& shape,
                    RecordedStatistics& result) {
  const std::optional<AuxiliaryWork> work = auxiliary_work_of(*run.run, shape);
  const bool has_draft_model = speculation::strategy_row(run.run->strategy).drafts_with_other_model;
  const bool is_other = has_draft_model && !drafts_with_next_token_layer(run.run->strategy);
  if (is_other) result.draft_model = draft_model_of(*run.run, meta);
  result.lacks_draft_model = is_other && !result.draft_model;
  AuxiliaryPasses passes;
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    std::vector<PassCount>& counts = result.requests[i].auxiliary;
    if (work) count_auxiliary_work(run.requests[i], is_first_of_repeat(run, i), *work, passes, counts);
    if (has_draft_model)
      count_draft_steps_beside(*run.run, run.requests[i], result.draft_model.value_or(shape), passes, counts);
  }
  result.auxiliary_passes = passes.kinds();
}

void add_round(const traces::Round& round, traces::RequestStop stop, std::int32_t planned,
               DraftNumbers& numbers, RoundStatistics& statistics, std::vector<RecordedDraft>& by_round) {
  ++statistics.rounds;
  statistics.tokens += round.emitted;
  statistics.drafted += round.drafted;
  statistics.accepted += traces::tokens_of(round).accepted_in_text(stop);
  if (is_target_step(round, steps_of(round))) {
    ++statistics.target_steps.passes;
    statistics.target_steps.context += round.root_position;
    by_round.push_back({});
    return;
  }
  by_round.push_back({numbers.number(round), steps_of(round)});
  // A verification of one row is a target step with a round's overhead; it has the price of two rows.
  add_passes(statistics, by_round.back().number, round.root_position, by_round.back().steps,
             std::max(round.verify_rows, 2), planned);
}

}  // namespace

traces::LayerSet set_without(std::int32_t first, std::int32_t end, std::int32_t n_layers,
                             std::int32_t exit_layer, std::string origin) {
  traces::LayerSet set{.n_layers = n_layers, .exit_layer = exit_layer, .origin = std::move(origin)};
  set.skipped.resize((2 * static_cast<std::size_t>(n_layers) + 7) / 8);
  for (std::size_t bit = 2 * static_cast<std::size_t>(first); bit < 2 * static_cast<std::size_t>(end); ++bit)
    set.skipped[bit / 8] |= static_cast<std::uint8_t>(1U << (bit % 8));
  return set;
}

bool is_exit(const traces::LayerSet& set) {
  const speculation::DraftSublayers kept = kept_sublayers(set);
  return set.exit_layer > 0 && set.exit_layer < set.n_layers && kept.attention == set.exit_layer &&
         kept.mlp == set.exit_layer;
}

RunRows first_repeat(const RunRows& run) {
  RunRows first{run.run, {}, run.unfinished_requests};
  std::set<traces::PromptId> prompts;
  for (const RequestRows& rows : run.requests)
    if (!rows.rounds.empty() && prompts.insert(rows.prompt->id).second) first.requests.push_back(rows);
  return first;
}

PassCount vanilla_steps_of(const RequestRows& rows, std::int64_t emitted) {
  const bool finds_end = rows.request->stop == traces::RequestStop::eos;
  return vanilla_steps(emitted + (finds_end ? 1 : 0), rows.rounds.front().root_position);
}

std::int64_t emitted_tokens(const RequestRows& rows) {
  std::int64_t tokens = 0;
  for (const traces::Round& round : rows.rounds) tokens += round.emitted;
  return tokens;
}

Result<RecordedStatistics> recorded_statistics(const RunRows& run, const LayerSetsById& sets,
                                               const traces::Meta& meta, const ModelShape& shape) {
  const DraftWeights weights(*run.run, meta, shape.n_layers);
  DRAFTSCOPE_TRY_ASSIGN(const bool by_exit, drafts_by_exit(run, sets, weights));
  RecordedStatistics result;
  DraftNumbers numbers(by_exit, weights, sets);
  const std::int32_t max_new_tokens = recorded_token_budget(meta);
  for (const RequestRows& request : run.requests) {
    RoundStatistics& statistics = result.requests.emplace_back();
    std::vector<RecordedDraft>& by_round = result.by_round.emplace_back();
    for (const traces::Round& round : request.rounds)
      add_round(round, request.request->stop,
                planned_rows(round, request.rounds.front().root_position, max_new_tokens), numbers,
                statistics, by_round);
  }
  result.drafts = std::move(numbers).drafts();
  add_own_passes(run, meta, shape, result);
  return result;
}

}  // namespace draftscope::simulator
