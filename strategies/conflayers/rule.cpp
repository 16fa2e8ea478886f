// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/conflayers/rule.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace draftscope::speculation {

namespace {

using Values = std::vector<double>;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation_of(std::span<const double> values, double mean) {
  double sum = 0.0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

/// Central differences, one-sided at the ends.
Values slopes(const Values& values) {
  const std::size_t n = values.size();
  Values slope(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t before = i == 0 ? 0 : i - 1;
    const std::size_t behind = std::min(i + 1, n - 1);
    slope[i] = (values[behind] - values[before]) / static_cast<double>(behind - before);
  }
  return slope;
}

/// Scales and shifts the values into [0, 1] so that their mean is a half.
Values centred(Values values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double low = *least;
  const double range = *most - low + 1e-8;
  for (double& value : values) value = (value - low) / range;
  const double mean = mean_of(values);
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  constexpr double alike = 1e-8;
  if (*highest - *lowest <= alike) return Values(values.size(), 0.5);
  const double factor = std::min(0.5 / (*highest - mean), 0.5 / (mean - *lowest));
  for (double& value : values) value = std::clamp(factor * (value - mean) + 0.5, 0.0, 1.0);
  return values;
}

}  // namespace

double output_confidence(std::span<const float> output) {
  double most = -INFINITY;
  for (const float value : output) most = std::max(most, static_cast<double>(value));
  double sum = 0.0;
  double weighted = 0.0;
  for (const float value : output) {
    const double below = static_cast<double>(value) - most;
    const double weight = std::exp(below);
    sum += weight;
    if (weight > 0.0) weighted += weight * below;
  }
  const double entropy = std::log(sum) - weighted / sum;
  return 1.0 - entropy / std::log(static_cast<double>(output.size()));
}

std::vector<std::int32_t> low_confidences(std::span<const double> confidences, double lambda,
                                          std::int32_t n_layers) {
  if (confidences.size() < 2) return {};
  const double mean = mean_of(confidences);
  const double deviation = deviation_of(confidences, mean) + 1e-6;
  Values scaled;
  for (const double confidence : confidences) scaled.push_back((confidence - mean) / deviation);
  const Values curvature = slopes(slopes(scaled));
  const auto other = std::find_if(curvature.begin(), curvature.end(),
                                  [&](double value) { return value != curvature.front(); });
  const auto alike = static_cast<double>(other - curvature.begin());
  const Values share = centred(curvature);
  const auto n = static_cast<std::int32_t>(scaled.size());
  std::vector<std::int32_t> low;
  Values around;
  for (std::int32_t i = 0; i < n; ++i) {
    const auto place = static_cast<std::size_t>(i);
    constexpr double widening = 5.0;
    const auto more = static_cast<std::int32_t>(widening * alike * share[place] * static_cast<double>(i + 1) /
                                                static_cast<double>(n_layers));
    const std::int32_t half = (2 + more) / 2;
    around.clear();
    for (std::int32_t j = std::max(0, i - half); j < std::min(n, i + half + 1); ++j)
      if (j != i) around.push_back(scaled[static_cast<std::size_t>(j)]);
    const double usual = mean_of(around);
    if (scaled[place] < usual - lambda * deviation_of(around, usual)) low.push_back(i);
  }
  return low;
}

void ConfidenceSearches::begin_request() {
  emitted_ = 1;
  is_due_ = true;
}

std::int32_t ConfidenceSearches::least() const {
  return static_cast<std::int32_t>(static_cast<double>(options_.n_layers - 2) * options_.ratio) + 1;
}

bool ConfidenceSearches::follows(const Round& round, std::int32_t left_out) {
  is_best_ = false;
  emitted_ += round.emitted;
  if (has_ended_ || emitted_ <= options_.window + 1) return false;
  ++rounds_;
  accepted_sum_ += round.accepted;
  if (round.steps > 0) score_sum_ += static_cast<double>(round.accepted) / static_cast<double>(round.steps);
  if (searches_ > 0) judge(left_out);
  return !has_ended_ && (is_due_ || left_out < least());
}

/// A set that hardly drafts is abandoned after half of the rounds.
void ConfidenceSearches::judge(std::int32_t left_out) {
  const double accepted = accepted_sum_ / static_cast<double>(rounds_);
  const bool is_half = 2 * rounds_ == options_.interval;
  if (rounds_ <= options_.interval && !(is_half && left_out >= least() && accepted < 1.0)) return;
  if (rounds_ > options_.interval && left_out >= least()) {
    constexpr double enough = 4.0;
    has_ended_ = accepted > enough && score_sum_ / static_cast<double>(rounds_) > options_.max_score;
    is_best_ = accepted > best_accepted_;
    best_accepted_ = std::max(best_accepted_, accepted);
  }
  is_due_ = !has_ended_;
  rounds_ = 0;
  score_sum_ = accepted_sum_ = 0.0;
}

void ConfidenceSearches::found(std::int32_t left_out) {
  ++searches_;
  is_due_ = false;
  rounds_ = 0;
  score_sum_ = accepted_sum_ = 0.0;
  const double share = static_cast<double>(left_out) / static_cast<double>(options_.n_layers - 2);
  constexpr double step = 0.05;
  constexpr double too_many = 0.25;
  if (share > options_.ratio + too_many)
    lambda_ += step;
  else if (share < options_.ratio)
    lambda_ -= step;
  has_ended_ = has_ended_ || searches_ >= options_.max_searches;
}

ConfidenceSearches::Options confidence_options(const StrategySpecification& mix, std::int32_t n_layers) {
  return {.n_layers = n_layers,
          .ratio = mix.number("ratio"),
          .window = mix.integer("window"),
          .interval = mix.integer("interval"),
          .max_score = mix.number("max-score"),
          .max_searches = mix.integer("max-iterations")};
}

}  // namespace draftscope::speculation
