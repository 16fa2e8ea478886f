// SPDX-License-Identifier: GPL-3.0-or-later
#include "synthetic_requests.h"

#include <draftscope/base/counter_random.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace draftscope::simulator {

namespace {

/// Box and Muller's transform; its second value is not used, so that each factor has separate numbers.
double factor_of(CounterRandom& random, double sigma) {
  const double radius = std::sqrt(-2.0 * std::log(random.uniform()));
  const double normal = radius * std::cos(2.0 * std::numbers::pi * random.uniform());
  return std::exp(sigma * normal);
}

struct Factors {
  double target = 1.0;
  double step = 1.0;
  double verify = 1.0;
  double width = 1.0;
  double slope = 1.0;
  double round = 1.0;
  double common = 1.0;
};

/// Draws all factors; they consume random numbers whether they vary or not.
Factors draw_factors(const PriceSpread& spread, std::uint64_t seed, std::uint64_t draw, PriceSources vary) {
  CounterRandom random(seed, draw);
  const double fit = vary.fit ? spread.fit : 0.0;
  const double transfer = vary.transfer ? spread.transfer : 0.0;
  Factors factors;
  factors.target = factor_of(random, fit);
  factors.step = factor_of(random, fit);
  factors.verify = factor_of(random, fit);
  factors.width = factor_of(random, vary.width ? spread.width : 0.0);
  factors.slope = factor_of(random, transfer);
  factors.round = factor_of(random, transfer);
  factors.common = factor_of(random, vary.transfer ? spread.common : 0.0);
  return factors;
}

void scale(AffineTime& time, double factor, double slope) {
  time.ns *= factor;
  time.ns_per_context_row *= slope;
}

}  // namespace

std::vector<ClusterSums> synthetic_rounds(std::mt19937_64& random) {
  constexpr double length_sigma = 0.6;
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const double ease = normal(random);
  const double acceptance = 1.0 / (1.0 + std::exp(-0.8 - 0.8 * ease));
  const double length = std::exp(3.5 + length_sigma * (0.9 * normal(random) + 0.43 * ease));
  std::vector<ClusterSums> rounds(static_cast<std::size_t>(std::clamp(length, 3.0, 2000.0)));
  bool easy = uniform(random) < 0.5;
  for (ClusterSums& round : rounds) {
    if (uniform(random) < 0.15) easy = !easy;
    const double accepts = easy ? 1.0 - 0.6 * (1.0 - acceptance) : 0.85 * acceptance;
    std::int32_t accepted = 0;
    while (accepted < synthetic_length && uniform(random) < accepts) ++accepted;
    round = {accepted + 1.0, 1.0};
  }
  return rounds;
}

ClusterSums sum_of(const std::vector<ClusterSums>& rounds) {
  ClusterSums sums;
  for (const ClusterSums& round : rounds) {
    sums.numerator += round.numerator;
    sums.denominator += round.denominator;
  }
  return sums;
}

RoundStatistics statistics_of(const std::vector<ClusterSums>& rounds) {
  RoundStatistics statistics{.drafts = {DraftStatistics{.exit = synthetic_exit}}};
  DraftStatistics& draft = statistics.drafts[0];
  draft.verify.resize(synthetic_length + 2);
  for (const ClusterSums& round : rounds) {
    const std::int64_t context = synthetic_prompt + statistics.tokens;
    const auto emitted = static_cast<std::int64_t>(round.numerator);
    ++statistics.rounds;
    statistics.tokens += emitted;
    statistics.drafted += synthetic_length;
    statistics.accepted += emitted - 1;
    draft.steps.passes += synthetic_length;
    draft.steps.context += synthetic_length * context + synthetic_length * (synthetic_length - 1) / 2;
    ++draft.verify[synthetic_length + 1].passes;
    draft.verify[synthetic_length + 1].context += context;
  }
  return statistics;
}

