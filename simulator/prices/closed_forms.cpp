// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/closed_forms.h>

#include <algorithm>
#include <cmath>

namespace draftscope::simulator {

namespace {

constexpr std::int32_t longest_draft = 1'000'000;

Result<void> check_share(double value, const char* name) {
  if (value >= 0.0 && value <= 1.0) return {};
  return fail("{}: found {}, expected 0 to 1", name, value);
}

Result<void> check_cost(double value, const char* name) {
  if (value >= 0.0 && std::isfinite(value)) return {};
  return fail("{}: found {}, expected a finite number of at least 0", name, value);
}

Result<void> check_length(std::int32_t gamma, std::int32_t least) {
  if (gamma >= least && gamma <= longest_draft) return {};
  return fail("speculation length: found {}, expected {} to {}", gamma, least, longest_draft);
}

Result<void> check_layers(double draft_layers, std::int32_t n_layers) {
  if (n_layers < 1) return fail("layers of the model: found {}, expected at least 1", n_layers);
  if (draft_layers >= 0.0 && draft_layers <= n_layers) return {};
  return fail("layers of the draft: found {}, expected 0 to the model's {}", draft_layers, n_layers);
}

/// Expected tokens. Where α is close to 1, 1 − α^(γ+1) cancels; expm1 and log1p preserve the digits.
double tokens(double alpha, std::int32_t gamma) {
  if (alpha == 1.0) return gamma + 1.0;
  if (alpha == 0.0 || gamma == 0) return 1.0;
  return -std::expm1((gamma + 1.0) * std::log(alpha)) / (1.0 - alpha);
}

/// Bisection on an increasing function until no double is inside the interval.
double solve(double wanted, std::int32_t gamma) {
  double low = 0.0;
  double high = 1.0;
  while (true) {
    const double middle = low + (high - low) / 2.0;
    if (middle == low || middle == high) return high;
    (tokens(middle, gamma) < wanted ? low : high) = middle;
  }
}

double round_cost(const RoundCost& cost, double steps) {
  return steps * cost.c + cost.v + cost.o;
}

}  // namespace

Result<double> expected_tokens(double alpha, std::int32_t gamma) {
  DRAFTSCOPE_TRY(check_share(alpha, "acceptance rate"));
  DRAFTSCOPE_TRY(check_length(gamma, 0));
  return tokens(alpha, gamma);
}

Result<double> leviathan_speedup(double alpha, std::int32_t gamma, double c) {
  DRAFTSCOPE_TRY_ASSIGN(const double expected, expected_tokens(alpha, gamma));
  DRAFTSCOPE_TRY(check_cost(c, "draft-cost coefficient"));
  return expected / (gamma * c + 1.0);
}

Result<double> iid_acceptance_rate(double mean_accepted_length, std::int32_t gamma) {
  DRAFTSCOPE_TRY(check_length(gamma, 1));
  if (!(mean_accepted_length >= 1.0 && mean_accepted_length <= gamma + 1.0))
    return fail("mean accepted length: found {}, expected 1 to {} at speculation length {}",
                mean_accepted_length, gamma + 1, gamma);
  if (mean_accepted_length == 1.0) return 0.0;
  if (mean_accepted_length == gamma + 1.0) return 1.0;
  return solve(mean_accepted_length, gamma);
}

Result<double> round_speedup(double mean_accepted_length, const RoundCost& cost) {
  DRAFTSCOPE_TRY(check_cost(mean_accepted_length, "mean accepted length"));
  DRAFTSCOPE_TRY(check_cost(cost.steps_per_round, "draft steps per round"));
  DRAFTSCOPE_TRY(check_cost(cost.c, "draft-cost coefficient"));
  DRAFTSCOPE_TRY(check_cost(cost.v, "verification cost"));
  DRAFTSCOPE_TRY(check_cost(cost.o, "overhead of a round"));
  const double sum = cost.steps_per_round * cost.c + cost.v + cost.o;
  if (sum > 0.0 && std::isfinite(sum)) return mean_accepted_length / sum;
  return fail("cost of a round: found {}, expected a finite number above 0", sum);
}

Result<double> tokens_per_loaded_layer(double alpha, std::int32_t gamma, double draft_layers,
                                       std::int32_t n_layers) {
  DRAFTSCOPE_TRY_ASSIGN(const double expected, expected_tokens(alpha, gamma));
  DRAFTSCOPE_TRY(check_layers(draft_layers, n_layers));
  return expected / (gamma * draft_layers + n_layers);
}

Result<BreakEven> break_even(const RoundCost& cost, std::optional<std::int32_t> gamma) {
  DRAFTSCOPE_TRY(round_speedup(1.0, cost));
  if (!(cost.steps_per_round > 0.0))
    return fail("draft steps per round: found {}, expected above 0", cost.steps_per_round);
  BreakEven result;
  result.mean_accepted_length = round_cost(cost, cost.steps_per_round);
  result.acceptance_rate = std::max(result.mean_accepted_length - 1.0, 0.0) / cost.steps_per_round;
  if (!gamma) return result;
  if (*gamma < 1) return fail("speculation length: found {}, expected at least 1", *gamma);
  const double needed = round_cost(cost, *gamma);
  if (needed > *gamma + 1.0) return result;
  DRAFTSCOPE_TRY_ASSIGN(result.alpha, iid_acceptance_rate(std::max(needed, 1.0), *gamma));
  return result;
}

double accepted_by_token(std::span<const double> ratios) {
  double stays = 1.0;
  double tokens = 0.0;
  for (const double ratio : ratios) tokens += stays *= std::min(ratio, 1.0);
  return tokens;
}

double accepted_by_block(std::span<const double> ratios) {
  double stays = 1.0;
  double tokens = 0.0;
  for (const double ratio : ratios) tokens += stays = std::min(stays * ratio, 1.0);
  return tokens;
}

}  // namespace draftscope::simulator
