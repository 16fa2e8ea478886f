// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/to_size.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "rounds/drafts/drafted_positions.h"
#include "rounds/round_sources.h"
#include "strategies/predict.h"
#include "strategies/token-recycling/rule.h"

namespace draftscope::simulator {

namespace {

using KeptByTable = std::vector<std::vector<KeptSuccessors>>;

/// Adds the successors that the trees of a request's rounds show, but for tokens beyond the vocabulary.
void add_kept(const traces::Recording& recording, const RequestRows& rows, const ShadowTable& table,
              std::int32_t vocab, std::vector<KeptSuccessors>& kept) {
  const auto is_known = [&](std::int32_t token) { return token >= 0 && token < vocab; };
  for (const traces::Round& round : rows.rounds) {
    const auto tokens = draft_tokens_of(recording, round.id);
    std::vector<KeptSuccessors> behind(tokens.size() + 1);  // the root's, then the draft tokens'
    for (const traces::DraftToken& token : tokens)
      if (const std::size_t parent = to_size(token.parent + 1);
          parent < behind.size())  // its row may be gone
        behind[parent].successors.push_back(token.token);
    for (std::size_t i = 0; i < behind.size(); ++i) {
      if (behind[i].successors.empty() || round.root_position >= table.end()) continue;
      behind[i].root_position = round.root_position;
      behind[i].token =
          i == 0 ? table.text[static_cast<std::size_t>(round.root_position)] : tokens[i - 1].token;
      if (is_known(behind[i].token) && std::ranges::all_of(behind[i].successors, is_known))
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
  const std::vector<const RequestRows*> requests = requests_of_texts(trained, *widest);
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (requests[i] != nullptr)
      add_kept(*trained.recording, *requests[i], tables[i], trained.costs.model.shape.vocab, kept[i]);
  return kept;
}

using KnownRequests = std::vector<std::vector<LookupRound>>;

/// Rounds with the same accepted guesses, in which every tree that drafts has `nodes` guesses.
KnownRequests with_full_trees(KnownRequests requests, std::int32_t nodes) {
  for (std::vector<LookupRound>& request : requests)
    for (LookupRound& round : request)
      if (round.outcome.drafted > 0) round.outcome.drafted = std::max(round.outcome.drafted, nodes);
  return requests;
}

/// Predicts rounds from the known successors: recorded trees, or the texts alone.
Result<TextRounds> recycled_rounds(const TrainedRecording& trained,
                                   const speculation::StrategySpecification& strategy, PricedGuard* guard) {
  std::string source;
  const KeptByTable kept = recorded_successors(trained, source);
  const speculation::RecyclingOptions options = speculation::recycling_options(strategy);
  auto requests = replay_recycling(trained.texts().tables, kept, options, trained.conditions,
                                   trained.costs.model.shape.vocab, guard);
  std::vector<std::string> notes;
  if (source.empty())
    notes = {
        "what followed in the texts is taken to be kept; of the target's best tokens after rejected "
        "guesses only a recorded run of token-recycling shows some",
        "in the other case they fill every tree, and none is right"};
  else
    notes = {fmt::format("what is kept after each token is taken from the trees of run {} and from the texts",
                         source)};
  auto fewest = source.empty() ? with_full_trees(requests, options.nodes) : KnownRequests{};
  return TextRounds{.requests = std::move(requests),
                    .fewest = std::move(fewest),
                    .status = AnswerStatus::approximate,
                    .notes = std::move(notes)};
}

}  // namespace

StrategyPredictions predict_of_token_recycling() {
  return {.strategies = {{.name = "token-recycling", .text_rounds = recycled_rounds}}};
}

}  // namespace draftscope::simulator
