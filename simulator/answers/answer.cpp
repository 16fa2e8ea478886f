// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/rounds/round_prices.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "analysis/explain/thresholds.h"
#include "answers/uncertainty/confidence_draws.h"
#include "prices/passes/cost_prices.h"
#include "prices/passes/normal_draws.h"
#include "rounds/priced_scenario.h"

namespace draftscope::simulator {

namespace {

double ratio(double numerator, double denominator) {
  return denominator > 0.0 ? numerator / denominator : 0.0;
}

/// c, v and o as means over the rounds, in units of the mean vanilla step of the same texts, so that the
/// speedup is M / (γ̄·c + v + o). A recorded run's own ones are the measured ones where the question is about
/// its drafts on the recorded machine (`is_as_measured`).
void fill_costs(Answer& answer, const StrategyRounds& rounds, const Prices& prices, bool is_as_measured) {
  const RoundStatistics sum = sum_of(rounds.setting.min_drafted);
  const PartTimes priced = part_times(sum, rounds.auxiliary_passes, prices);
  const PartTimes parts = own_ratios(priced, rounds, is_as_measured ? rounds.own_ratio : 1.0).of(priced);
  const PassCount vanilla = sum_of(rounds.vanilla);
  const double vanilla_ns = vanilla_time_ns(vanilla, prices);
  const double time = parts.all_ns();
  const double vanilla_ratio = is_as_measured ? rounds.vanilla_ratio : 1.0;
  const auto all_rounds = static_cast<double>(sum.rounds);
  answer.tokens = static_cast<double>(sum.tokens);
  answer.mean_accepted_length = ratio(static_cast<double>(vanilla.passes), all_rounds);
  answer.tokens_per_round = ratio(answer.tokens, all_rounds);
  answer.acceptance_rate = ratio(static_cast<double>(sum.accepted), static_cast<double>(sum.drafted));
  answer.drafting_share = 1.0 - ratio(static_cast<double>(sum.target_steps.passes), all_rounds);
  answer.steps_per_round = ratio(static_cast<double>(parts.steps), all_rounds);
  const double step_ns = ratio(vanilla_ns, static_cast<double>(vanilla.passes));
  const double unit_ns = step_ns * all_rounds;
  const double without_step_ns = parts.steps > 0 ? 0.0 : parts.draft_ns;
  answer.target_step_ns = vanilla_ratio * step_ns;
  answer.c = ratio(ratio(parts.draft_ns, static_cast<double>(parts.steps)), step_ns);
  answer.v = ratio(parts.verify_ns, unit_ns);
  answer.auxiliary = ratio(parts.auxiliary_ns, unit_ns);
  answer.o = ratio(parts.rest_ns + without_step_ns, unit_ns) + answer.auxiliary;
  answer.vanilla_tokens_per_second = 1e9 * ratio(answer.tokens, vanilla_ratio * vanilla_ns);
  answer.tokens_per_second = 1e9 * ratio(answer.tokens, vanilla_ratio * time);
  answer.speedup_without_auxiliary = ratio(vanilla_ns, time - parts.auxiliary_ns);
}

/// Ascending indices into Prices::drafts that any request of a setting uses.
std::vector<std::int32_t> drafts_that_count(const SettingRounds& setting) {
  std::set<std::int32_t> exits;
  for (const auto* side : {&setting.min_drafted, &setting.max_drafted})
    for (const RoundStatistics& request : *side)
      for (const DraftStatistics& draft : request.drafts) exits.insert(draft.exit);
  return {exits.begin(), exits.end()};
}

void slow_down(PredictedRatio& predicted, double ratio) {
  slow_down(predicted.min_drafted, ratio);
  if (predicted.max_drafted) slow_down(*predicted.max_drafted, ratio);
}

/// Spread of the strategy's speedup between the recorded kinds of texts.
TextSpread spread_of(const StrategyRounds& rounds, const Prices& prices) {
  std::vector<ClusterSums> requests;
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i < rounds.vanilla.size(); ++i) {
    const double vanilla_ns = vanilla_time_ns(rounds.vanilla[i], prices);
    const double ns = time_ns(rounds.setting.min_drafted[i], prices);
    if (!(vanilla_ns > 0.0) || !(ns > 0.0)) continue;
    requests.push_back({vanilla_ns, ns});
    kinds.push_back(i < rounds.categories.size() ? rounds.categories[i] : "");
  }
  return spread_between_kinds(requests, kinds);
}

std::string spread_note(const TextSpread& spread) {
  const double percent = 100.0 * spread.sigma;
  if (spread.kinds == 1)
    return fmt::format(
        "all recorded prompts are of one kind: other kinds differ by ±{:.0f} %, as published "
        "speedups do between tasks",
        percent);
  return fmt::format(
      "between kinds of texts the speedup differs by ±{:.0f} %, by the {} recorded kinds and "
      "published speedups",
      percent, spread.kinds);
}

/// Standard error of ln(tokens per round) of a run of which a file only states a rate. A round's tokens lie
/// between 1 and those of a whole draft, so that their variance is at most the product of the mean's
/// distances from both (Bhatia and Davis, American Mathematical Monthly 107, 2000).
double stated_error(const RoundStatistics& sum, double stated_rounds) {
  const auto rounds = static_cast<double>(sum.rounds);
  const double mean = static_cast<double>(sum.tokens) / rounds;
  const double most = 1.0 + static_cast<double>(sum.drafted) / rounds;
  return std::sqrt(std::max((mean - 1.0) * (most - mean), 0.0) / stated_rounds) / mean;
}

/// Spread of the speedup on the texts asked about, if they are not the recorded ones or only a rate of them
/// is stated.
std::optional<TextSpread> text_spread(const StrategyRounds& rounds, const Prices& prices) {
  constexpr double min_error = 1e-3;  // Files round the rates that they state.
  const bool is_stated = rounds.stated_rounds > 0.0;
  if (!rounds.is_of_other_texts && !is_stated) return std::nullopt;
  TextSpread spread = spread_of(rounds, prices);
  if (is_stated)
    spread.stated_error =
        std::max(stated_error(sum_of(rounds.setting.min_drafted), rounds.stated_rounds), min_error);
  return spread;
}

struct CachedDraws {
  explicit CachedDraws(std::size_t draws) : prices(draws), once(draws) {}
  std::vector<Prices> prices;
  std::vector<std::once_flag> once;
};

/// Mean prices with cached draws. Each draw of all sources is made once: speed and speedup at both ends share
/// them. `normals` must be of the options' seed, and unused by other targets at the same time; null = no
/// cached normal numbers.
PricedMachine cached_draws(const PriceMap& map, const std::string& name, const PredictionOptions& options,
                           std::shared_ptr<CachedNormals> normals = nullptr) {
  constexpr std::int32_t max_cached = 4096;  // Some kilobytes each.
  const auto cached =
      std::make_shared<CachedDraws>(static_cast<std::size_t>(std::clamp(options.draws, 0, max_cached)));
  const auto draw_once = [map, seed = options.seed, normals = std::move(normals)](std::uint64_t draw,
                                                                                  Prices& into) {
    if (normals != nullptr && draw < normals->count())
      map.draw(normals->first(draw, map.noise_size()), {}, into);
    else
      map.draw(seed, draw, {}, into);
  };
  return {.name = name,
          .prices = map.mean(),
          .draws = [map, cached, draw_once, seed = options.seed](std::uint64_t draw, PriceSources vary) {
            const bool is_of_all = vary.fit && vary.width && vary.transfer;
            if (!is_of_all || draw >= cached->prices.size()) {
              Prices prices;
              map.draw(seed, draw, vary, prices);
              return prices;
            }
            std::call_once(cached->once[draw], [&] { draw_once(draw, cached->prices[draw]); });
            return cached->prices[draw];
          }};
}

/// Question to the cost model at the start of an answer.
struct PriceQuestion {
  Scenario scenario;
  std::vector<std::int32_t> exits;
  DeviceCheck device;
};

Result<PriceQuestion> price_question(const CostModel& trained, const StrategyRounds& rounds,
                                     const Machine& machine) {
  PriceQuestion question{
      .scenario = answer_scenario(rounds, machine), .exits = drafts_that_count(rounds.setting), .device = {}};
  DRAFTSCOPE_TRY_ASSIGN(question.device, check_device(trained, question.scenario, machine));
  return question;
}

Result<Answer> answer_at(const PriceMap& map, const PricedMachine& priced, const DeviceCheck& device,
                         const StrategyRounds& rounds, const Machine& machine,
                         const PredictionOptions& options, bool with_budget) {
  DRAFTSCOPE_TRY(check_draft_model(rounds, map.is_as_recorded()));
  const bool is_as_measured = map.has_own_ratios();
  Answer answer{.status = rounds.setting.status,
                .strategy = rounds.strategy,
                .machine = machine.name,
                .source = rounds.source,
                .notes = rounds.notes};
  fill_costs(answer, rounds, priced.prices, is_as_measured);
  PredictionOptions spread = options;
  answer.text_spread = spread.other_texts = text_spread(rounds, priced.prices);
  if (rounds.is_of_other_texts) answer.notes.push_back(spread_note(*answer.text_spread));
  if (rounds.stated_rounds > 0.0)
    answer.notes.push_back(fmt::format(
        "its interval is of one stated rate: at most ±{:.1f} % by its rounds ({:.0f}), and "
        "±{:.0f} % between tasks, as published speedups differ",
        100.0 * answer.text_spread->stated_error, rounds.stated_rounds, 100.0 * answer.text_spread->sigma));
  // Where a strategy decides by times, either case may well be the truth: the interval encloses both, as that
  // of bounds does.
  SettingRounds cases = rounds.setting;
  if (!cases.max_drafted.empty() && goes_by_times(rounds.strategy)) cases.status = AnswerStatus::bounded;
  DRAFTSCOPE_TRY_ASSIGN(answer.speedup, predict_speedup(rounds.vanilla, cases, priced, spread));
  DRAFTSCOPE_TRY_ASSIGN(answer.rate, predict_rate(rounds.vanilla, cases, priced, spread));
  if (is_as_measured) {
    slow_down(answer.speedup, rounds.own_ratio);
    slow_down(answer.rate, rounds.own_ratio * rounds.vanilla_ratio);
  }
  answer.memory = device.memory;
  answer.usable_memory = device.usable_memory;
  answer.price_per_hour = machine.price_per_hour;
  answer.power_watts = machine.power_watts;
  constexpr double worth_a_note = 0.005;
  if (answer.auxiliary > worth_a_note)
    answer.notes.push_back(
        fmt::format("its own passes, and the host beside them, take {:.2f} vanilla steps per round; {:.2f}x "
                    "without them, "
                    "as after a search",
                    answer.auxiliary, answer.speedup_without_auxiliary));
  const bool has_requests = answer.speedup.min_drafted.clusters >= min_clusters_for_interval;
  if (with_budget && has_requests && answer.speedup.min_drafted.interval_95) {
    DRAFTSCOPE_TRY_ASSIGN(answer.budget, variance_budget(rounds.vanilla, rounds.setting, priced, spread));
  }
  if (std::string reason = above_yield(answer); !reason.empty()) answer.notes.push_back(std::move(reason));
  answer.cost_notes = machine.cost_notes;
  if (device.note) answer.cost_notes.push_back(*device.note);
  answer.cost_notes.insert(answer.cost_notes.end(), map.notes().begin(), map.notes().end());
  return answer;
}

}  // namespace

