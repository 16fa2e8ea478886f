// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/cascade/rule.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace draftscope::speculation {

namespace {

/// Leaves out so many layers between the first and the last, at equal distances.
SublayerMask without_layers(std::int32_t left_out, std::int32_t n_layers) {
  SublayerMask mask(n_layers);
  const std::int32_t between = n_layers - 2;
  for (std::int32_t i = 0; i < left_out; ++i) {
    const std::int32_t layer = 1 + (2 * i + 1) * between / (2 * left_out);
    mask.skip_attention(layer).skip_mlp(layer);
  }
  return mask;
}

std::optional<SublayerMask> mask_of(std::string_view text, std::int32_t n_layers) {
  constexpr std::string_view exit = "exit-";
  if (text.starts_with(exit)) {
    const auto layers = parse_number<std::int32_t>(text.substr(exit.size()));
    if (!layers || *layers < 1 || *layers >= n_layers) return std::nullopt;
    return SublayerMask::early_exit(n_layers, *layers);
  }
  const auto share = parse_number<double>(text);
  if (!share || !(*share > 0.0 && *share < 1.0)) return std::nullopt;
  const auto left_out = static_cast<std::int32_t>(std::floor(*share * (n_layers - 2)));
  return without_layers(std::max(left_out, 0), n_layers);
}

std::optional<WeightFormat> made_format(std::string_view name) {
  const auto format = parse_weight_format(name);
  if (!format || weight_format_row(*format).made_by == MadeBy::none) return std::nullopt;
  return *format;
}

std::optional<CascadeLevel> level_of(std::string_view text, std::int32_t n_layers) {
  CascadeLevel level{.name = std::string(text), .mask = SublayerMask(n_layers), .weights = {}};
  const std::size_t slash = text.find('/');
  const bool has_slash = slash != std::string_view::npos;
  level.weights = made_format(has_slash ? text.substr(slash + 1) : text);
  if (has_slash != level.weights.has_value()) return has_slash ? std::nullopt : std::optional(level);
  const auto mask = mask_of(text.substr(0, slash), n_layers);
  if (!mask) return std::nullopt;
  level.mask = *mask;
  return level;
}

}  // namespace

Result<std::vector<CascadeLevel>> cascade_levels(std::string_view text, std::int32_t n_layers) {
  constexpr std::size_t most = 8;
  std::vector<CascadeLevel> levels;
  if (text.empty() || text == "none") return levels;
  while (true) {
    const std::size_t plus = std::min(text.find('+'), text.size());
    auto level = level_of(text.substr(0, plus), n_layers);
    if (!level)
      return fail(
          "strategy cascade: levels: found {}, expected a share of layers left out as 0.4, exit-1 to "
          "exit-{}, "
          "weights as q4_0, or 0.4/q4_0",
          quote(text.substr(0, plus)), n_layers - 1);
    levels.push_back(*std::move(level));
    if (levels.size() > most)
      return fail("strategy cascade: levels: found more than {}, expected at most that many", most);
    if (plus == text.size()) return levels;
    text.remove_prefix(plus + 1);
  }
}

namespace {

constexpr double text_cost = 0.01;  // cost of a guess, in steps of the target
constexpr std::int32_t longest_match = 4;

/// Returns α + α² + … + α^k.
double power_sum(double alpha, std::int32_t k) {
  double sum = 0.0;
  double power = 1.0;
  for (std::int32_t i = 0; i < k; ++i) sum += power *= alpha;
  return sum;
}

/// Follows a measurement whose outliers are upward.
void follow(double measured, double& value) {
  constexpr double weight = 0.2;
  value += weight * (std::min(measured, 4.0 * value) - value);
}

}  // namespace

void MovingShare::add(double outcome) {
  if (latest_.size() < static_cast<std::size_t>(memory_)) {
    latest_.push_back(outcome);
  } else {
    latest_[next_] = outcome;
    next_ = (next_ + 1) % latest_.size();
  }
  has_new_ = true;
}

void MovingShare::move() {
  if (!has_new_) return;
  has_new_ = false;
  const double recent =
      std::accumulate(latest_.begin(), latest_.end(), 0.0) / static_cast<double>(latest_.size());
  share_ = decay_ * share_ + (1.0 - decay_) * recent;
}

CascadeRule::CascadeRule(const Options& options)
    : options_(options), costs_(options.costs), row_cost_(options.row_cost) {
  constexpr double of_level = 0.8;
  for (std::size_t level = 0; level < costs_.size(); ++level)
    rates_.push_back({MovingShare(of_level, options.decay, options.memory),
                      MovingShare(of_level, options.decay, options.memory)});
  constexpr double of_a_match = 0.3;
  for (std::int32_t matched = 1; matched <= longest_match; ++matched)
    guess_rates_.emplace_back(1.0 - std::pow(1.0 - of_a_match, matched), options.decay, options.memory);
}