SyntheticText synthetic_text(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  SyntheticText text;
  for (std::size_t i = 0; i < count; ++i) {
    text.setting.min_drafted.push_back(statistics_of(synthetic_rounds(random)));
    text.vanilla.push_back(vanilla_steps(text.setting.min_drafted.back().tokens, synthetic_prompt));
  }
  return text;
}

Prices synthetic_prices() {
  Prices prices{
      .target_step = {.ns = 1.3e7, .ns_per_context_row = 900.0}, .round_ns = 2e5, .step_round_ns = 5e4};
  prices.drafts.resize(synthetic_layers);
  for (std::int32_t exit = 1; exit < synthetic_layers; ++exit) {
    DraftPrices& draft = prices.drafts[static_cast<std::size_t>(exit)];
    draft.step = {.ns = 1e6 * exit + 1e6, .ns_per_context_row = 75.0 * exit};
    for (std::int32_t rows = 0; rows <= synthetic_length + 1; ++rows)
      draft.verify.push_back({.ns = 1.3e7 + 3e5 * rows, .ns_per_context_row = 900.0 + 20.0 * rows});
  }
  return prices;
}

PriceDraws spread_prices(Prices prices, const PriceSpread& spread, std::uint64_t seed) {
  return [prices = std::move(prices), spread, seed](std::uint64_t draw, PriceSources vary) {
    const Factors factors = draw_factors(spread, seed, draw, vary);
    const double slope = factors.slope * factors.common;
    Prices drawn = prices;
    scale(drawn.target_step, factors.target * factors.common, slope);
    drawn.round_ns *= factors.round * factors.common;
    drawn.step_round_ns *= factors.round * factors.common;
    for (DraftPrices& draft : drawn.drafts) {
      scale(draft.step, factors.step * factors.common, slope);
      const double narrowest = draft.verify.size() > 2 ? draft.verify[2].ns : 0.0;
      for (std::size_t rows = 2; rows < draft.verify.size(); ++rows) {
        AffineTime& verify = draft.verify[rows];
        verify.ns = std::max(narrowest + (verify.ns - narrowest) * factors.width, 0.0);
        scale(verify, factors.verify * factors.common, slope);
      }
      for (double& ns : draft.planned_ns) ns *= factors.verify * factors.common;
    }
    return drawn;
  };
}

SyntheticRecorder::SyntheticRecorder(std::uint64_t seed, Prices prices, double noise)
    : random_(seed), prices_(std::move(prices)), noise_(noise) {
  out_.meta = {
      {"device", "cpu"},
      {"dtype", "bf16"},
      {"model", "synthetic"},
      {"model_shape", R"({"n_layers":12,"d_model":512,"n_heads":8,"n_kv_heads":4,"head_dim":64,"d_ff":1536,)"
                      R"("vocab":8192,"eos_tokens":[2]})"},
      {"max_tokens", "4096"},
      {"cache_rows", "8192"},
      {"temperature", "0"}};
  out_.layer_sets.push_back({1, synthetic_layers, synthetic_exit, {0xC0, 0xFF, 0xFF}, "fixed"});
}

void SyntheticRecorder::add_runs(std::span<const std::int32_t> lengths) {
  out_.runs.push_back({1, "vanilla", "vanilla", "{}", true});
  for (const std::int32_t length : lengths)
    out_.runs.push_back({traces::RunId::from(out_.runs.size() + 1), "layerskip",
                         fmt::format("layerskip:exit={},gamma={}", synthetic_exit, length),
                         fmt::format(R"({{"exit":{},"gamma":{}}})", synthetic_exit, length), false});
}

void SyntheticRecorder::add_prompt(const std::string& category) {
  const auto i = static_cast<std::int64_t>(out_.prompts.size());
  out_.prompts.push_back({traces::PromptId::from(i + 1), 100 + i, category, 0, fmt::format("prompt {}", i),
                          std::vector<std::int32_t>(synthetic_prompt, 7)});
}

