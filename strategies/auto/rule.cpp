// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/auto/rule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace draftscope::speculation {

namespace {

constexpr std::array<std::string_view, 3> kind_names{"vanilla", "text", "model"};
constexpr std::array<std::string_view, 5> reason_names{"best", "measure", "trial", "account", "no room"};

constexpr double trial_hope = 1.0;           // standard deviations
constexpr std::int64_t max_interval = 4096;  // rounds from one trial to the next
constexpr double yield_half_life = 64.0;     // rounds
constexpr double yield_prior = 64.0;         // tokens
constexpr double max_stake = 0.4;            // share of all that may be lost
constexpr double free_stake = 0.75;          // vanilla rounds
constexpr double max_excess = 2.0;           // a round counts at most for this multiple of its expected time
constexpr double sure_rate = 2.0;            // rate of a text guess that no trial may replace

/// Vanilla rounds that one round may lose. It is less than all that is left, since otherwise one draft that
/// is entirely wrong would end drafting.
double stake(double balance) {
  return std::min(balance, std::max(max_stake * balance, free_stake));
}

std::vector<double> step_costs(const AutoOptions& options) {
  std::vector<double> costs;
  for (const ExpectedDrafter& drafter : options.drafters) costs.push_back(drafter.step_cost);
  return costs;
}

}  // namespace

