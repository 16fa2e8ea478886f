// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/advice/answer_prices.h>
#include <draftscope/simulator/what_if/what_if.h>

#include <algorithm>
#include <map>
#include <utility>

#include "fitted_acceptance.h"

namespace draftscope::simulator {

namespace {

/// One request a prompt: what the repeats of a prompt have in common is no further evidence.
std::vector<ShadowTable> one_per_prompt(std::vector<ShadowTable> tables, const std::vector<RunRows>& runs,
                                        std::vector<std::string>& categories) {
  struct Place {
    std::int64_t prompt = 0;
    std::string category;
    std::tuple<bool, std::int32_t, std::int64_t>
        rank;  // the least is taken: vanilla, first repeat, first run
  };
  std::map<std::int64_t, Place> places;
  for (const RunRows& run : runs)
    for (const RequestRows& rows : run.requests)
      places[rows.request->id] = {
          rows.prompt->id, rows.prompt->category, {!run.run->is_baseline, rows.request->repeat, run.run->id}};
  std::map<std::int64_t, std::size_t> chosen;  // by prompt
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto place = places.find(tables[i].request);
    if (place == places.end()) continue;
    const auto [known, is_new] = chosen.try_emplace(place->second.prompt, i);
    if (!is_new && place->second.rank < places[tables[known->second].request].rank) known->second = i;
  }
  std::vector<ShadowTable> kept;
  for (const auto& [prompt, index] : chosen) {
    categories.push_back(places[tables[index].request].category);
    kept.push_back(std::move(tables[index]));
  }
  return kept;
}

/// Counts of one run's rounds that no price distinguishes.
struct Totals {
  RoundStatistics sum;
  std::int64_t verifications = 0;
  std::int64_t steps = 0;
};

Totals totals_of(const SweepSetting& setting) {
  Totals totals;
  for (const RoundStatistics& request : setting.least) add(totals.sum, request);
  for (const DraftStatistics& draft : totals.sum.drafts) {
    totals.steps += draft.steps.passes;
    for (const PassCount& verify : draft.verify) totals.verifications += verify.passes;
  }
  return totals;
}

/// Before the round's last draft step, or its verification.
std::int32_t longest_context(const traces::Round& round) {
  return round.root_position + round.tree_depth;
}

double ratio(double numerator, double denominator) {
  return denominator > 0.0 ? numerator / denominator : 0.0;
}

double time_of(const PassCount& passes, const AffineTime& time) {
  return static_cast<double>(passes.passes) * time.ns +
         static_cast<double>(passes.context) * time.ns_per_context_row;
}

/// c, v and o as means over the rounds, in units of the mean vanilla step of the same texts.
void fill_costs(Answer& answer, const StrategyRounds& rounds, const Prices& prices) {
  const Totals totals = totals_of(rounds.setting);
  PassCount vanilla;
  for (const PassCount& steps : rounds.vanilla) {
    vanilla.passes += steps.passes;
    vanilla.context += steps.context;
  }
  const double vanilla_ns =
      time_of(vanilla, prices.target_step) + static_cast<double>(vanilla.passes) * prices.step_round_ns;
  double step_ns = 0.0;
  double verify_ns = 0.0;
  for (const DraftStatistics& draft : totals.sum.drafts) {
    const DraftPrices& price = prices.drafts[static_cast<std::size_t>(draft.exit)];
    step_ns += time_of(draft.steps, price.step);
    for (std::size_t rows = 2; rows < draft.verify.size(); ++rows)
      verify_ns += time_of(draft.verify[rows], price.verify[rows]);
  }
  const double time = time_ns(totals.sum, prices);
  answer.tokens = static_cast<double>(totals.sum.tokens);
  answer.mean_accepted_length = ratio(answer.tokens, static_cast<double>(totals.sum.rounds));
  answer.acceptance_rate =
      ratio(static_cast<double>(totals.sum.accepted), static_cast<double>(totals.sum.drafted));
  answer.steps_per_round = ratio(static_cast<double>(totals.steps), static_cast<double>(totals.sum.rounds));
  answer.target_step_ns = ratio(vanilla_ns, static_cast<double>(vanilla.passes));
  answer.c = ratio(ratio(step_ns, static_cast<double>(totals.steps)), answer.target_step_ns);
  answer.v = ratio(ratio(verify_ns, static_cast<double>(totals.verifications)), answer.target_step_ns);
  answer.o = totals.verifications > 0 ? ratio(prices.round_ns, answer.target_step_ns) : 0.0;
  answer.vanilla_tokens_per_second = 1e9 * ratio(answer.tokens, vanilla_ns);
  answer.tokens_per_second = 1e9 * ratio(answer.tokens, time);
}

double searches_ns(double vanilla_steps, const Prices& prices) {
  return vanilla_steps * (prices.target_step.ns + prices.step_round_ns);
}

void slow_down(RatioEstimate& estimate, double ratio) {
  estimate.value /= ratio;
  for (std::optional<Interval>* const interval : {&estimate.interval_80, &estimate.interval_95})
    if (*interval) **interval = {(*interval)->low / ratio, (*interval)->high / ratio};
}

/// The strategy's own time is `ratio` times what prices say, vanilla decoding's is not.
void slow_down(Answer& answer, double ratio) {
  answer.tokens_per_second /= ratio;
  for (SpeedupPrediction* const side :
       {&answer.speedup.min_drafted, answer.speedup.max_drafted ? &*answer.speedup.max_drafted : nullptr}) {
    if (side == nullptr) continue;
    slow_down(side->total, ratio);
    slow_down(side->request_mean, ratio);
  }
}

/// Mean prices and their draws, with what the strategy spends beside the passes that prices cover.
SweepTarget target_of(const PriceMap& map, const StrategyRounds& rounds, const std::string& name,
                      std::uint64_t seed) {
  const auto with_searches = [steps = rounds.optimise_steps_per_round](Prices prices) {
    prices.round_ns += searches_ns(steps, prices);
    return prices;
  };
  return SweepTarget{.name = name,
                     .prices = with_searches(map.mean()),
                     .draws = [map, seed, with_searches](std::uint64_t draw, PriceSources vary) {
                       Prices prices;
                       map.draw(seed, draw, vary, prices);
                       return with_searches(std::move(prices));
                     }};
}

}  // namespace

