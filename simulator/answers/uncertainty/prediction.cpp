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
#include "answers/uncertainty/text_spread.h"

namespace draftscope::simulator {

namespace {

using Eigen::Index;

/// Effect of the prices' noise on ln(speedup), draw by draw, with every request once. Empty if prices are
/// certain.
std::vector<double> price_noise(const PassSums& vanilla, const PassSums& passes, const SweepTarget& target,
                                const SweepOptions& options) {
  if (!target.draws) return {};
  const auto draws = static_cast<std::size_t>(options.draws);
  std::vector<PassKind> kinds = passes.kinds;
  kinds.push_back(vanilla.kinds[0]);
  const Eigen::MatrixXd prices = price_matrix(target.draws, {}, draws, kinds, thread_count(options.threads));
  const auto own = static_cast<Index>(2 * passes.kinds.size());
  std::vector<double> noise(draws);
  for (std::size_t draw = 0; draw < draws; ++draw) {
    const auto row = static_cast<Index>(draw);
    const Eigen::ArrayXd baseline = (vanilla.sums * prices.row(row).tail(2).transpose()).array();
    const Eigen::ArrayXd times = (passes.sums * prices.row(row).head(own).transpose()).array();
    noise[draw] = std::log(baseline.sum() / times.sum());
  }
  return noise;
}

/// Effect of the prices' noise on ln(1 / time), draw by draw.
std::vector<double> time_noise(const PassSums& passes, const SweepTarget& target,
                               const SweepOptions& options) {
  if (!target.draws) return {};
  const auto draws = static_cast<std::size_t>(options.draws);
  const Eigen::MatrixXd prices =
      price_matrix(target.draws, {}, draws, passes.kinds, thread_count(options.threads));
  std::vector<double> noise(draws);
  for (std::size_t draw = 0; draw < draws; ++draw)
    noise[draw] = -std::log((passes.sums * prices.row(static_cast<Index>(draw)).transpose()).sum());
  return noise;
}

/// Noise of prices plus the deviation of another kind of text, per draw.
std::vector<double> with_text_noise(std::vector<double> noise, const SweepOptions& options) {
  if (!options.other_texts) return noise;
  std::vector<double> texts =
      kind_deviations(*options.other_texts, {.draws = options.draws, .seed = options.seed});
  for (std::size_t i = 0; i < noise.size(); ++i) texts[i] += noise[i];
  return texts;
}

/// Gives a stated rate, which has no requests to resample, the interval of its noise alone.
void put_stated_interval(const std::vector<double>& noise, const SweepOptions& options,
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

double mean_of_ratios(std::span<const ClusterSums> clusters) {
  std::vector<ClusterSums> ratios;
  ratios.reserve(clusters.size());
  for (const ClusterSums& cluster : clusters)
    ratios.push_back({cluster.numerator / cluster.denominator, 1.0});
  return std::exp(log_ratio(ratios, std::vector<double>(ratios.size(), 1.0)).value);
}

Result<SpeedupPrediction> predict_side(std::span<const PassCount> vanilla,
                                       std::span<const RoundStatistics> statistics, AnswerStatus status,
                                       const SweepTarget& target, const SweepOptions& options) {
  const std::vector<std::size_t> requests = requests_with_tokens(vanilla);
  const PassSums baseline = pass_sums(vanilla, requests);
  const PassSums passes = pass_sums(statistics, requests);
  DRAFTSCOPE_TRY(check_cover(target, passes.kinds));
  const Eigen::VectorXd numerators = baseline.sums * price_vector(target.prices, baseline.kinds);
  const Eigen::VectorXd denominators = passes.sums * price_vector(target.prices, passes.kinds);
  if (!is_time(numerators.array()) || !is_time(denominators.array()))
    return fail("prices of {}: a request's time is not positive, expected positive prices",
                quote(target.name));
  std::vector<ClusterSums> clusters;
  clusters.reserve(requests.size());
  for (Index i = 0; i < numerators.size(); ++i) clusters.push_back({numerators(i), denominators(i)});

  const std::vector<double> noise = with_text_noise(price_noise(baseline, passes, target, options), options);
  SpeedupPrediction prediction{.status = status, .request_mean = mean_of_ratios(clusters)};
  DRAFTSCOPE_TRY_ASSIGN(prediction.total,
                        noisy_bootstrap(clusters, noise, {.draws = options.draws, .seed = options.seed}));
  put_stated_interval(noise, options, prediction.total);
  return prediction;
}

Result<RatioEstimate> predict_rate_of(std::span<const RoundStatistics> statistics, const SweepTarget& target,
                                      const SweepOptions& options) {
  std::vector<PassCount> tokens;
  for (const RoundStatistics& request : statistics) tokens.push_back({.passes = request.tokens});
  const std::vector<std::size_t> requests = requests_with_tokens(tokens);
  const PassSums passes = pass_sums(statistics, requests);
  DRAFTSCOPE_TRY(check_cover(target, passes.kinds));
  const Eigen::VectorXd times = passes.sums * price_vector(target.prices, passes.kinds);
  if (!is_time(times.array()))
    return fail("prices of {}: a request's time is not positive, expected positive prices",
                quote(target.name));
  constexpr double ns_per_second = 1e9;
  std::vector<ClusterSums> clusters;
  for (std::size_t i = 0; i < requests.size(); ++i)
    clusters.push_back(
        {static_cast<double>(tokens[requests[i]].passes), times(static_cast<Index>(i)) / ns_per_second});
  const std::vector<double> noise = with_text_noise(time_noise(passes, target, options), options);
  DRAFTSCOPE_TRY_ASSIGN(RatioEstimate rate,
                        noisy_bootstrap(clusters, noise, {.draws = options.draws, .seed = options.seed}));
  put_stated_interval(noise, options, rate);
  return rate;
}

/// Gives two cases of approximate rounds the interval of both.
void join_cases(RatioEstimate& one, RatioEstimate& other, AnswerStatus status) {
  if (status < AnswerStatus::approximate) return;
  for (const auto which : {&RatioEstimate::interval_80, &RatioEstimate::interval_95})
    if (one.*which && other.*which)
      one.*which = other.*which =
                       interval_of_cases({one.value, *(one.*which)}, {other.value, *(other.*which)}, status);
}

Result<PredictedSpeedup> speedup_of(std::span<const PassCount> vanilla, const SweepSetting& setting,
                                    const SweepTarget& target, const SweepOptions& options) {
  PredictedSpeedup predicted;
  DRAFTSCOPE_TRY_ASSIGN(predicted.min_drafted,
                        predict_side(vanilla, setting.min_drafted, setting.status, target, options));
  if (!setting.max_drafted.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(predicted.max_drafted,
                          predict_side(vanilla, setting.max_drafted, setting.status, target, options));
    join_cases(predicted.min_drafted.total, predicted.max_drafted->total, setting.status);
  }
  return predicted;
}

Result<PredictedRate> rate_of(const SweepSetting& setting, const SweepTarget& target,
                              const SweepOptions& options) {
  PredictedRate rate;
  DRAFTSCOPE_TRY_ASSIGN(rate.min_drafted, predict_rate_of(setting.min_drafted, target, options));
  if (!setting.max_drafted.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(rate.max_drafted, predict_rate_of(setting.max_drafted, target, options));
    join_cases(rate.min_drafted, *rate.max_drafted, setting.status);
  }
  return rate;
}

std::optional<Interval> outermost(const std::optional<Interval>& one, const std::optional<Interval>* other) {
  if (!one || other == nullptr) return one;
  if (!*other) return std::nullopt;
  return Interval{std::min(one->low, (*other)->low), std::max(one->high, (*other)->high)};
}

}  // namespace

std::optional<Interval> outermost_interval_80(const PredictedSpeedup& speedup) {
  return outermost(speedup.min_drafted.total.interval_80,
                   speedup.max_drafted ? &speedup.max_drafted->total.interval_80 : nullptr);
}

std::optional<Interval> outermost_interval_95(const PredictedSpeedup& speedup) {
  return outermost(speedup.min_drafted.total.interval_95,
                   speedup.max_drafted ? &speedup.max_drafted->total.interval_95 : nullptr);
}

std::optional<Interval> PredictedRate::interval_80() const {
  return outermost(min_drafted.interval_80, max_drafted ? &max_drafted->interval_80 : nullptr);
}

std::optional<Interval> PredictedRate::interval_95() const {
  return outermost(min_drafted.interval_95, max_drafted ? &max_drafted->interval_95 : nullptr);
}

double slower_bound(const PredictedSpeedup& speedup) {
  const double least = speedup.min_drafted.total.value;
  return speedup.max_drafted ? std::min(least, speedup.max_drafted->total.value) : least;
}

Result<PredictedSpeedup> predict_speedup(std::span<const PassCount> vanilla, const SweepSetting& setting,
                                         const SweepTarget& target, const SweepOptions& options) {
  DRAFTSCOPE_TRY(check_setting(vanilla, setting, options));
  return speedup_of(vanilla, setting, target, options);
}

Result<SpeedupAndRate> predict_speedup_and_rate(std::span<const PassCount> vanilla,
                                                const SweepSetting& setting, const SweepTarget& target,
                                                const SweepOptions& options) {
  DRAFTSCOPE_TRY(check_setting(vanilla, setting, options));
  SpeedupAndRate prediction;
  DRAFTSCOPE_TRY_ASSIGN(prediction.speedup, speedup_of(vanilla, setting, target, options));
  DRAFTSCOPE_TRY_ASSIGN(prediction.rate, rate_of(setting, target, options));
  return prediction;
}

}  // namespace draftscope::simulator