std::string_view auto_kind_name(AutoChoice::Kind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

std::string_view auto_reason_name(AutoChoice::Reason reason) {
  return reason_names[static_cast<std::size_t>(reason)];
}

void AutoRule::Yield::add(double expected, double tokens) {
  expected_ += expected;
  came_ += tokens;
}

void AutoRule::Yield::fade() {
  static const double kept = std::exp2(-1.0 / yield_half_life);
  expected_ *= kept;
  came_ *= kept;
}

double AutoRule::Yield::share() const {
  return (came_ + yield_prior) / (expected_ + yield_prior);
}

AutoRule::AutoRule(AutoOptions options)
    : options_(std::move(options)),
      costs_(step_costs(options_)),
      text_(options_.max_length),
      account_(options_.account) {
  for (const ExpectedDrafter& drafter : options_.drafters)
    drafters_.push_back({.confidences = DraftConfidences(drafter)});
}

void AutoRule::begin_request(std::span<const std::int32_t> prompt, std::size_t tokens) {
  text_.begin_request(prompt, tokens);
  ended_behind_ = Sureness::unknown;
}

double AutoRule::balance() const {
  double balance = account_.balance();
  for (const Unbooked& round : unbooked_) balance += round.tokens - round.expected_cost;
  return balance;
}

AutoChoice AutoRule::vanilla(AutoChoice::Reason reason) const {
  return {.reason = reason, .balance = balance()};
}

void AutoRule::consider(AutoChoice choice, double max_cost, AutoChoice& best) {
  const bool is_other = choice.kind != best.kind;
  if (choice.rate() <= best.rate()) {
    if (is_other) best.next_rate = std::max(best.next_rate, choice.rate());
    return;
  }
  if (max_cost - 1.0 > stake(best.balance)) {
    if (best.kind == AutoChoice::Kind::vanilla) best.reason = AutoChoice::Reason::account;
    return;
  }
  choice.balance = best.balance;
  choice.next_rate = is_other ? best.rate() : best.next_rate;
  best = choice;
}

void AutoRule::consider_text(std::span<const std::int32_t> text, TextSource source, std::int32_t room,
                             bool is_hoped, AutoChoice& best) const {
  const auto guesses = std::min(static_cast<std::int32_t>(text_.guess(text, source).size()), room);
  AutoChoice choice{.kind = AutoChoice::Kind::text, .source = source};
  const double yield = text_yields_[static_cast<std::size_t>(source)].share();
  double path = 1.0;
  for (choice.length = 1; choice.length <= guesses; ++choice.length) {
    path *= text_.acceptance(source, choice.length - 1);
    choice.expected_tokens += path * yield;
    const double cost = costs_.verification(choice.length + 1);
    choice.expected_cost = is_hoped ? costs_.hoped_verification(choice.length + 1) : cost;
    consider(choice, cost, best);
  }
}

template <typename Visit>
void AutoRule::for_each_draft(std::int32_t drafter, std::int32_t room, double hope, Visit visit) const {
  const bool is_hoped = hope > 0.0;
  const double step = is_hoped ? costs_.hoped_step(drafter) : costs_.draft_step(drafter);
  const double yield = drafters_[static_cast<std::size_t>(drafter)].yield.share();
  std::array<double, 64> rows{};
  const auto max_length = std::min({room, options_.max_length, static_cast<std::int32_t>(rows.size()) - 1});
  for (std::int32_t i = 0; i <= max_length; ++i)
    rows[static_cast<std::size_t>(i)] =
        is_hoped ? costs_.hoped_verification(i + 1) : costs_.verification(i + 1);
  const auto visit_plan = [&](const DraftConfidences::Plan& plan, const DraftConfidences::Outcome& outcome) {
    // The mean of the costs is about the cost of the mean.
    const double whole = std::floor(outcome.steps);
    const auto low = static_cast<std::size_t>(whole);
    const std::size_t high = std::min(low + 1, static_cast<std::size_t>(max_length));
    const double verification = rows[low] + (outcome.steps - whole) * (rows[high] - rows[low]);
    visit(AutoChoice{.kind = AutoChoice::Kind::model,
                     .drafter = drafter,
                     .length = plan.length,
                     .threshold = plan.threshold,
                     .expected_tokens = 1.0 + yield * (outcome.tokens - 1.0),
                     .expected_cost = outcome.steps * step + verification},
          plan.length * step + rows[static_cast<std::size_t>(plan.length)]);
  };
  drafters_[static_cast<std::size_t>(drafter)].confidences.for_each_plan(began_behind_, max_length, hope,
                                                                         visit_plan);
}

/// The guess that would be better than none if rows cost no more than was expected of them.
std::optional<AutoChoice> AutoRule::text_trial(std::span<const std::int32_t> text, std::int32_t room,
                                               const AutoChoice& best) const {
  AutoChoice tried = best;
  for (const TextSource source : TextGuesses::sources) consider_text(text, source, room, true, tried);
  if (tried.kind != AutoChoice::Kind::text) return std::nullopt;
  tried.reason = AutoChoice::Reason::trial;
  tried.expected_cost = costs_.verification(tried.length + 1);
  return tried;
}

/// The draft of a drafter that would beat the best one if the drafter were better than it seems, with the
/// gain expected of it as it seems.
std::optional<AutoChoice> AutoRule::trial(std::int32_t drafter, std::int32_t room,
                                          const AutoChoice& best) const {
  AutoChoice hoped = vanilla(AutoChoice::Reason::trial);
  bool is_better = false;
  for_each_draft(drafter, room, trial_hope, [&](const AutoChoice& choice, double max_cost) {
    const double max_known =
        choice.length * costs_.draft_step(drafter) + costs_.verification(choice.length + 1);
    if (max_cost - 1.0 > stake(best.balance) || max_known - 1.0 > best.balance ||
        choice.rate() <= std::max(best.rate(), hoped.rate()))
      return;
    hoped = choice;
    is_better = true;
  });
  if (!is_better) return std::nullopt;
  AutoChoice tried = hoped;
  for_each_draft(drafter, room, 0.0, [&](const AutoChoice& choice, double /*max_cost*/) {
    if (choice.length == hoped.length && choice.threshold == hoped.threshold) tried = choice;
  });
  tried.reason = AutoChoice::Reason::trial;
  tried.balance = best.balance;
  tried.next_rate = best.rate();
  return tried;
}

AutoChoice AutoRule::choose(std::span<const std::int32_t> text, std::int32_t room) {
  text_.extend(text);
  ++round_;
  began_behind_ = std::exchange(ended_behind_, Sureness::unknown);
  const std::int32_t longest = std::min(room, options_.max_length);
  if (longest < 1) return vanilla(AutoChoice::Reason::no_room);
  if (costs_.wants_vanilla()) return vanilla(AutoChoice::Reason::measure);
  AutoChoice best = vanilla(AutoChoice::Reason::best);
  for (const TextSource source : TextGuesses::sources) consider_text(text, source, longest, false, best);
  for (std::size_t i = 0; i < drafters_.size(); ++i)
    for_each_draft(static_cast<std::int32_t>(i), longest, 0.0,
                   [&](const AutoChoice& choice, double max_cost) { consider(choice, max_cost, best); });
  for (std::size_t i = 0; i < drafters_.size(); ++i) {
    Drafter& drafter = drafters_[i];
    const auto index = static_cast<std::int32_t>(i);
    if (round_ < drafter.next_trial || best.drafter == index) continue;
    // A text guess that is almost sure is not given up for a trial.
    if (best.kind == AutoChoice::Kind::text && best.rate() > sure_rate) break;
    const auto tried = trial(index, longest, best);
    if (!tried) continue;
    drafter.next_trial = round_ + drafter.trial_interval;
    drafter.trial_interval = std::min(2 * drafter.trial_interval, max_interval);
    return *tried;
  }
  if (best.kind == AutoChoice::Kind::model)
    drafters_[static_cast<std::size_t>(best.drafter)].trial_interval = first_interval;
  if (best.kind == AutoChoice::Kind::text) text_trial_interval_ = first_interval;
  if (best.kind == AutoChoice::Kind::vanilla && round_ >= next_text_trial_)
    if (const auto tried = text_trial(text, longest, best)) {
      next_text_trial_ = round_ + text_trial_interval_;
      text_trial_interval_ = std::min(2 * text_trial_interval_, max_interval);
      return *tried;
    }
  return best;
}

void AutoRule::judge(const AutoChoice& choice, std::span<const JudgedToken> tokens) {
  if (choice.kind != AutoChoice::Kind::model || tokens.empty()) return;
  drafters_[static_cast<std::size_t>(choice.drafter)].confidences.add(began_behind_, tokens);
  if (!tokens.back().right) ended_behind_ = sureness_of(tokens.back().confidence);
}

void AutoRule::end_round(const AutoChoice& choice, const RoundTimes& times, std::int32_t tokens) {
  costs_.add(times);
  for (Yield& yield : text_yields_) yield.fade();
  for (Drafter& drafter : drafters_) drafter.yield.fade();
  if (choice.reason == AutoChoice::Reason::best) {
    if (choice.kind == AutoChoice::Kind::text)
      text_yields_[static_cast<std::size_t>(choice.source)].add(choice.expected_tokens - 1.0, tokens - 1);
    if (choice.kind == AutoChoice::Kind::model)
      drafters_[static_cast<std::size_t>(choice.drafter)].yield.add(choice.expected_tokens - 1.0, tokens - 1);
  }
  if (!costs_.knows_vanilla() || costs_.vanilla_ns() <= 0.0) return;
  // The round is booked later, by the pace of the rounds around it, since the pace of earlier rounds alone
  // may differ.
  unbooked_.push_back({tokens, times.round_ns, costs_.expected(times)});
  if (unbooked_.size() <= RoundCosts::behind) return;
  const Unbooked& round = unbooked_.front();
  // A vanilla round counts with its actual time, and an interruption of a round would have interrupted
  // vanilla rounds too.
  const double rounds = static_cast<double>(round.round_ns) / costs_.vanilla_ns();
  const bool is_vanilla = round.expected_cost <= 1.0;
  account_.add(round.tokens, is_vanilla ? 1.0 : std::min(rounds, max_excess * round.expected_cost));
  unbooked_.erase(unbooked_.begin());
}

}  // namespace draftscope::speculation