void slow_down(RatioEstimate& estimate, double ratio) {
  estimate.value /= ratio;
  estimate.cluster_mean /= ratio;
  for (std::optional<Interval>* const interval : {&estimate.interval_80, &estimate.interval_95})
    if (*interval) **interval = {(*interval)->low / ratio, (*interval)->high / ratio};
}

std::string above_yield(const Answer& answer) {
  const double speedup = answer.speedup.lower();
  if (!(speedup * (1.0 - thresholds::min_cost_share) > answer.mean_accepted_length)) return {};
  return fmt::format(
      "vanilla steps are slow here: {:.2f}x is more than the {:.2f} tokens that a round yields, so that a "
      "round takes less than a step",
      speedup, answer.mean_accepted_length);
}

Result<Answer> ask(const CostModel& trained, const StrategyRounds& rounds, const Machine& machine,
                   const PredictionOptions& options, bool with_budget) {
  DRAFTSCOPE_TRY_ASSIGN(const PriceQuestion question, price_question(trained, rounds, machine));
  DRAFTSCOPE_TRY_ASSIGN(const PriceMap map,
                        PriceMap::make(machine.costs_or(trained), question.scenario, question.exits));
  const PricedMachine priced = cached_draws(map, machine.name, options);
  return answer_at(map, priced, question.device, rounds, machine, options, with_budget);
}

