// SPDX-License-Identifier: GPL-3.0-or-later
// Predicts rounds of `auto` from recordings without it: its rule runs over the recorded texts, with predicted
// times.
#include <draftscope/base/counter_random.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/simulator/prices/scenario.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "prices/passes/cost_prices.h"
#include "rounds/replay/known_round.h"
#include "rounds/replay/policy.h"
#include "rounds/replay/priced_guard.h"
#include "rounds/replay/replay.h"
#include "rounds/round_sources.h"
#include "strategies/auto/predict_texts.h"
#include "strategies/auto/rule.h"
#include "strategies/auto/rule_drafters.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

/// Counts rounds by the kind of their draft.
struct AutoCounts {
  std::int64_t vanilla = 0;
  std::int64_t text = 0;
  std::vector<std::int64_t> by_drafter;
  std::int64_t drawn = 0;  ///< Rounds of drafters that depended on a drawn position.
};

struct SimulatedAuto {
  /// [text]. Draft i + 1 is drafter i; the draft after the drafters' is a guess, which no model drafts.
  std::vector<RoundStatistics> requests;
  AutoCounts counts;
};

using speculation::AutoChoice;
using speculation::AutoRule;
using speculation::JudgedToken;

constexpr std::uint64_t seed = 20261123;

/// Passes of the next-token layer: its draft step, then reads of 1, 2, 4 … states before it.
constexpr std::array<std::int32_t, 8> layer_rows{1, 1, 2, 4, 8, 16, 32, 64};

std::vector<AuxiliaryPass> layer_passes() {
  std::vector<AuxiliaryPass> passes(layer_rows.size(), next_token_step);
  for (std::size_t i = 1; i < passes.size(); ++i) {
    passes[i].rows = layer_rows[i];
    passes[i].has_head = false;
  }
  return passes;
}

std::int32_t layer_of(const AutoTexts& texts) {
  const auto layer = std::ranges::find_if(texts.drafters, &speculation::AutoDrafter::is_next_token_layer);
  return layer == texts.drafters.end() ? -1 : static_cast<std::int32_t>(layer - texts.drafters.begin());
}

/// Runs the rule over recorded texts, request by request as the engine does, with the times that prices give
/// its rounds. The rule keeps learning across requests. Prices cover the drafters', the guess's, and
/// verifications of one row more than the longest draft. `host_ns`: time that the recorded machine's host
/// takes outside passes, per round. O(text · drafters · longest draft).
class Simulator {
 public:
  Simulator(const AutoTexts& texts, const speculation::AutoOptions& options,
            const ReplayConditions& conditions, const Prices& prices, double host_ns, NoisyClock clock)
      : texts_(texts),
        conditions_(conditions),
        prices_{.prices = prices, .optimise_ns = host_ns * prices.host_ratio},
        host_ns_(host_ns),
        clock_(clock),
        guess_draft_(static_cast<std::int32_t>(texts.drafters.size()) + 1),
        layer_(layer_of(texts)),
        rule_(options) {
    result_.counts.by_drafter.resize(texts.drafters.size());
  }

  SimulatedAuto run() {
    for (std::size_t text = 0; text < texts_.tables.size(); ++text) add_request(text);
    return std::move(result_);
  }

 private:
  struct Ended {
    AutoChoice choice;
    speculation::RoundTimes times;
    std::int32_t emitted = 0;
  };

