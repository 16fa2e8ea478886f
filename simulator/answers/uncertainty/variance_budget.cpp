// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/prediction.h>

#include <cmath>

#include <draftscope/base/parallel.h>

#include "answers/uncertainty/confidence_draws.h"
#include "answers/uncertainty/pass_sums.h"

namespace draftscope::simulator {

namespace {

using Eigen::Index;

/// [draw][2 · kind]: the sums of the requests in a draw, or of each request once in all draws.
struct DrawnSums {
  Eigen::MatrixXd vanilla, passes;
};

DrawnSums drawn_sums(const Eigen::MatrixXd& counts, const PassSums& vanilla, const PassSums& passes) {
  return {counts * vanilla.sums, counts * passes.sums};
}

/// Variance of ln(speedup); `prices` has the setting's kinds, then those of vanilla decoding.
Result<double> log_variance(const DrawnSums& sums, const Eigen::MatrixXd& prices) {
  const Index own = sums.passes.cols();
  const Eigen::ArrayXd baseline =
      (sums.vanilla.array() * prices.rightCols(sums.vanilla.cols()).array()).rowwise().sum();
  const Eigen::ArrayXd times = (sums.passes.array() * prices.leftCols(own).array()).rowwise().sum();
  if (!is_time(baseline) || !is_time(times))
    return fail("drawn prices: a time is not positive, expected positive prices");
  const Eigen::ArrayXd logs = baseline.log() - times.log();
  return (logs - logs.mean()).square().mean();
}

constexpr PriceSources nothing{.fit = false, .width = false, .transfer = false};
constexpr PriceSources fit_alone{.fit = true, .width = false, .transfer = false};
constexpr PriceSources width_alone{.fit = false, .width = true, .transfer = false};
constexpr PriceSources transfer_alone{.fit = false, .width = false, .transfer = true};

/// Variance of ln(speedup) that another kind of text adds.
double text_variance(const PredictionOptions& options) {
  if (!options.other_texts) return 0.0;
  const std::vector<double> deviations =
      kind_deviations(*options.other_texts, {.draws = options.draws, .seed = options.seed});
  const Eigen::Map<const Eigen::ArrayXd> found(deviations.data(), static_cast<Index>(deviations.size()));
  return (found - found.mean()).square().mean();
}

/// Rounding error of ln(speedup) where nothing varies.
constexpr double min_variance = 1e-26;

}  // namespace

Result<VarianceBudget> variance_budget(std::span<const PassCount> vanilla, const SettingRounds& setting,
                                       const PricedMachine& machine, const PredictionOptions& options) {
  DRAFTSCOPE_TRY(check_setting(vanilla, setting, machine, options));
  const std::vector<std::size_t> requests = requests_with_tokens(vanilla);
  if (requests.size() < min_clusters_for_interval)
    return fail("variance budget: found {} requests, expected at least {}", requests.size(),
                min_clusters_for_interval);
  const PassSums baseline = pass_sums(vanilla, requests);
  const PassSums passes = pass_sums(setting.min_drafted, requests);

  const auto draws = static_cast<std::size_t>(options.draws);
  const auto rows = static_cast<Index>(draws);
  std::vector<PassKind> kinds = passes.kinds;
  kinds.push_back(baseline.kinds[0]);
  const std::size_t threads = thread_count(options.threads);
  const auto drawn = [&](PriceSources vary) -> Eigen::MatrixXd {
    const bool varies = vary.fit || vary.width || vary.transfer;
    if (varies && machine.draws) return price_matrix(machine.draws, vary, draws, kinds, threads);
    return price_vector(machine.prices, kinds).transpose().replicate(rows, 1);
  };
  const DrawnSums resampled =
      drawn_sums(count_matrix(options.seed, draws, requests.size()), baseline, passes);
  const DrawnSums once =
      drawn_sums(Eigen::MatrixXd::Ones(rows, static_cast<Index>(requests.size())), baseline, passes);

  DRAFTSCOPE_TRY_ASSIGN(double all, log_variance(resampled, drawn({})));
  DRAFTSCOPE_TRY_ASSIGN(double acceptance, log_variance(resampled, drawn(nothing)));
  DRAFTSCOPE_TRY_ASSIGN(const double fit, log_variance(once, drawn(fit_alone)));
  DRAFTSCOPE_TRY_ASSIGN(const double width, log_variance(once, drawn(width_alone)));
  DRAFTSCOPE_TRY_ASSIGN(const double transfer, log_variance(once, drawn(transfer_alone)));
  const double texts = text_variance(options);
  all += texts;
  acceptance += texts;
  if (all < min_variance) return VarianceBudget{};
  return VarianceBudget{.sigma = std::sqrt(all),
                        .acceptance = acceptance / all,
                        .fit = fit / all,
                        .width = width / all,
                        .transfer = transfer / all,
                        .interaction = 1.0 - (acceptance + fit + width + transfer) / all};
}

}  // namespace draftscope::simulator