double optimise_ns_per_round(const StrategyRounds& rounds, const Prices& prices) {
  return searches_ns(rounds.optimise_steps_per_round, prices);
}

std::string_view round_source_name(RoundSource source) {
  constexpr std::array<std::string_view, 3> names{"recorded", "replayed", "modelled"};
  return names[static_cast<std::size_t>(source)];
}

Result<WhatIf> WhatIf::learn(traces::Reader& reader, const traces::Recording& recording,
                             const WhatIfOptions& options) {
  constexpr std::int64_t parts = 3;  // shadow tokens, times, the fit to them
  std::int64_t done = 0;
  const auto go_on = [&] { return !options.progress || options.progress(done, parts); };
  const auto stopped = [] { return fail("learning was stopped"); };
  WhatIf what_if;
  what_if.recording_ = &recording;
  what_if.runs_ = rows_by_run(recording);
  what_if.fitted_acceptance_ = std::make_shared<FittedAcceptance>();
  auto tables = shadow_tables(reader, recording, go_on);
  ++done;
  if (!go_on()) return stopped();
  if (tables)
    what_if.tables_ = one_per_prompt(*std::move(tables), what_if.runs_, what_if.table_categories_);
  else
    what_if.no_tables_reason_ = tables.error().message;
  if (what_if.tables_.empty())
    what_if.texts_ = one_per_prompt(text_tables(recording), what_if.runs_, what_if.text_categories_);
  auto conditions = replay_conditions(recording);
  if (conditions)
    what_if.conditions_ = *std::move(conditions);
  else if (!what_if.tables_.empty())
    return tl::unexpected(std::move(conditions).error());
  else
    what_if.no_conditions_reason_ = std::move(conditions).error().message;
  if (options.specified) {
    what_if.costs_.model = *options.specified;
    return what_if;
  }
  DRAFTSCOPE_TRY_ASSIGN(CostObservations observations, read_cost_observations(reader, recording, {}, go_on));
  ++done;
  if (!go_on()) return stopped();
  DRAFTSCOPE_TRY_ASSIGN(what_if.costs_, fit_cost_model(observations, options.recorded_on));
  what_if.measured_runs_ = std::move(observations.runs);
  return what_if;
}

Scenario WhatIf::recorded_scenario() const {
  Scenario scenario = fitted_scenario(costs_.model);
  if (costs_.model.from_trace) return scenario;
  std::int32_t longest = 0;
  for (const RunRows& run : runs_)
    for (const RequestRows& request : run.requests)
      if (!request.rounds.empty()) longest = std::max(longest, longest_context(request.rounds.back()));
  if (longest > 0) scenario.context = longest;
  return scenario;
}

Result<PriceMap> WhatIf::price_map(const StrategyRounds& rounds, const Machine& machine) const {
  return PriceMap::make(machine.costs_or(costs_.model), answer_scenario(rounds, machine));
}

Result<Prices> WhatIf::prices(const StrategyRounds& rounds, const Machine& machine) const {
  DRAFTSCOPE_TRY_ASSIGN(const PriceMap map, price_map(rounds, machine));
  return map.mean();
}

Result<Answer> WhatIf::ask(const StrategyRounds& rounds, const Machine& machine, const SweepOptions& options,
                           bool with_budget) const {
  DRAFTSCOPE_TRY_ASSIGN(const PriceMap map, price_map(rounds, machine));
  const SweepTarget priced = target_of(map, rounds, machine.name, options.seed);
  Answer answer{.status = rounds.setting.status,
                .strategy = rounds.strategy,
                .machine = machine.name,
                .source = rounds.source,
                .notes = rounds.notes};
  fill_costs(answer, rounds, priced.prices);
  DRAFTSCOPE_TRY_ASSIGN(answer.speedup, predict_speedup(rounds.vanilla, rounds.setting, priced, options));
  if (map.is_as_recorded()) slow_down(answer, rounds.own_ratio);
  if (with_budget && answer.speedup.min_drafted.total.interval_95) {
    DRAFTSCOPE_TRY_ASSIGN(answer.budget, variance_budget(rounds.vanilla, rounds.setting, priced, options));
  }
  answer.cost_notes = machine.cost_notes;
  answer.cost_notes.insert(answer.cost_notes.end(), map.notes().begin(), map.notes().end());
  return answer;
}

Result<PredictedRate> WhatIf::rate(const StrategyRounds& rounds, const Machine& machine,
                                   const SweepOptions& options) const {
  DRAFTSCOPE_TRY_ASSIGN(const PriceMap map, price_map(rounds, machine));
  DRAFTSCOPE_TRY_ASSIGN(
      PredictedRate rate,
      predict_rate(rounds.setting, target_of(map, rounds, machine.name, options.seed), options));
  if (!map.is_as_recorded()) return rate;
  slow_down(rate.min_drafted, rounds.own_ratio);
  if (rate.max_drafted) slow_down(*rate.max_drafted, rounds.own_ratio);
  return rate;
}

}  // namespace draftscope::simulator