  void add_request(std::size_t text) {
    const ShadowTable& table = texts_.tables[text];
    const std::span known(table.text);
    CounterRandom random(seed, static_cast<std::uint64_t>(table.request_id.value()));
    RoundStatistics& statistics = result_.requests.emplace_back();
    rule_.begin_request(known.first(static_cast<std::size_t>(table.prompt_tokens)), known.size());
    std::optional<Ended> before;
    layer_valid_ = table.prompt_tokens - 1;  // The prefill reads all of the prompt but its last state.
    for (std::int32_t root = table.first - 1; has_round(table, root);) {
      // A round has ended when the next one is planned, as in the engine.
      if (before) rule_.end_round(before->choice, before->times, before->emitted);
      const RoundState state = state_at(table, conditions_, root);
      const auto so_far = known.first(static_cast<std::size_t>(root) + 1);
      const AutoChoice choice = rule_.choose(so_far, state.remaining - 1);
      const DraftOutcome outcome = draft(state, choice, so_far, random);
      rule_.judge(choice, judged(table, root, choice, outcome));
      const std::int32_t emitted = emitted_tokens(table, root, outcome.accepted);
      count(text, root, choice, outcome);
      const double layer_ns = run_layer(root, choice, outcome, statistics);
      const std::int32_t planned = planned_rows_of(state, choice);
      add_round(statistics, draft_of(choice), root, outcome, emitted, planned);
      before = Ended{choice, times(root, choice, outcome, planned, layer_ns), emitted};
      root += outcome.accepted + 1;
    }
    for (DraftStatistics& draft : statistics.drafts)
      if (draft.exit == guess_draft_ || draft.exit == layer_ + 1) draft.steps = {};
    statistics.host_ns = std::llround(host_ns_ * static_cast<double>(statistics.rounds));
  }

  [[nodiscard]] std::int32_t draft_of(const AutoChoice& choice) const {
    return choice.kind == AutoChoice::Kind::model ? choice.drafter + 1 : guess_draft_;
  }

  /// Rows that a drafter's verification is planned for; 0 = no more than it has.
  [[nodiscard]] std::int32_t planned_rows_of(const RoundState& state, const AutoChoice& choice) const {
    if (choice.kind != AutoChoice::Kind::model) return 0;
    return longest_draft(state, {.exit = choice.drafter + 1, .length = choice.length}, conditions_) + 1;
  }

  /// Adds the passes of the next-token layer, if it drafts, and returns their time.
  double run_layer(std::int32_t root, const AutoChoice& choice, const DraftOutcome& outcome,
                   RoundStatistics& statistics) {
    if (choice.drafter < 0 || choice.drafter != layer_ || outcome.drafted < 1) return 0.0;
    statistics.auxiliary.resize(layer_rows.size());
    double ns = 0.0;
    const auto run = [&](std::size_t kind, std::int32_t context) {
      ++statistics.auxiliary[kind].passes;
      statistics.auxiliary[kind].context += context;
      ns += prices_.prices.auxiliary[kind].at(context);
    };
    const std::int32_t first = root - 1;
    while (layer_valid_ < first) {
      std::size_t kind = layer_rows.size() - 1;
      while (kind > 1 && layer_rows[kind] > first - layer_valid_) --kind;
      run(kind, layer_valid_);
      layer_valid_ += layer_rows[kind];
    }
    for (std::int32_t step = 0; step < outcome.drafted; ++step) run(0, first + step);
    layer_valid_ = root;
    return ns;
  }

  DraftOutcome draft(const RoundState& state, const AutoChoice& choice, std::span<const std::int32_t> so_far,
                     CounterRandom& random) const {
    switch (choice.kind) {
      case AutoChoice::Kind::vanilla:
        break;
      case AutoChoice::Kind::text:
        return guessed(state, rule_.guess(so_far, choice));
      case AutoChoice::Kind::model:
        return drafted(texts_.behind_wrong[static_cast<std::size_t>(choice.drafter)], state,
                       {.exit = choice.drafter + 1, .length = choice.length, .threshold = choice.threshold},
                       random);
    }
    return {};
  }

  [[nodiscard]] DraftOutcome guessed(const RoundState& state, std::span<const std::int32_t> guess) const {
    const PlannedRound plan{.exit = guess_draft_, .length = static_cast<std::int32_t>(guess.size())};
    DraftOutcome outcome{.drafted = longest_draft(state, plan, conditions_)};
    for (; outcome.accepted < outcome.drafted; ++outcome.accepted) {
      const std::int32_t position = state.root_position + 1 + outcome.accepted;
      if (position >= state.table->end() || state.table->text[static_cast<std::size_t>(position)] !=
                                                guess[static_cast<std::size_t>(outcome.accepted)])
        break;
    }
    return outcome;
  }

