// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/prediction.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <draftscope/base/parallel.h>
#include <draftscope/base/quote.h>

#include "answers/uncertainty/confidence_draws.h"
#include "answers/uncertainty/pass_sums.h"

namespace draftscope::simulator {

namespace {

using Eigen::Index;

/// Effect of the prices' noise on ln(vanilla time / time), draw by draw, with every request once; without
/// `vanilla` on ln(1 / time). Empty if prices are certain.
std::vector<double> price_noise(const PassSums* vanilla, const PassSums& passes, const PricedMachine& machine,
                                const PredictionOptions& options) {
  if (!machine.draws) return {};
  const auto draws = static_cast<std::size_t>(options.draws);
  std::vector<PassKind> kinds = passes.kinds;
  if (vanilla != nullptr) kinds.push_back(vanilla->kinds[0]);
  const Eigen::MatrixXd prices = price_matrix(machine.draws, {}, draws, kinds, thread_count(options.threads));
  const auto own = static_cast<Index>(2 * passes.kinds.size());
  std::vector<double> noise(draws);
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const auto row = prices.row(static_cast<Index>(draw));
    const double ns = (passes.sums * row.head(own).transpose()).sum();
    noise[draw] =
        vanilla == nullptr ? -std::log(ns) : std::log((vanilla->sums * row.tail(2).transpose()).sum() / ns);
  }
  return noise;
}

/// Noise of prices plus the deviation of another kind of text, per draw.
std::vector<double> with_text_noise(std::vector<double> noise, const PredictionOptions& options) {
  if (!options.other_texts) return noise;
  std::vector<double> texts =
      kind_deviations(*options.other_texts, {.draws = options.draws, .seed = options.seed});
  for (std::size_t i = 0; i < noise.size(); ++i) texts[i] += noise[i];
  return texts;
}

/// Gives a stated rate, which has no requests to resample, the interval of its noise alone.
void put_stated_interval(const std::vector<double>& noise, const PredictionOptions& options,
                         RatioEstimate& estimate) {
  if (estimate.interval_95 || !options.other_texts || !(options.other_texts->stated_error > 0.0)) return;
  const double mean = std::accumulate(noise.begin(), noise.end(), 0.0) / static_cast<double>(noise.size());
  std::vector<double> draws(noise);
  for (double& draw : draws) draw = estimate.value * std::exp(draw - mean);
  const BothIntervals intervals = take_intervals(draws);
  estimate.interval_80 = intervals.of_80;
  estimate.interval_95 = intervals.of_95;
  estimate.no_interval_reason.clear();
}

/// Ratio of sums over requests: `numerators` over times in the unit `unit_ns`.
Result<RatioEstimate> over_times(const Eigen::VectorXd& numerators, const PassSums* vanilla,
                                 const PassSums& passes, double unit_ns, const PricedMachine& machine,
                                 const PredictionOptions& options) {
  const Eigen::VectorXd times = passes.sums * price_vector(machine.prices, passes.kinds);
  if (!is_time(numerators.array()) || !is_time(times.array()))
    return fail("prices of {}: a request's time is not positive, expected positive prices",
                quote(machine.name));
  std::vector<ClusterSums> clusters;
  for (Index i = 0; i < times.size(); ++i) clusters.push_back({numerators(i), times(i) / unit_ns});
  const std::vector<double> noise = with_text_noise(price_noise(vanilla, passes, machine, options), options);
  DRAFTSCOPE_TRY_ASSIGN(RatioEstimate estimate,
                        noisy_bootstrap(clusters, noise, {.draws = options.draws, .seed = options.seed}));
  put_stated_interval(noise, options, estimate);
  return estimate;
}

/// Gives two cases of approximate rounds the interval of both.
void join_cases(RatioEstimate& one, RatioEstimate& other, AnswerStatus status) {
  if (status < AnswerStatus::approximate) return;
  for (const auto which : {&RatioEstimate::interval_80, &RatioEstimate::interval_95})
    if (one.*which && other.*which)
      one.*which = other.*which =
                       interval_of_cases({one.value, *(one.*which)}, {other.value, *(other.*which)}, status);
}

/// `estimate(statistics)` gives the ratio of one case.
template <typename Estimate>
Result<PredictedRatio> in_cases(const SettingRounds& setting, const Estimate& estimate) {
  PredictedRatio predicted;
  DRAFTSCOPE_TRY_ASSIGN(predicted.min_drafted, estimate(setting.min_drafted));
  if (!setting.max_drafted.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(predicted.max_drafted, estimate(setting.max_drafted));
    join_cases(predicted.min_drafted, *predicted.max_drafted, setting.status);
  }
  return predicted;
}

std::optional<Interval> outermost(const std::optional<Interval>& one, const std::optional<Interval>* other) {
  if (!one || other == nullptr) return one;
  if (!*other) return std::nullopt;
  return Interval{std::min(one->low, (*other)->low), std::max(one->high, (*other)->high)};
}

}  // namespace

std::optional<Interval> PredictedRatio::interval_80() const {
  return outermost(min_drafted.interval_80, max_drafted ? &max_drafted->interval_80 : nullptr);
}

std::optional<Interval> PredictedRatio::interval_95() const {
  return outermost(min_drafted.interval_95, max_drafted ? &max_drafted->interval_95 : nullptr);
}

double PredictedRatio::lower() const {
  return max_drafted ? std::min(min_drafted.value, max_drafted->value) : min_drafted.value;
}

double PredictedRatio::middle() const {
  return max_drafted ? 0.5 * (min_drafted.value + max_drafted->value) : min_drafted.value;
}

Result<PredictedRatio> predict_speedup(std::span<const PassCount> vanilla, const SettingRounds& setting,
                                       const PricedMachine& machine, const PredictionOptions& options) {
  DRAFTSCOPE_TRY(check_setting(vanilla, setting, machine, options));
  const std::vector<std::size_t> requests = requests_with_tokens(vanilla);
  const PassSums baseline = pass_sums(vanilla, requests);
  const Eigen::VectorXd vanilla_ns = baseline.sums * price_vector(machine.prices, baseline.kinds);
  return in_cases(setting, [&](std::span<const RoundStatistics> statistics) {
    return over_times(vanilla_ns, &baseline, pass_sums(statistics, requests), 1.0, machine, options);
  });
}

Result<PredictedRatio> predict_rate(std::span<const PassCount> vanilla, const SettingRounds& setting,
                                    const PricedMachine& machine, const PredictionOptions& options) {
  DRAFTSCOPE_TRY(check_setting(vanilla, setting, machine, options));
  return in_cases(setting, [&](std::span<const RoundStatistics> statistics) {
    std::vector<std::size_t> requests;
    for (std::size_t i = 0; i < statistics.size(); ++i)
      if (statistics[i].tokens > 0) requests.push_back(i);
    Eigen::VectorXd tokens(static_cast<Index>(requests.size()));
    for (std::size_t i = 0; i < requests.size(); ++i)
      tokens(static_cast<Index>(i)) = static_cast<double>(statistics[requests[i]].tokens);
    constexpr double ns_per_second = 1e9;
    return over_times(tokens, nullptr, pass_sums(statistics, requests), ns_per_second, machine, options);
  });
}

}  // namespace draftscope::simulator
