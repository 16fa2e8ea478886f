// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/speculation/strategy_text.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analysis/run_specification.h"
#include "answers/advice/choice.h"
#include "answers/advice/prompt_order.h"
#include "rounds/drafts/same_draft.h"
#include "rounds/priced_scenario.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/round_sources.h"
#include "strategies/auto/predict_texts.h"

namespace draftscope::simulator {

namespace {

constexpr std::size_t not_in_order = static_cast<std::size_t>(-1);

bool drafts_anything(const StrategyRounds& rounds) {
  return std::any_of(rounds.setting.min_drafted.begin(), rounds.setting.min_drafted.end(),
                     [](const RoundStatistics& request) { return request.drafted > 0; });
}

/// The setting without its verified layers.
std::string drafts(const EarlyExitSetting& setting) {
  std::string text = setting.threshold ? "mix:stop=threshold," : "layerskip:";
  text += fmt::format("exit={},gamma={}", setting.exit, setting.gamma);
  if (setting.threshold) text += fmt::format(",threshold={}", *setting.threshold);
  return text;
}

std::string verifies(VerifiedLayers layers) {
  return layers == VerifiedLayers::above_exit ? ",verify=above-exit" : ",verify=all-layers";
}

/// The setting as the recording names it. A recorded run without verified layers may have used an earlier
/// version's default.
std::string name_in(const TrainedRecording& trained, const EarlyExitSetting& setting) {
  const std::string unsaid = drafts(setting);
  const RunRows* run = recorded_run(trained, unsaid);
  if (run == nullptr) return specification(setting);
  return verified_layers(*run->run) == setting.verified_layers ? unsaid
                                                               : unsaid + verifies(setting.verified_layers);
}

bool drafts_with_exit(const speculation::StrategySpecification& strategy) {
  return strategy.drafts_with(speculation::MaskLayers::below_exit);
}

class CandidateCollector {
 public:
  CandidateCollector(const WhatIf& what_if, const traces::Recording& recording,
                     const CandidateOptions& options)
      : what_if_(what_if), recording_(recording), options_(options) {}

  Result<Candidates> collect() {
    DRAFTSCOPE_TRY(check_texts(what_if_, recording_));
    DRAFTSCOPE_TRY_ASSIGN(found_.vanilla, vanilla_rounds(what_if_, recording_));
    found_.prompts = table_prompts(what_if_.trained().texts().tables, recording_);
    add_recorded_runs();
    for (const std::string& strategy : options_.strategies) {
      DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, what_if_.rounds(strategy));
      add(std::nullopt, std::move(rounds));
    }
    add_other_lengths();
    add_lookups();
    if (options_.learners) add_learners();
    DRAFTSCOPE_TRY(add_grid());
    DRAFTSCOPE_TRY(keep_considered());
    return std::move(found_);
  }

 private:
  Result<void> keep_considered() {
    found_.considered = options_.considered;
    if (options_.considered == Considered::everything) return {};
    std::erase_if(found_.all, [&](Candidate& candidate) {
      candidate.is_of_kind = is_of_kind(candidate);
      return !candidate.is_of_kind &&
             std::ranges::find(options_.strategies, candidate.rounds.strategy) == options_.strategies.end();
    });
    if (found_.all.empty())
      return fail("found no setting of {}, expected one to consider", considered_name(options_.considered));
    return {};
  }

  [[nodiscard]] bool is_of_kind(const Candidate& candidate) const {
    if (options_.considered == Considered::early_exits) return candidate.setting.has_value();
    return std::ranges::any_of(recording_.runs, [&](const traces::Run& run) {
      return !run.is_baseline && run.specification == candidate.rounds.strategy;
    });
  }

  void add_recorded_runs() {
    for (const traces::Run& run : recording_.runs) {
      if (run.is_baseline) continue;
      auto rounds = what_if_.rounds(run.specification);
      if (rounds)
        add(std::nullopt, *std::move(rounds));
      else
        found_.left_out.push_back(rounds.error().message);
    }
  }

  /// Adds other lengths of recorded drafts that are no exits; the grid of exits is added separately.
  void add_other_lengths() {
    for (const traces::Run& run : recording_.runs) {
      const auto strategy = run_specification(run, what_if_.trained().n_layers());
      if (run.is_baseline || !strategy || draft_key(*strategy).empty() || drafts_with_exit(*strategy))
        continue;
      for (const std::int32_t gamma : options_.lengths)
        add_if_answered(speculation::set_parameter(run.specification, "gamma", std::to_string(gamma)));
    }
  }

  void add_lookups() {
    for (const std::int32_t length : options_.lengths)
      add_if_answered(fmt::format("prompt-lookup:length={}", length));
  }

  /// Adds `auto` without the drafters that have no recorded data.
  void add_learners() {
    add_if_answered("suffix-decoding");
    if (const auto strategy = known_auto(what_if_.trained())) add_if_answered(*strategy);
  }

  void add_if_answered(const std::string& strategy) {
    if (auto rounds = what_if_.rounds(strategy)) add(std::nullopt, *std::move(rounds));
  }

  /// All exits where every layer's predictions were recorded, else those that a run drafted with.
  [[nodiscard]] std::set<std::int32_t> exits() const {
    std::set<std::int32_t> exits;
    const TrainedRecording& trained = what_if_.trained();
    if (!trained.shadowed.tables.empty())
      for (std::int32_t exit = 1; exit < trained.shadowed.tables.front().n_layers; ++exit) exits.insert(exit);
    for (const traces::Run& run : recording_.runs) {
      const auto strategy = run_specification(run, trained.n_layers());
      if (strategy && drafts_with_exit(*strategy)) exits.insert(strategy->integer("exit"));
    }
    return exits;
  }