  /// Outcome of a draft. After its first wrong token a draft continues while its confidence is high enough,
  /// and that confidence is drawn at random.
  [[nodiscard]] DraftOutcome drafted(const std::vector<float>& behind_wrong, const RoundState& state,
                                     const PlannedRound& plan, CounterRandom& random) const {
    const DraftWalk walk = walk_draft(state, plan, conditions_);
    DraftOutcome outcome = walk.least;
    if (behind_wrong.empty()) return outcome;
    while (outcome.drafted < walk.most.drafted &&
           static_cast<double>(behind_wrong[random.index(behind_wrong.size())]) >= plan.threshold)
      ++outcome.drafted;
    return outcome;
  }

  /// The draft's tokens that were verified after correct ones, as far as the text reaches.
  [[nodiscard]] std::span<const JudgedToken> judged(const ShadowTable& table, std::int32_t root,
                                                    const AutoChoice& choice, const DraftOutcome& outcome) {
    judged_.clear();
    if (choice.kind != AutoChoice::Kind::model) return judged_;
    for (std::int32_t k = 0; k < std::min(outcome.accepted + 1, outcome.drafted); ++k) {
      const std::int32_t position = root + 1 + k;
      if (position >= table.end()) break;
      judged_.push_back(
          {static_cast<double>(table.cell(position, choice.drafter + 1).probability), k < outcome.accepted});
    }
    return judged_;
  }

  [[nodiscard]] speculation::RoundTimes times(std::int32_t root, const AutoChoice& choice,
                                              const DraftOutcome& outcome, std::int32_t planned,
                                              double layer_ns) {
    const bool has_draft = outcome.drafted > 0;
    const bool is_model = has_draft && choice.kind == AutoChoice::Kind::model;
    KnownRound round;
    round.round.root_position = root;
    round.round.verify_rows = outcome.drafted + 1;
    round.draft = has_draft ? draft_of(choice) : 0;
    round.draft_steps = is_model && choice.drafter != layer_ ? outcome.drafted : 0;
    round.planned_rows = planned;
    const RoundTimes priced = round_times(round, prices_);
    const double noise = clock_.next();
    return {.rows = round.round.verify_rows,
            .steps = is_model ? outcome.drafted : 0,
            .drafter = choice.drafter,
            .round_ns = std::llround(noise * (priced.control_ns + priced.draft_ns + layer_ns +
                                              priced.verify_ns + priced.accept_ns + priced.optimise_ns)),
            .draft_ns = std::llround(noise * (priced.draft_ns + layer_ns))};
  }

  void count(std::size_t text, std::int32_t root, const AutoChoice& choice, const DraftOutcome& outcome) {
    AutoCounts& counts = result_.counts;
    if (outcome.drafted < 1) {
      ++counts.vanilla;
    } else if (choice.kind == AutoChoice::Kind::text) {
      ++counts.text;
    } else {
      const auto drafter = static_cast<std::size_t>(choice.drafter);
      ++counts.by_drafter[drafter];
      const std::vector<bool>& is_drawn = texts_.is_drawn[drafter][text];
      const auto first = static_cast<std::size_t>(root + 1 - texts_.tables[text].first);
      const auto judged = static_cast<std::size_t>(std::min(outcome.drafted, outcome.accepted + 1));
      bool went_by_drawn = false;
      for (std::size_t i = first; i < std::min(first + judged, is_drawn.size()); ++i)
        went_by_drawn = went_by_drawn || is_drawn[i];
      counts.drawn += went_by_drawn ? 1 : 0;
    }
  }

