// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/parallel.h>
#include <draftscope/base/quote.h>
#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/simulator/answers/sweep.h>
#include <algorithm>
#include <cmath>

#include "answers/uncertainty/confidence_draws.h"
#include "answers/uncertainty/pass_sums.h"

namespace draftscope::simulator {

namespace {

using Eigen::Index;

constexpr double largest_bytes = 8.0 * 1024 * 1024 * 1024;

/// A setting's statistics with the fewest or the most draft tokens.
struct Variant {
  std::size_t setting = 0;
  bool most = false;
  PassSums passes;
  std::vector<std::size_t> place;  ///< Index of each kind among all kinds.
  Eigen::MatrixXd drawn;           ///< [draw][2 · kind]; empty without intervals
};

struct Value {
  double speedup = 0.0;
  double request_mean = 0.0;
  BothIntervals intervals;
};

/// Data that all targets share.
struct Plan {
  PassSums vanilla;
  Eigen::MatrixXd vanilla_drawn;
  std::vector<Variant> variants;
  std::vector<PassKind> kinds;
  std::size_t draws = 0;  ///< 0 without intervals
};

std::vector<Variant> variants_of(std::span<const SweepSetting> settings) {
  std::vector<Variant> variants;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    if (settings[i].status == AnswerStatus::invalid) continue;
    variants.push_back({.setting = i});
    if (!settings[i].max_drafted.empty()) variants.push_back({.setting = i, .most = true});
  }
  return variants;
}

std::vector<PassKind> all_kinds(std::span<const Variant> variants) {
  std::vector<PassKind> kinds;
  for (const Variant& variant : variants)
    kinds.insert(kinds.end(), variant.passes.kinds.begin(), variant.passes.kinds.end());
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return kinds;
}

void place_kinds(Variant& variant, std::span<const PassKind> kinds) {
  variant.place.reserve(variant.passes.kinds.size());
  for (const PassKind kind : variant.passes.kinds)
    variant.place.push_back(
        static_cast<std::size_t>(std::lower_bound(kinds.begin(), kinds.end(), kind) - kinds.begin()));
}

/// A target's mean prices, and its draws of prices if it has any.
struct TargetPrices {
  Eigen::VectorXd mean;      ///< [2 · kind]
  Eigen::MatrixXd drawn;     ///< [draw][2 · kind]; empty if prices are certain
  Eigen::VectorXd vanilla;   ///< [request]; at the mean prices
  Eigen::ArrayXd numerator;  ///< [draw]: the vanilla time
};

/// [draw]: the dot products of two rows, with `prices` at the kinds' places
Eigen::ArrayXd row_products(const Eigen::MatrixXd& sums, const Eigen::MatrixXd& prices,
                            std::span<const std::size_t> place) {
  Eigen::ArrayXd products = Eigen::ArrayXd::Zero(sums.rows());
  for (std::size_t i = 0; i < place.size(); ++i) {
    const auto own = static_cast<Index>(2 * i);
    const auto other = static_cast<Index>(2 * place[i]);
    products += sums.col(own).array() * prices.col(other).array() +
                sums.col(own + 1).array() * prices.col(other + 1).array();
  }
  return products;
}

Result<TargetPrices> target_prices(const Plan& plan, const SweepTarget& target, std::size_t threads) {
  TargetPrices prices;
  prices.mean = price_vector(target.prices, plan.kinds);
  const Eigen::VectorXd vanilla_mean = price_vector(target.prices, plan.vanilla.kinds);
  prices.vanilla = plan.vanilla.sums * vanilla_mean;
  if (!is_time(prices.vanilla.array()))
    return fail("prices of {}: a request's vanilla time is not positive, expected positive prices",
                quote(target.name));
  if (plan.draws == 0) return prices;
  if (!target.draws) {
    prices.numerator = (plan.vanilla_drawn * vanilla_mean).array();
    return prices;
  }
  // The target step's price may be in no setting; it comes last.
  std::vector<PassKind> kinds = plan.kinds;
  kinds.push_back(plan.vanilla.kinds[0]);
  DRAFTSCOPE_TRY(check_draws_cover(target, plan.kinds));
  prices.drawn = price_matrix(target.draws, {}, plan.draws, kinds, threads);
  const std::vector<std::size_t> place{plan.kinds.size()};
  prices.numerator = row_products(plan.vanilla_drawn, prices.drawn, place);
  if (!is_time(prices.numerator))
    return fail("prices of {}: a drawn vanilla time is not positive, expected positive prices",
                quote(target.name));
  return prices;
}

double relative_variance(const Eigen::ArrayXd& values) {
  const double mean = values.mean();
  return (values / mean - 1.0).square().mean();
}

/// Variance of ln(sum of vanilla times / sum of times) when requests are resampled, to first order.
double sampling_variance(const Eigen::VectorXd& vanilla, const Eigen::VectorXd& times) {
  return (vanilla / vanilla.sum() - times / times.sum()).squaredNorm();
}

Eigen::VectorXd own_prices(const Eigen::VectorXd& all, std::span<const std::size_t> place) {
  Eigen::VectorXd own(static_cast<Index>(2 * place.size()));
  for (std::size_t i = 0; i < place.size(); ++i)
    own.segment<2>(static_cast<Index>(2 * i)) = all.segment<2>(static_cast<Index>(2 * place[i]));
  return own;
}

Result<Value> value_of(const Plan& plan, const Variant& variant, const TargetPrices& prices,
                       const SweepTarget& target) {
  const Eigen::VectorXd own = own_prices(prices.mean, variant.place);
  const Eigen::VectorXd times = variant.passes.sums * own;
  const auto not_positive = [&] {
    return fail("prices of {}: a time of setting {} is not positive, expected positive prices",
                quote(target.name), variant.setting);
  };
  if (!is_time(times.array())) return not_positive();
  Value value{.speedup = prices.vanilla.sum() / times.sum(),
              .request_mean = (prices.vanilla.array() / times.array()).mean()};
  if (plan.draws == 0) return value;
  const Eigen::ArrayXd denominator = target.draws ? row_products(variant.drawn, prices.drawn, variant.place)
                                                  : Eigen::ArrayXd((variant.drawn * own).array());
  if (!is_time(denominator)) return not_positive();
  Eigen::ArrayXd speedups = prices.numerator / denominator;
  double sampled = 1.0;
  if (target.draws) {
    const double all = relative_variance(speedups);
    sampled = all > 0.0 ? std::min(sampling_variance(prices.vanilla, times) / all, 1.0) : 1.0;
  }
  value.intervals = take_intervals({speedups.data(), static_cast<std::size_t>(speedups.size())},
                                   widened_levels(static_cast<std::size_t>(times.size()), sampled));
  return value;
}

void put(SweepAnswer& answer, const Value& value, const Variant& variant, bool with_intervals) {
  if (!variant.most) {
    answer.speedup = value.speedup;
    answer.min_speedup = value.speedup;
    answer.request_mean = value.request_mean;
    if (with_intervals) {
      answer.interval_80 = value.intervals.of_80;
      answer.interval_95 = value.intervals.of_95;
    }
    return;
  }
  answer.min_speedup = value.speedup;
  if (with_intervals) {
    const auto joined = [&](const Interval& first, const Interval& other) {
      return interval_of_cases({answer.speedup, first}, {value.speedup, other}, answer.status);
    };
    answer.interval_80 = joined(*answer.interval_80, value.intervals.of_80);
    answer.interval_95 = joined(*answer.interval_95, value.intervals.of_95);
  }
}

Result<void> answer_target(const Plan& plan, std::span<const SweepSetting> settings,
                           const SweepTarget& target, std::size_t threads, std::span<SweepAnswer> answers) {
  DRAFTSCOPE_TRY_ASSIGN(const TargetPrices prices, target_prices(plan, target, threads));
  std::vector<Result<Value>> values(plan.variants.size());
  for_each_index(values.size(), threads,
                 [&](std::size_t i) { values[i] = value_of(plan, plan.variants[i], prices, target); });
  for (std::size_t i = 0; i < values.size(); ++i) {
    DRAFTSCOPE_TRY(values[i]);
    const Variant& variant = plan.variants[i];
    SweepAnswer& answer = answers[variant.setting];
    answer.status = settings[variant.setting].status;
    put(answer, *values[i], variant, plan.draws > 0);
  }
  return {};
}

Result<Plan> plan_sweep(std::span<const PassCount> vanilla, std::span<const SweepSetting> settings,
                        std::span<const SweepTarget> targets, std::span<const std::size_t> requests,
                        const SweepOptions& options) {
  const std::size_t threads = thread_count(options.threads);
  Plan plan{.vanilla = pass_sums(vanilla, requests), .variants = variants_of(settings)};
  for_each_index(plan.variants.size(), threads, [&](std::size_t i) {
    Variant& variant = plan.variants[i];
    const SweepSetting& setting = settings[variant.setting];
    variant.passes = pass_sums(variant.most ? setting.max_drafted : setting.min_drafted, requests);
  });
  plan.kinds = all_kinds(plan.variants);
  DRAFTSCOPE_TRY(check_prices_cover(targets, plan.kinds));
  for (Variant& variant : plan.variants) place_kinds(variant, plan.kinds);
  if (requests.size() < min_clusters_for_interval) return plan;

  plan.draws = static_cast<std::size_t>(options.draws);
  double columns = 2.0 * static_cast<double>(plan.kinds.size()) * static_cast<double>(threads);
  for (const Variant& variant : plan.variants) columns += static_cast<double>(variant.passes.sums.cols());
  const double bytes = columns * static_cast<double>(plan.draws) * sizeof(double);
  if (bytes > largest_bytes)
    return fail("sweep of {} settings and {} draws: needs {:.1f} GiB, expected at most {:.0f}",
                settings.size(), plan.draws, bytes / (1024 * 1024 * 1024),
                largest_bytes / (1024 * 1024 * 1024));
  const Eigen::MatrixXd counts = count_matrix(options.seed, plan.draws, requests.size());
  plan.vanilla_drawn = counts * plan.vanilla.sums;
  for_each_index(plan.variants.size(), threads,
                 [&](std::size_t i) { plan.variants[i].drawn = counts * plan.variants[i].passes.sums; });
  return plan;
}

}  // namespace