double CascadeRule::text_rate() const {
  double sum = 0.0;
  for (const MovingShare& rate : guess_rates_) sum += rate.share();
  return sum / static_cast<double>(guess_rates_.size());
}

double CascadeRule::objective(std::int32_t level, std::int32_t length) const {
  const LevelRate& rate = rates_[static_cast<std::size_t>(level)];
  const double alpha = rate.right.share();
  const double tokens = power_sum(alpha, length) + std::pow(alpha, length) * text_rate();
  return tokens / (pass_cost(level) / rate.tokens_per_pass * length + text_cost);
}

CascadeRule::Step CascadeRule::choose(double stays, const Spent& spent, std::int32_t room) const {
  Step best;
  double highest = 0.0;
  for (std::int32_t level = 0; level < levels(); ++level)
    for (std::int32_t length = 1; length <= std::min(options_.max_length, room); ++length) {
      const double value = objective(level, length);
      if (value > highest) best = {level, length};
      highest = std::max(highest, value);
    }
  if (best.level < 0) return best;
  const LevelRate& rate = rates_[static_cast<std::size_t>(best.level)];
  const double adds = stays * power_sum(rate.right.share(), best.length);
  const double takes = (pass_cost(best.level) / rate.tokens_per_pass + row_cost_) * best.length;
  return adds * spent.time > takes * spent.tokens ? best : Step{};
}

double CascadeRule::acceptance(std::int32_t level, double share) const {
  const LevelRate& rate = rates_[static_cast<std::size_t>(level)];
  constexpr double surest = 0.99;
  const double predicted = std::max(rate.predicted.share(), 0.01);
  return std::clamp(share * rate.right.share() / predicted, 0.0, surest);
}

double CascadeRule::guess_acceptance(std::int32_t matched) const {
  return guess_rates_[static_cast<std::size_t>(std::clamp(matched, 1, longest_match) - 1)].share();
}

void CascadeRule::end_pass(std::int32_t level, std::int32_t tokens, std::int64_t ns) {
  constexpr double weight = 0.1;
  double& mean = rates_[static_cast<std::size_t>(level)].tokens_per_pass;
  mean += weight * (std::max(tokens, 1) - mean);
  if (options_.is_measured && ns > 0 && step_ns_ > 0.0)
    follow(static_cast<double>(ns) / step_ns_, costs_[static_cast<std::size_t>(level)]);
}

void CascadeRule::end_verification(std::int32_t rows, std::int64_t ns) {
  if (!options_.is_measured || ns <= 0) return;
  const auto took = static_cast<double>(ns);
  if (rows <= 1) {
    if (step_ns_ > 0.0)
      follow(took, step_ns_);
    else
      step_ns_ = took;
  } else if (step_ns_ > 0.0) {
    constexpr double least = 1e-4;
    follow(std::max((took / step_ns_ - 1.0) / static_cast<double>(rows - 1), least), row_cost_);
  }
}

void CascadeRule::judge(std::span<const Judged> tokens) {
  for (const Judged& token : tokens) {
    const double outcome = token.is_right ? 1.0 : 0.0;
    if (token.level == levels()) {
      guess_rates_[static_cast<std::size_t>(std::clamp(token.matched, 1, longest_match) - 1)].add(outcome);
      continue;
    }
    LevelRate& rate = rates_[static_cast<std::size_t>(token.level)];
    rate.right.add(outcome);
    rate.predicted.add(token.share);
  }
  for (LevelRate& rate : rates_) {
    rate.right.move();
    rate.predicted.move();
  }
  for (MovingShare& rate : guess_rates_) rate.move();
}

LastFollowed last_followed(std::span<const std::int32_t> text, std::int32_t max_match,
                           std::int32_t max_tokens) {
  const std::size_t size = text.size();
  LastFollowed best;
  if (size < 2) return best;
  // The search runs backwards from the latest place; only a longer match replaces a later one.
  for (std::size_t end = size - 1; end >= 1 && best.matched < max_match; --end) {
    std::int32_t matched = 0;
    while (matched < max_match && static_cast<std::size_t>(matched) < end &&
           text[end - 1 - static_cast<std::size_t>(matched)] ==
               text[size - 1 - static_cast<std::size_t>(matched)])
      ++matched;
    if (matched <= best.matched) continue;
    const std::size_t count = std::min(static_cast<std::size_t>(max_tokens), size - end);
    best = {text.subspan(end, count), matched};
  }
  return best;
}

}  // namespace draftscope::speculation
