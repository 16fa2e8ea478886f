// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/oracle/price_of_time.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "answers/oracle/oracle.h"

namespace draftscope::simulator {

namespace {

constexpr double levels_per_unit = 50.0;  // Levels per unit of the logarithm of an acceptance.
constexpr std::size_t hopeless = 256;     // The level from which a prefix counts as rejected: e^-5.12.
constexpr int max_iterations = 100;
constexpr double never = 2.0;  // A threshold above every probability.

/// Minus the logarithm of an acceptance, in rounded levels.
std::size_t level_of(double acceptance) {
  if (!(acceptance > 0.0)) return hopeless;
  const double level = std::round(-std::log(std::min(acceptance, 1.0)) * levels_per_unit);
  return level < static_cast<double>(hopeless) ? static_cast<std::size_t>(level) : hopeless;
}

double probability_of(std::size_t level) {
  return level < hopeless ? std::exp(-static_cast<double>(level) / levels_per_unit) : 0.0;
}

/// Prices of one exit at one context.
struct RoundPrices {
  double first_ns = 0.0;           ///< Round with one draft token.
  std::vector<double> further_ns;  ///< [drafted]: time of one more token, from 1; element 0 unused
};

/// Computes the prices; all lengths must have prices.
RoundPrices round_prices(const Prices& prices, std::int32_t exit, std::int32_t longest, double context) {
  RoundPrices result{.first_ns = draft_round(prices, exit, 1).at(context),
                     .further_ns = std::vector<double>(static_cast<std::size_t>(longest))};
  for (std::int32_t drafted = 1; drafted < longest; ++drafted)
    result.further_ns[static_cast<std::size_t>(drafted)] =
        draft_round(prices, exit, drafted + 1).at(context) - draft_round(prices, exit, drafted).at(context);
  return result;
}

/// The decision process of one exit, and its solution at a price.
class RoundProcess {
 public:
  RoundProcess(const ConfidenceModel& model, RoundPrices prices, std::int32_t longest)
      : model_(model), prices_(std::move(prices)), longest_(static_cast<std::size_t>(longest)) {
    for (const double acceptance : model.acceptance) levels_.push_back(level_of(acceptance));
    rule_.model = model;
    for (std::size_t bin = 0; bin < levels_.size(); ++bin)
      rule_.model.acceptance[bin] = probability_of(levels_[bin]);
    rule_.longest = longest;
    rule_.min_acceptance.assign(longest_ - 1, std::vector<double>(levels_.size(), never));
  }

  /// Stores the best rule at this price in rule(), and returns its yield per round.
  Yield respond(double price) {
    const std::size_t bins = levels_.size();
    // [bin][level]: future yield after this many draft tokens
    std::vector<Yield> later(bins * (hopeless + 1));
    for (std::size_t drafted = longest_ - 1; drafted >= 1; --drafted) {
      std::vector<Yield> now(later.size());
      for (std::size_t bin = 0; bin < bins; ++bin) {
        double& least = rule_.min_acceptance[drafted - 1][bin];
        least = never;
        for (std::size_t level = 0; level <= hopeless; ++level) {
          const Yield more = go_on(later, drafted, bin, level);
          // The less likely the prefix, the smaller the gain, so the first refusal decides the rest.
          if (more.tokens - price * more.ns <= 0.0) break;
          now[bin * (hopeless + 1) + level] = more;
          // Halfway to the next level, so that rounding has no effect.
          least = level < hopeless ? std::exp(-(static_cast<double>(level) + 0.5) / levels_per_unit) : 0.0;
        }
      }
      later = std::move(now);
    }
    Yield round{.tokens = 1.0, .ns = prices_.first_ns};
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const Yield& rest = later[bin * (hopeless + 1) + levels_[bin]];
      round.tokens += model_.start[bin] * (probability_of(levels_[bin]) + rest.tokens);
      round.ns += model_.start[bin] * rest.ns;
    }
    return round;
  }

  [[nodiscard]] const PrefixThreshold& rule() const { return rule_; }

 private:
  /// Yield of one more draft token after `drafted`, and of the best continuation.
  [[nodiscard]] Yield go_on(const std::vector<Yield>& later, std::size_t drafted, std::size_t bin,
                            std::size_t level) const {
    Yield sum{.tokens = 0.0, .ns = prices_.further_ns[drafted]};
    const std::vector<double>& next = model_.next[bin];
    for (std::size_t to = 0; to < levels_.size(); ++to) {
      const std::size_t then = std::min(level + levels_[to], hopeless);
      const Yield& rest = later[to * (hopeless + 1) + then];
      sum.tokens += next[to] * (probabilities_[then] + rest.tokens);
      sum.ns += next[to] * rest.ns;
    }
    return sum;
  }

  static std::vector<double> all_probabilities() {
    std::vector<double> all;
    for (std::size_t level = 0; level <= hopeless; ++level) all.push_back(probability_of(level));
    return all;
  }

  const ConfidenceModel& model_;
  RoundPrices prices_;
  std::size_t longest_;
  std::vector<std::size_t> levels_;  // [bin]
  std::vector<double> probabilities_ = all_probabilities();
  PrefixThreshold rule_;
};

}  // namespace

double dinkelbach(const std::function<Yield(double price)>& best_response, double start) {
  double price = start;
  for (int iteration = 0; iteration < max_iterations; ++iteration) {
    const Yield best = best_response(price);
    const double ratio = best.tokens / best.ns;
    if (!(ratio > price * (1.0 + std::numeric_limits<double>::epsilon() * 4.0))) break;
    price = ratio;
  }
  return price;
}

Result<PricedRule> best_prefix_rule(const ConfidenceModel& model, const Prices& prices, std::int32_t longest,
                                    double context) {
  if (longest < 1 || longest_priced(prices, model.exit) < longest)
    return fail("prices: exit layer {} has none for {} draft tokens, expected one a length", model.exit,
                longest);
  const double plain_ns = plain_round(prices).at(context);
  RoundProcess process(model, round_prices(prices, model.exit, longest, context), longest);
  PricedRule best{.rule = {}, .round = {.tokens = 1.0, .ns = plain_ns}, .price = 1.0 / plain_ns};
  best.price = dinkelbach(
      [&](double price) {
        const Yield drafting = process.respond(price);
        if (drafting.tokens - price * drafting.ns > 1.0 - price * plain_ns &&
            drafting.tokens / drafting.ns > best.price) {
          best = {.rule = process.rule(), .round = drafting, .price = drafting.tokens / drafting.ns};
          return drafting;
        }
        return Yield{.tokens = 1.0, .ns = plain_ns};
      },
      best.price);
  return best;
}

}  // namespace draftscope::simulator