  Result<void> add_grid() {
    std::vector<EarlyExitSetting> settings;
    for (const std::int32_t exit : exits()) {
      for (std::int32_t gamma = 1; gamma <= options_.longest; ++gamma)
        settings.push_back({.exit = exit, .gamma = gamma});
      for (const std::int32_t gamma : options_.threshold_lengths)
        for (const double threshold : options_.thresholds)
          settings.push_back({.exit = exit, .gamma = gamma, .threshold = threshold});
    }
    const auto count = static_cast<std::int64_t>(settings.size());
    std::int64_t done = 0;
    const bool knows_all = !what_if_.trained().shadowed.tables.empty();
    for (EarlyExitSetting setting : settings) {
      auto answered = what_if_.rounds(name_in(what_if_.trained(), setting));
      if (options_.progress && !options_.progress(++done, count)) return fail("stopped");
      // The drafts of a run may lack data that a setting needs, such as confidences.
      if (!answered && !knows_all) continue;
      DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, std::move(answered));
      // The verified layers of a round change only its price.
      StrategyRounds above = rounds;
      add(setting, std::move(rounds));
      setting.verified_layers = above.verified_layers = VerifiedLayers::above_exit;
      above.strategy = name_in(what_if_.trained(), setting);
      // For a recorded run the rounds are in the run's order, and rounds with other verified layers were not
      // recorded.
      if (above.source == RoundSource::recorded ||
          recorded_run(what_if_.trained(), above.strategy) != nullptr) {
        DRAFTSCOPE_TRY_ASSIGN(above, what_if_.rounds(above.strategy));
      }
      add(setting, std::move(above));
    }
    return {};
  }

  void add(const std::optional<EarlyExitSetting>& setting, StrategyRounds rounds) {
    if (!drafts_anything(rounds)) return;
    const auto [known, is_new] = places_.try_emplace(specification_key(rounds.strategy), found_.all.size());
    if (!is_new) {
      if (known->second < found_.all.size()) found_.all[known->second].setting = setting;
      return;
    }
    auto ordered = in_order_of(found_.prompts, found_.vanilla, std::move(rounds));
    if (!ordered) {
      found_.left_out.push_back(ordered.error().message);
      known->second = not_in_order;
      return;
    }
    found_.all.push_back({setting, *std::move(ordered)});
  }

  const WhatIf& what_if_;
  const traces::Recording& recording_;
  const CandidateOptions& options_;
  Candidates found_;
  std::map<std::string, std::size_t> places_;  // Indices into found_.all.
};

}  // namespace

std::string_view considered_name(Considered considered) {
  constexpr std::array<std::string_view, all_considered.size()> names{"everything", "early-exits",
                                                                      "recorded-runs"};
  return names[static_cast<std::size_t>(considered)];
}

std::string specification(const EarlyExitSetting& setting) {
  std::string text = drafts(setting);
  if (setting.verified_layers != specified_verified_layers(text)) text += verifies(setting.verified_layers);
  return text;
}

std::optional<EarlyExitSetting> early_exit_of(const traces::Run& run, const traces::Recording& recording) {
  const bool is_import = traces::is_imported(recording.meta);
  if (!speculation::strategy_row(speculation::strategy_name(run.specification)).is_plain_exit)
    return std::nullopt;
  if (is_import && run.specification.find("exit=") == std::string::npos) return std::nullopt;
  // An imported file does not give the number of layers of its model.
  constexpr std::int32_t max_layers = 4096;
  const auto model =
      is_import ? Result<ReplayModel>(ReplayModel{.n_layers = max_layers}) : replay_model(recording);
  if (!model) return std::nullopt;
  const auto choice = policy_of_specification(run.specification, *model);
  if (!choice || choice->policy == nullptr) return std::nullopt;
  PlannedRound plan;
  choice->policy->plan({}, plan);
  return EarlyExitSetting{
      .exit = plan.exit,
      .gamma = plan.length,
      .threshold = {},
      .verified_layers = is_import ? specified_verified_layers(run.specification) : verified_layers(run)};
}

Candidates on_machine(Candidates found, const WhatIf& what_if, const Machine& machine) {
  std::erase_if(found.all, [&](Candidate& candidate) {
    if (const auto fewer =
            check_draft_weights(what_if.costs().model, answer_scenario(candidate.rounds, machine));
        !fewer) {
      found.left_out.push_back(fmt::format("{}: {}", candidate.rounds.strategy, fewer.error().message));
      return true;
    }
    if (!goes_by_times(candidate.rounds.strategy)) return false;
    auto rounds = what_if.rounds(candidate.rounds.strategy, machine);
    if (rounds) rounds = in_order_of(found.prompts, found.vanilla, *std::move(rounds));
    if (!rounds) {
      found.left_out.push_back(rounds.error().message);
      return true;
    }
    candidate.rounds = *std::move(rounds);
    return false;
  });
  return found;
}

Result<Candidates> candidates(const WhatIf& what_if, const traces::Recording& recording,
                              const CandidateOptions& options) {
  return CandidateCollector(what_if, recording, options).collect();
}

}  // namespace draftscope::simulator