struct CachedPrices::Last {
  std::shared_ptr<const CostModel> trained;
  std::shared_ptr<const CostModel> costs;  // The machine's costs, if it has any.
  Scenario scenario;
  std::vector<std::int32_t> exits;
  std::int32_t draws = 0;
  PriceMap map;
  PricedMachine priced;
  std::shared_ptr<CachedNormals> normals;
};

CachedPrices::CachedPrices() = default;
CachedPrices::~CachedPrices() = default;
CachedPrices::CachedPrices(CachedPrices&&) noexcept = default;
CachedPrices& CachedPrices::operator=(CachedPrices&&) noexcept = default;

Result<Answer> ask(const std::shared_ptr<const CostModel>& trained, const StrategyRounds& rounds,
                   const Machine& machine, const PredictionOptions& options, CachedPrices& cached) {
  DRAFTSCOPE_TRY_ASSIGN(PriceQuestion question, price_question(*trained, rounds, machine));
  const std::unique_ptr<CachedPrices::Last>& last = cached.last_;
  const bool is_same_model = last != nullptr && last->trained == trained && last->costs == machine.costs;
  const bool has_same_draws =
      last != nullptr && last->draws == options.draws && last->normals->seed() == options.seed;
  if (!is_same_model || !has_same_draws || last->exits != question.exits ||
      last->scenario != question.scenario) {
    DRAFTSCOPE_TRY_ASSIGN(PriceMap map, PriceMap::make(machine.costs_or(*trained), question.scenario,
                                                       question.exits, is_same_model ? &last->map : nullptr));
    auto normals = has_same_draws ? last->normals
                                  : std::make_shared<CachedNormals>(
                                        options.seed, static_cast<std::size_t>(std::max(options.draws, 0)));
    PricedMachine priced = cached_draws(map, machine.name, options, normals);
    cached.last_ = std::make_unique<CachedPrices::Last>(
        CachedPrices::Last{trained, machine.costs, std::move(question.scenario), std::move(question.exits),
                           options.draws, std::move(map), std::move(priced), std::move(normals)});
  }
  last->priced.name = machine.name;
  return answer_at(last->map, last->priced, question.device, rounds, machine, options, false);
}

}  // namespace draftscope::simulator