void SyntheticRecorder::decode(std::size_t run, std::size_t prompt, int repeat,
                               std::span<const SyntheticRound> rounds, double hour) {
  traces::Request request{.id = traces::RequestId::from(out_.requests.size() + 1),
                          .run_id = out_.runs[run].id,
                          .prompt_id = out_.prompts[prompt].id,
                          .repeat = repeat,
                          .start_ns = now_};
  request.first_token_ns = now_ += 1'000'000;
  request.tokens.push_back(9);
  for (const SyntheticRound& round : rounds)
    request.tokens.insert(request.tokens.end(), static_cast<std::size_t>(round.accepted) + 1, 9);
  std::int32_t index = 0;
  for (const SyntheticRound& round : rounds) add(request.id, index++, round, hour);
  request.end_ns = now_;
  out_.requests.push_back(std::move(request));
}

void SyntheticRecorder::add(traces::RequestId request_id, std::int32_t index, const SyntheticRound& made,
                            double hour) {
  traces::Round round{.id = traces::RoundId::from(out_.rounds.size() + 1),
                      .request_id = request_id,
                      .index = index,
                      .start_ns = now_,
                      .root_position = made.root,
                      .planned = made.drafted,
                      .drafted = made.drafted,
                      .tree_depth = made.drafted,
                      .accepted = made.accepted,
                      .emitted = made.accepted + 1,
                      .verify_rows = made.drafted + 1,
                      .bonus_token = 9};
  const DraftPrices& draft = prices_.drafts[synthetic_exit];
  const bool drafts = made.drafted > 0;
  if (drafts) {
    round.layer_set_id = 1;
    round.exit_layer = synthetic_exit;
    round.draft_stop = traces::DraftStop::length;
    double ns = 0.0;
    for (std::int32_t step = 0; step < made.drafted; ++step) ns += draft.step.at(made.root + step);
    round.draft_ns = noisy(ns * hour);
  }
  const AffineTime& verify =
      drafts ? draft.verify[static_cast<std::size_t>(made.drafted) + 1] : prices_.target_step;
  round.verify_ns = noisy(verify.at(made.root) * hour);
  round.control_ns = noisy((drafts ? prices_.round_ns : prices_.step_round_ns) * hour);
  now_ += round.draft_ns + round.verify_ns + round.control_ns;
  round.end_ns = now_;
  for (std::int32_t k = 0; k < made.drafted; ++k)
    out_.draft_tokens.push_back({round.id, k, k - 1, 9, 0.75, 1.0, k < made.accepted, k <= made.accepted});
  out_.rounds.push_back(round);
}

double synthetic_speedup() {
  constexpr int population = 50'000;
  std::mt19937_64 random(2);
  const Prices prices = synthetic_prices();
  double vanilla_ns = 0.0;
  double speculative_ns = 0.0;
  for (int i = 0; i < population; ++i) {
    const RoundStatistics request = statistics_of(synthetic_rounds(random));
    vanilla_ns += vanilla_time_ns(request.tokens, synthetic_prompt, prices);
    speculative_ns += time_ns(request, prices);
  }
  return vanilla_ns / speculative_ns;
}

void Coverage::count(const RatioEstimate& estimate, double truth) {
  const auto holds = [truth](const Interval& interval) {
    return interval.low <= truth && truth <= interval.high ? 1 : 0;
  };
  ++trials;
  of_80 += holds(*estimate.interval_80);
  of_95 += holds(*estimate.interval_95);
}

bool Coverage::is_as_promised(double of_80_tolerance) const {
  const double share_80 = static_cast<double>(of_80) / trials;
  const double share_95 = static_cast<double>(of_95) / trials;
  return share_80 >= 0.8 - of_80_tolerance && share_80 <= 0.8 + of_80_tolerance && share_95 >= 0.93 &&
         share_95 <= 0.97;
}

std::string Coverage::shares() const {
  return fmt::format("80 %: {:.1f} %, 95 %: {:.1f} %", 100.0 * of_80 / trials, 100.0 * of_95 / trials);
}

}  // namespace draftscope::simulator