  const AutoTexts& texts_;
  const ReplayConditions& conditions_;
  RoundPrices prices_;
  double host_ns_;
  NoisyClock clock_;
  std::int32_t guess_draft_;
  std::int32_t layer_;            // the next-token layer's place among the drafters; -1 = none
  std::int32_t layer_valid_ = 0;  // states that the layer has read
  AutoRule rule_;
  std::vector<JudgedToken> judged_;
  SimulatedAuto result_;
};

using speculation::AutoDrafter;
using speculation::DraftSublayers;

DraftSublayers sublayers_of(const AutoDrafter& drafter, double target_bits) {
  DraftSublayers sublayers;
  if (drafter.is_next_token_layer()) return sublayers;  // Its passes are auxiliary ones.
  for (std::int32_t layer = 0; layer < drafter.mask.n_layers(); ++layer) {
    sublayers.attention += drafter.mask.runs_attention(layer) ? 1 : 0;
    sublayers.mlp += drafter.mask.runs_mlp(layer) ? 1 : 0;
  }
  const bool is_own = drafter.weights && weight_format_row(*drafter.weights).bits != target_bits;
  if (is_own) sublayers.weights = drafter.weights;
  return sublayers;
}

/// Time of a recorded run of auto outside its passes, per round.
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

/// Runs the rule over the recorded texts, with the times that its rounds would take on the machine, and with
/// the recorded tokens of its drafters (predict_texts.h).
Result<StrategyRounds> auto_rounds(const TrainedRecording& trained,
                                   const speculation::StrategySpecification& asked, std::string_view strategy,
                                   const Machine* machine) {
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
  rounds.drafts.emplace_back();  // The last draft is a guess, which no layer drafts.
  const CostModel& recorded = trained.costs.model;
  Scenario scenario = machine == nullptr ? fitted_scenario(recorded) : machine->scenario;
  scenario.drafts = for_shape(rounds, recorded.shape, scenario.shape).drafts;
  if (layer_of(texts) >= 0) rounds.auxiliary_passes = layer_passes();
  scenario.auxiliary_passes = rounds.auxiliary_passes;
  scenario.widths = options.max_length + 1;
  DRAFTSCOPE_TRY_ASSIGN(
      const PriceMap priced,
      PriceMap::make(machine == nullptr ? recorded : machine->costs_or(recorded), scenario));
  const double host_ns = recorded_host_ns(trained, automatic.name());
  const auto simulated_with = [&](const Prices& prices, NoisyClock clock) {
    return Simulator(texts, options, trained.conditions, prices, host_ns, clock).run();
  };
  SimulatedAuto simulated = simulated_with(priced.mean(), NoisyClock({}));
  rounds.setting = {
      .status = AnswerStatus::approximate, .min_drafted = std::move(simulated.requests), .max_drafted = {}};
  const std::vector<double> noise = recorded_noise(trained.runs, machine);
  const ClockedReplay replay = [&](const Prices& prices, NoisyClock clock) {
    return simulated_with(prices, clock).requests;
  };
  // These prices cover the longest draft that `auto` may choose.
  const MeanPrices mean = [&](std::int32_t /*widths*/) { return priced.mean(); };
  DRAFTSCOPE_TRY_ASSIGN(rounds.setting.max_drafted,
                        farthest_case(priced, mean, noise, rounds.setting.min_drafted, replay));
  if (!rounds.setting.max_drafted.empty()) rounds.notes.push_back(clocked_note(noise));
  add_notes(texts, simulated.counts, rounds);
  const auto is_in_fewer_bits = [](const AutoDrafter& drafter) { return drafter.weights.has_value(); };
  if (scenario.gpu && std::ranges::any_of(texts.drafters, is_in_fewer_bits))
    rounds.notes.emplace_back("its drafts in fewer bits are in the formats of the recorded machine");
  return rounds;
}

}  // namespace

StrategyPredictions predict_of_auto() {
  return {.strategies = {{.name = "auto", .rounds = auto_rounds}}};
}

}  // namespace draftscope::simulator
