// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds of a policy, replayed on the shadow tables.
//
// Strategies whose rounds follow from the recorded token ids.
#include <fmt/format.h>
#include <algorithm>
#include <utility>

#include "rounds/replay/policy_choice.h"
#include "rounds/round_sources.h"
#include "strategies/parts/rule.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

/// Counts auxiliary passes after the prefill and after every round except the last, which needs no decision.
void count_auxiliary_work(const ShadowTable& table, const std::vector<ReplayedRound>& rounds,
                          const AuxiliaryWork& work, AuxiliaryPasses& passes,
                          std::vector<PassCount>& counts) {
  if (rounds.empty()) return;
  work.after_prefill(table.prompt_tokens, true, passes, counts);
  for (std::size_t i = 0; i + 1 < rounds.size(); ++i)
    work.after_round({.index = static_cast<std::int32_t>(i),
                      .prompt_tokens = table.prompt_tokens,
                      .root_position = rounds[i].root_position,
                      .accepted = rounds[i].least.accepted},
                     passes, counts);
}

}  // namespace

Result<std::unique_ptr<Policy>> replayed_policy(const TrainedRecording& trained, std::string_view strategy) {
  const PolicyChoice text = text_choice(*trained.recording);
  if (text.status == AnswerStatus::invalid) return fail("strategy {}: {}", strategy, text.reason);
  DRAFTSCOPE_TRY_ASSIGN(const ReplayModel model, replay_model(*trained.recording));
  DRAFTSCOPE_TRY_ASSIGN(PolicyChoice choice, policy_of_specification(strategy, model));
  if (choice.policy == nullptr)
    return fail("strategy {}: {} ({}), expected a recorded run of it", strategy, choice.reason,
                answer_status_name(choice.status));
  return std::move(choice.policy);
}

Result<StrategyRounds> replayed_rounds(const TrainedRecording& trained, std::string_view strategy) {
  DRAFTSCOPE_TRY_ASSIGN(const std::unique_ptr<Policy> policy, replayed_policy(trained, strategy));
  return replayed_rounds(trained, strategy, *policy);
}

Result<StrategyRounds> replayed_rounds(const TrainedRecording& trained, std::string_view strategy,
                                       Policy& policy) {
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::replayed,
                        .vanilla = vanilla_steps(trained.shadowed.tables, trained.conditions),
                        .verified_layers = specified_verified_layers(strategy),
                        .categories = trained.shadowed.categories};
  DRAFTSCOPE_TRY_ASSIGN(const auto specification, speculation::parse_strategy(strategy, trained.n_layers()));
  const std::optional<AuxiliaryWork> work = AuxiliaryWork::of(specification, trained.costs.model.shape);
  AuxiliaryPasses passes;
  bool is_certain = true;
  std::int64_t bounded = 0;
  std::int64_t all = 0;
  for (const ShadowTable& table : trained.shadowed.tables) {
    const std::vector<ReplayedRound> replayed = replay_rounds(table, policy, trained.conditions);
    ReplayTotals request = totals(replayed);
    rounds.setting.status = std::max(rounds.setting.status, request.status);
    is_certain = is_certain && request.status == AnswerStatus::exact;
    bounded += request.bounded_rounds + request.approximate_rounds;
    all += request.least.rounds;
    if (work) {
      count_auxiliary_work(table, replayed, *work, passes, request.least.auxiliary);
      request.most.auxiliary = request.least.auxiliary;
    }
    rounds.setting.min_drafted.push_back(std::move(request.least));
    rounds.setting.max_drafted.push_back(std::move(request.most));
  }
  rounds.auxiliary_passes = passes.kinds();
  // A recorded run of the same name shows the host time.
  const auto host = std::ranges::find(trained.hosts, specification.name(), &HostOfRun::strategy);
  if (work && host != trained.hosts.end()) add_host_time(trained.hosts, host->run_id, rounds);
  if (is_certain)
    rounds.setting.max_drafted.clear();
  else
    rounds.notes.push_back(fmt::format(
        "{} of {} rounds went on after a confident wrong draft token: how far is not in the recording",
        bounded, all));
  return rounds;
}

bool follows_from_texts(std::string_view specification) {
  return strategy_prediction(speculation::strategy_name(specification)).text_rounds != nullptr;
}

Result<TextRounds> replayed_lookups(const TrainedRecording& trained, std::string_view strategy,
                                    PricedGuard* guard) {
  DRAFTSCOPE_TRY(check_texts(trained, strategy));
  DRAFTSCOPE_TRY_ASSIGN(const auto specification, speculation::parse_strategy(strategy, trained.n_layers()));
  return strategy_prediction(specification.name()).text_rounds(trained, specification, guard);
}

Result<StrategyRounds> lookup_rounds(const TrainedRecording& trained, std::string_view strategy,
                                     PricedGuard* guard) {
  DRAFTSCOPE_TRY_ASSIGN(TextRounds text, replayed_lookups(trained, strategy, guard));
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::replayed,
                        .vanilla = vanilla_steps(trained.texts().tables, trained.conditions),
                        .drafts = {speculation::DraftSublayers{}},
                        .categories = trained.texts().categories};
  rounds.setting.status = text_choice(*trained.recording).status;
  for (const std::vector<LookupRound>& request : text.requests) {
    rounds.setting.min_drafted.push_back(lookup_statistics(request));
    for (const LookupRound& round : request)
      rounds.setting.status = std::max(rounds.setting.status, round.status);
  }
  for (const std::vector<LookupRound>& request : text.fewest)
    rounds.setting.max_drafted.push_back(lookup_statistics(request));
  if (rounds.setting.status == AnswerStatus::bounded && text.fewest.empty())
    rounds.setting.max_drafted = rounds.setting.min_drafted;
  rounds.setting.status = std::max(rounds.setting.status, text.status);
  rounds.notes = std::move(text.notes);
  return rounds;
}

std::vector<const RequestRows*> requests_of_texts(const TrainedRecording& trained, const RunRows& run) {
  std::vector<const RequestRows*> found;
  for (const ShadowTable& table : trained.texts().tables) {
    const auto same = std::ranges::find_if(run.requests, [&](const RequestRows& rows) {
      const auto& prompt = rows.prompt->tokens;
      const auto& output = rows.request->tokens;
      return table.text.size() == prompt.size() + output.size() && !rows.rounds.empty() &&
             std::equal(prompt.begin(), prompt.end(), table.text.begin()) &&
             std::equal(output.begin(), output.end(), table.text.begin() + std::ssize(prompt));
    });
    found.push_back(same == run.requests.end() ? nullptr : &*same);
  }
  return found;
}

}  // namespace draftscope::simulator