Result<SweepTable> sweep(std::span<const PassCount> vanilla, std::span<const SweepSetting> settings,
                         std::span<const SweepTarget> targets, const SweepOptions& options) {
  DRAFTSCOPE_TRY(check_sweep(vanilla, settings, options));
  const std::vector<std::size_t> requests = requests_with_tokens(vanilla);
  DRAFTSCOPE_TRY_ASSIGN(const Plan plan, plan_sweep(vanilla, settings, targets, requests, options));
  SweepTable table{.settings = settings.size(), .targets = targets.size(), .requests = requests.size()};
  table.answers.resize(settings.size() * targets.size());
  if (plan.draws == 0)
    table.no_interval_reason = fmt::format("{} request{}, an interval needs at least {}", requests.size(),
                                           requests.size() == 1 ? "" : "s", min_clusters_for_interval);

  // Targets run in parallel; remaining threads work inside of a target.
  const std::size_t threads = thread_count(options.threads);
  const std::size_t outer = std::clamp<std::size_t>(targets.size(), 1, threads);
  std::vector<Result<void>> results(targets.size());
  for_each_index(targets.size(), outer, [&](std::size_t i) {
    const std::span<SweepAnswer> answers(table.answers);
    results[i] = answer_target(plan, settings, targets[i], threads / outer,
                               answers.subspan(i * settings.size(), settings.size()));
  });
  for (Result<void>& result : results) DRAFTSCOPE_TRY(result);
  return table;
}

}  // namespace draftscope::simulator
