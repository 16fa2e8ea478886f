// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/guard/rule.h"

#include <algorithm>

namespace draftscope::speculation {

namespace {

constexpr std::int64_t measuring_interval = 64;  // rounds of the strategy
constexpr std::int64_t first_stop = 32;          // rounds
constexpr std::int64_t longest_stop = 8192;      // rounds
constexpr double interrupted_factor = 8.0;  // times the strategy's recent rounds; more is an interruption
constexpr double price_of_trial = 1.0;      // vanilla rounds
constexpr double gain_that_counts = 2.0;    // vanilla rounds; a larger gain justifies the return
constexpr double min_share = 1.0 / 256.0;   // share of vanilla's time, for trials

}  // namespace

SpeedGuard::SpeedGuard(double min_speed)
    : account_({.share = std::max(1.0 / min_speed - 1.0, min_share)}),
      vanilla_ns_(6),
      strategy_ns_(6),
      balance_back_(account_.balance()) {}

bool SpeedGuard::has_turned() {
  const bool turned = has_turned_;
  has_turned_ = false;
  return turned;
}

bool SpeedGuard::may_come_back() const {
  return stopped_rounds_ >= interval_ && account_.balance() >= price_of_trial;
}

void SpeedGuard::come_back() {
  is_stopped_ = false;
  has_turned_ = true;
  balance_back_ = account_.balance();
}

void SpeedGuard::begin_request() {
  if (is_stopped_ && may_come_back()) come_back();
  began_stopped_ = is_stopped_;
}

SpeedGuard::Round SpeedGuard::next() {
  if (is_stopped_ && !began_stopped_ && may_come_back()) come_back();
  if (is_stopped_) return Round::vanilla;
  return measured_ < 2 || since_vanilla_ >= measuring_interval ? Round::measure : Round::strategy;
}

void SpeedGuard::end_round(Round kind, std::int64_t round_ns, std::int32_t tokens) {
  if (kind != Round::strategy) {
    if (since_vanilla_ > 0) measured_ = 0;
    since_vanilla_ = 0;
    ++measured_;
    vanilla_ns_.add(static_cast<double>(round_ns));
    account_.add(tokens, 1.0);
    if (is_stopped_) ++stopped_rounds_;
    return;
  }
  ++since_vanilla_;
  // An interruption of a round is not a cost of the strategy.
  const auto took_ns = static_cast<double>(round_ns);
  const double charged_ns =
      strategy_ns_.empty() ? took_ns : std::min(took_ns, interrupted_factor * strategy_ns_.value());
  strategy_ns_.add(took_ns);
  if (vanilla_ns_.empty() || vanilla_ns_.value() <= 0.0) return;
  account_.add(tokens, charged_ns / vanilla_ns_.value());
  if (account_.balance() > balance_back_ + gain_that_counts) interval_ = 0;
  if (account_.balance() > 0.0) return;
  is_stopped_ = has_turned_ = true;
  stopped_rounds_ = 0;
  interval_ = std::clamp(2 * interval_, first_stop, longest_stop);
}

}  // namespace draftscope::speculation
