// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/auto/predict_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "analysis/run_specification.h"
#include "rounds/drafts/drafted_positions.h"
#include "rounds/replay/replay.h"
#include "strategies/auto/predict_texts.h"

namespace draftscope::simulator {

namespace {

using speculation::AutoChoice;
using speculation::AutoRule;
using speculation::JudgedToken;

class Replayer {
 public:
  Replayer(const traces::Recording& recording, std::span<const speculation::AutoDrafter> drafters,
           std::int32_t max_new_tokens, const speculation::AutoOptions& options)
      : recording_(recording), drafters_(drafters), max_new_tokens_(max_new_tokens), options_(options) {}

  std::vector<AutoChoice> choices(const RequestRows& rows) {
    AutoRule& rule = rules_.try_emplace(rows.request->repeat, options_).first->second;
    const std::vector<std::int32_t>& prompt = rows.prompt->tokens;
    std::vector<std::int32_t> text = prompt;
    text.insert(text.end(), rows.request->tokens.begin(), rows.request->tokens.end());
    rule.begin_request(prompt, text.size());
    std::vector<AutoChoice> choices;
    for (std::size_t i = 0; i < rows.rounds.size(); ++i) {
      const traces::Round& round = rows.rounds[i];
      if (i > 0)
        rule.end_round(choices.back(), times(rows, i - 1, choices.back()), rows.rounds[i - 1].emitted);
      const std::size_t known = std::min(static_cast<std::size_t>(round.root_position) + 1, text.size());
      const auto emitted = static_cast<std::int32_t>(known - std::min(known, prompt.size()));
      choices.push_back(rule.choose(std::span(text).first(known), max_new_tokens_ - emitted - 1));
      rule.judge(choices.back(), judged(round, choices.back()));
    }
    return choices;
  }

 private:
  [[nodiscard]] speculation::RoundTimes times(const RequestRows& rows, std::size_t i,
                                              const AutoChoice& choice) const {
    const traces::Round& round = rows.rounds[i];
    return {.rows = round.drafted + 1,
            .steps = has_model_draft(round, choice) ? round.tree_depth : 0,
            .drafter = choice.drafter,
            .round_ns = rows.rounds[i + 1].start_ns - round.start_ns,
            .draft_ns = round.draft_ns};
  }

  /// Tokens of a model's draft that were verified after correct ones.
  [[nodiscard]] std::span<const JudgedToken> judged(const traces::Round& round, const AutoChoice& choice) {
    judged_.clear();
    if (!has_model_draft(round, choice)) return judged_;
    const auto tokens = draft_tokens_of(recording_, round.id);
    const auto tested = static_cast<std::size_t>(std::min(round.accepted + 1, round.drafted));
    for (const traces::DraftToken& token : tokens.first(std::min(tested, tokens.size())))
      judged_.push_back({token.confidence, token.index < round.accepted});
    return judged_;
  }

  /// No layer set describes the rounds of a next-token layer.
  [[nodiscard]] bool has_model_draft(const traces::Round& round, const AutoChoice& choice) const {
    return round.layer_set_id != 0 ||
           (choice.drafter >= 0 && round.drafted > 0 &&
            drafters_[static_cast<std::size_t>(choice.drafter)].is_next_token_layer());
  }

  const traces::Recording& recording_;
  std::span<const speculation::AutoDrafter> drafters_;
  std::int32_t max_new_tokens_;
  const speculation::AutoOptions& options_;
  std::map<std::int32_t, AutoRule> rules_;  // one rule per repeat
  std::vector<JudgedToken> judged_;
};

/// Describes the difference between the rule's choice and the round's plan; empty = none.
std::string difference(const traces::Round& round, const LayerSetsById& sets, const AutoChoice& choice,
                       std::span<const speculation::AutoDrafter> drafters) {
  if (round.planned != choice.length)
    return fmt::format("planned {}, replay says {}", round.planned, choice.length);
  if (round.threshold != choice.threshold)
    return fmt::format("threshold {}, replay says {}", round.threshold, choice.threshold);
  const auto set = sets.find(round.layer_set_id);
  const std::string_view recorded = set == sets.end() ? std::string_view() : set->second->origin;
  const bool has_set = choice.drafter >= 0 && round.drafted > 0 &&
                       !drafters[static_cast<std::size_t>(choice.drafter)].is_next_token_layer();
  const std::string_view replayed =
      has_set ? drafters[static_cast<std::size_t>(choice.drafter)].name : std::string_view();
  if (recorded != replayed) return fmt::format("drafted by '{}', replay says '{}'", recorded, replayed);
  return "";
}

}  // namespace

bool is_auto(const traces::Run& run, std::int32_t n_layers) {
  const auto specification = run_specification(run, n_layers);
  return specification && specification->name() == "auto";
}

Result<AutoReplay> replay_auto(const RunRows& run, const traces::Recording& recording) {
  DRAFTSCOPE_TRY_ASSIGN(const ModelShape shape, recorded_shape(recording.meta));
  DRAFTSCOPE_TRY_ASSIGN(const auto automatic, run_specification(*run.run, shape.n_layers));
  if (automatic.name() != "auto")
    return fail("run {}: found strategy {}, expected auto", run.run->specification, automatic.name());
  DRAFTSCOPE_TRY_ASSIGN(const ReplayConditions conditions, replay_conditions(recording));
  AutoReplay replay;
  DRAFTSCOPE_TRY_ASSIGN(replay.drafters, speculation::auto_drafters(automatic, shape.n_layers,
                                                                    recorded_target(recording.meta)));
  const speculation::AutoOptions options = speculation::auto_options(automatic, replay.drafters);
  Replayer replayer(recording, replay.drafters, conditions.max_new_tokens, options);
  for (const RequestRows& rows : run.requests) replay.choices.push_back(replayer.choices(rows));
  return replay;
}

Result<ReplayCheck> auto_replays_recorded(const RunRows& run, const traces::Recording& recording) {
  DRAFTSCOPE_TRY_ASSIGN(const AutoReplay replay, replay_auto(run, recording));
  const LayerSetsById sets = layer_sets_by_id(recording);
  ReplayCheck check;
  for (std::size_t i = 0; i < run.requests.size(); ++i) {
    const RequestRows& rows = run.requests[i];
    ++check.requests;
    for (std::size_t k = 0; k < rows.rounds.size(); ++k) {
      const std::string found = difference(rows.rounds[k], sets, replay.choices[i][k], replay.drafters);
      if (!found.empty()) {
        check.status = AnswerStatus::invalid;
        check.reason = fmt::format("request {} round {}: {}", rows.request->id, rows.rounds[k].index, found);
        return check;
      }
      ++check.rounds;
      ++check.exact_rounds;
    }
  }
  return check;
}

}  // namespace draftscope::simulator
