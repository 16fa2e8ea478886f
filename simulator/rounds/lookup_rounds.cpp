// SPDX-License-Identifier: GPL-3.0-or-later
// Strategies whose rounds follow from the recorded token ids.
#include <draftscope/base/to_size.h>
#include <draftscope/speculation/rules/rules_of.h>
#include <fmt/format.h>

#include <algorithm>

#include "rounds/drafts/draft_tokens.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/replay/replay_lookup.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

using KeptByTable = std::vector<std::vector<KeptSuccessors>>;

/// Adds what the trees of a request's rounds show.
void add_kept(const traces::Recording& recording, const RequestRows& rows, const ShadowTable& table,
              std::vector<KeptSuccessors>& kept) {
  for (const traces::Round& round : rows.rounds) {
    const auto tokens = draft_tokens_of(recording, round.id);
    std::vector<KeptSuccessors> behind(tokens.size() + 1);  // the root's, then the draft tokens'
    for (const traces::DraftToken& token : tokens)
      behind[to_size(token.parent + 1)].successors.push_back(token.token);
    for (std::size_t i = 0; i < behind.size(); ++i) {
      if (behind[i].successors.empty() || round.root_position >= table.end()) continue;
      behind[i].root_position = round.root_position;
      behind[i].token =
          i == 0 ? table.text[static_cast<std::size_t>(round.root_position)] : tokens[i - 1].token;
      kept.push_back(std::move(behind[i]));
    }
  }
}

/// Successors that a recorded run of token recycling kept, [table]; the run is the one with the widest trees.
KeptByTable recorded_successors(const TrainedRecording& trained, std::string& source) {
  const auto& tables = trained.texts().tables;
  KeptByTable kept(tables.size());
  const RunRows* widest = nullptr;
  std::int32_t most = 0;
  for (const RunRows& run : trained.runs)
    if (run.run->strategy == "token-recycling")
      for (const RequestRows& rows : run.requests)
        for (const traces::Round& round : rows.rounds)
          if (round.drafted > most) {
            most = round.drafted;
            widest = &run;
          }
  if (widest == nullptr) return kept;
  source = widest->run->specification;
  const RunRows first = first_repeat(*widest);
  for (const RequestRows& rows : first.requests)
    for (std::size_t i = 0; i < tables.size(); ++i) {
      const auto& text = tables[i].text;
      const auto& prompt = rows.prompt->tokens;
      const bool is_the_text = text.size() == prompt.size() + rows.request->tokens.size() &&
                               std::equal(prompt.begin(), prompt.end(), text.begin()) &&
                               std::equal(rows.request->tokens.begin(), rows.request->tokens.end(),
                                          text.begin() + std::ssize(prompt));
      if (is_the_text && kept[i].empty()) add_kept(*trained.recording, rows, tables[i], kept[i]);
    }
  return kept;
}

}  // namespace

bool follows_from_texts(std::string_view specification) {
  const std::string_view name = speculation::strategy_name(specification);
  return name == "prompt-lookup" || name == "suffix-decoding" || name == "token-recycling";
}

Result<std::vector<std::vector<LookupRound>>> replayed_lookups(const TrainedRecording& trained,
                                                               std::string_view strategy,
                                                               PricedGuard* guard) {
  const PolicyChoice text = text_choice(*trained.recording);
  if (text.status == AnswerStatus::invalid) return fail("strategy {}: {}", strategy, text.reason);
  if (!trained.no_conditions_reason.empty())
    return fail("strategy {}: {}", strategy, trained.no_conditions_reason);
  if (trained.texts().tables.empty())
    return fail("strategy {}: found no finished request with token ids, expected some", strategy);
  DRAFTSCOPE_TRY_ASSIGN(const auto specification,
                        speculation::parse_strategy(strategy, trained.costs.model.shape.n_layers));
  if (specification.name() == "suffix-decoding")
    return replay_suffixes(trained.texts().tables, speculation::suffix_options(specification),
                           trained.conditions, guard);
  if (specification.name() == "token-recycling") {
    std::string source;
    return replay_recycling(trained.texts().tables, recorded_successors(trained, source),
                            speculation::recycling_options(specification), trained.conditions,
                            trained.costs.model.shape.vocab, guard);
  }
  const speculation::LookupOptions options = speculation::lookup_options(specification);
  std::vector<std::vector<LookupRound>> requests;
  for (const ShadowTable& table : trained.texts().tables)
    requests.push_back(
        replay_lookup(table, options, trained.conditions, trained.costs.model.shape.vocab, guard));
  return requests;
}

Result<StrategyRounds> lookup_rounds(const TrainedRecording& trained, std::string_view strategy,
                                     PricedGuard* guard) {
  DRAFTSCOPE_TRY_ASSIGN(const auto requests, replayed_lookups(trained, strategy, guard));
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::replayed,
                        .vanilla = vanilla_steps(trained.texts().tables, trained.conditions),
                        .drafts = {speculation::DraftSublayers{}},
                        .categories = trained.texts().categories};
  rounds.setting.status = text_choice(*trained.recording).status;
  for (const std::vector<LookupRound>& request : requests) {
    rounds.setting.min_drafted.push_back(lookup_statistics(request));
    for (const LookupRound& round : request)
      rounds.setting.status = std::max(rounds.setting.status, round.status);
  }
  if (rounds.setting.status == AnswerStatus::bounded) rounds.setting.max_drafted = rounds.setting.min_drafted;
  if (speculation::strategy_name(strategy) == "token-recycling") {
    rounds.setting.status = std::max(rounds.setting.status, AnswerStatus::approximate);
    std::string source;
    (void)recorded_successors(trained, source);
    rounds.notes.push_back(
        source.empty()
            ? "what followed in the texts is taken to be kept: the target's best tokens behind rejected "
              "guesses are not recorded, of which a recorded run of token-recycling shows some"
            : fmt::format(
                  "what is kept behind each token is taken from the trees of run {} and from the texts",
                  source));
  }
  return rounds;
}

}  // namespace draftscope::simulator
