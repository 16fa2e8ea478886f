// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds of `auto` where it did not run: its rule over the recorded texts, with predicted times.
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/auto/auto_policy.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "prices/passes/cost_prices.h"
#include "rounds/auto_texts.h"
#include "rounds/replay/policies.h"
#include "rounds/round_sources.h"
#include "rounds/simulated_auto.h"

namespace draftscope::simulator {

namespace {

using speculation::AutoDrafter;
using speculation::DraftSublayers;

DraftSublayers sublayers_of(const AutoDrafter& drafter, double target_bits) {
  DraftSublayers sublayers;
  for (std::int32_t layer = 0; layer < drafter.mask.n_layers(); ++layer) {
    sublayers.attention += drafter.mask.runs_attention(layer) ? 1 : 0;
    sublayers.mlp += drafter.mask.runs_mlp(layer) ? 1 : 0;
  }
  if (drafter.weights) sublayers.weights_share = weight_format_row(*drafter.weights).bits / target_bits;
  return sublayers;
}

/// Time of a recorded run of auto beside its passes, per round.
double recorded_host_ns(const TrainedRecording& trained, const std::string& name) {
  const auto host = std::ranges::find(trained.hosts, name, &HostOfRun::strategy);
  return host == trained.hosts.end() ? 0.0 : std::max(host->ns_per_round, 0.0);
}

std::string choices_note(const AutoTexts& texts, const AutoCounts& counts) {
  std::int64_t all = counts.vanilla + counts.text;
  for (const std::int64_t rounds : counts.by_drafter) all += rounds;
  const auto share = [&](std::int64_t rounds) {
    return 100.0 * static_cast<double>(rounds) / static_cast<double>(std::max<std::int64_t>(all, 1));
  };
  std::vector<std::string> parts{fmt::format("{:.0f} % no draft", share(counts.vanilla)),
                                 fmt::format("{:.0f} % a guess from the text", share(counts.text))};
  for (std::size_t i = 0; i < texts.drafters.size(); ++i)
    parts.push_back(fmt::format("{:.0f} % {}", share(counts.by_drafter[i]), texts.drafters[i].name));
  return fmt::format("of {} rounds {}", all, fmt::join(parts, ", "));
}

void add_notes(const AutoTexts& texts, const AutoCounts& counts, StrategyRounds& rounds) {
  rounds.notes.emplace_back(
      "auto's rule ran over the recorded texts with predicted times: guesses from the text are exact, which "
      "round takes what is modelled");
  rounds.notes.push_back(choices_note(texts, counts));
  rounds.notes.insert(rounds.notes.end(), texts.notes.begin(), texts.notes.end());
  if (counts.drawn > 0)
    rounds.notes.push_back(
        fmt::format("{} rounds go by positions that were not drafted, drawn from a model of acceptance (two "
                    "hidden states)",
                    counts.drawn));
}

}  // namespace

Result<StrategyRounds> auto_rounds(const TrainedRecording& trained, std::string_view strategy,
                                   const Machine* machine) {
  DRAFTSCOPE_TRY_ASSIGN(const auto asked, speculation::parse_strategy(strategy, trained.n_layers()));
  DRAFTSCOPE_TRY_ASSIGN(const auto automatic,
                        speculation::with_policy_read(asked, trained.costs.model.shape));
  DRAFTSCOPE_TRY_ASSIGN(const AutoTexts texts, auto_texts(trained, automatic));
  const speculation::AutoOptions options = speculation::auto_options(automatic, texts.drafters);
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::modelled,
                        .vanilla = vanilla_steps(texts.tables, trained.conditions),
                        .categories = trained.texts().categories};
  const double bits = recorded_target(trained.recording->meta).bits;
  for (const AutoDrafter& drafter : texts.drafters) rounds.drafts.push_back(sublayers_of(drafter, bits));
  rounds.drafts.emplace_back();  // a guess, which no layer drafts
  const CostModel& recorded = trained.costs.model;
  Scenario scenario = machine == nullptr ? fitted_scenario(recorded) : machine->scenario;
  scenario.drafts = for_shape(rounds, recorded.shape, scenario.shape).drafts;
  scenario.widths = options.max_length + 1;
  DRAFTSCOPE_TRY_ASSIGN(const Prices priced,
                        prices(machine == nullptr ? recorded : machine->costs_or(recorded), scenario));
  SimulatedAuto simulated =
      simulate_auto(texts, options, trained.conditions, priced, recorded_host_ns(trained, automatic.name()));
  rounds.setting = {
      .status = AnswerStatus::approximate, .min_drafted = std::move(simulated.requests), .max_drafted = {}};
  add_notes(texts, simulated.counts, rounds);
  const auto is_in_fewer_bits = [](const AutoDrafter& drafter) { return drafter.weights.has_value(); };
  if (scenario.gpu && std::ranges::any_of(texts.drafters, is_in_fewer_bits))
    rounds.notes.emplace_back("its drafts in fewer bits are in the formats of the recorded machine");
  return rounds;
}

}  // namespace draftscope::simulator
