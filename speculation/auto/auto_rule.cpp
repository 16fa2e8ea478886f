// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/auto/auto_rule.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace draftscope::speculation {

namespace {

constexpr std::array<std::string_view, 3> kind_names{"vanilla", "text", "model"};
constexpr std::array<std::string_view, 5> reason_names{"best", "measure", "trial", "account", "no room"};

constexpr std::int32_t trial_length = 3;     // tokens
constexpr double known_from = 6.0;           // judged tokens
constexpr std::int64_t max_interval = 4096;  // rounds from one trial to the next
constexpr double yield_half_life = 64.0;     // rounds
constexpr double yield_prior = 64.0;         // tokens
constexpr double sure_rate = 2.0;            // of a text's guess that no trial takes the place of

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
    drafters_.push_back({.confidences = DraftConfidences(drafter.acceptance)});
}

void AutoRule::begin_request(std::span<const std::int32_t> prompt, std::size_t tokens) {
  text_.begin_request(prompt, tokens);
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
  if (max_cost - 1.0 > best.balance) {
    if (best.kind == AutoChoice::Kind::vanilla) best.reason = AutoChoice::Reason::account;
    return;
  }
  choice.balance = best.balance;
  choice.next_rate = is_other ? best.rate() : best.next_rate;
  best = choice;
}

void AutoRule::consider_text(std::span<const std::int32_t> text, std::int32_t room, AutoChoice& best) const {
  const auto guesses = std::min(static_cast<std::int32_t>(text_.guess(text).size()), room);
  AutoChoice choice{.kind = AutoChoice::Kind::text};
  const double yield = text_yield_.share();
  double path = 1.0;
  for (choice.length = 1; choice.length <= guesses; ++choice.length) {
    path *= text_.acceptance(choice.length - 1);
    choice.expected_tokens += path * yield;
    choice.expected_cost = costs_.verification(choice.length + 1);
    consider(choice, choice.expected_cost, best);
  }
}

void AutoRule::consider_drafter(std::int32_t drafter, std::int32_t room, AutoChoice& best) const {
  const double step = costs_.draft_step(drafter);
  const double yield = drafters_[static_cast<std::size_t>(drafter)].yield.share();
  std::array<double, 64> rows{};
  const auto max_length = std::min({room, options_.max_length, static_cast<std::int32_t>(rows.size()) - 1});
  for (std::int32_t i = 0; i <= max_length; ++i)
    rows[static_cast<std::size_t>(i)] = costs_.verification(i + 1);
  const auto consider_plan = [&](const DraftConfidences::Plan& plan,
                                 const DraftConfidences::Outcome& outcome) {
    // The mean of the costs is about the cost of the mean.
    const double whole = std::floor(outcome.steps);
    const auto low = static_cast<std::size_t>(whole);
    const std::size_t high = std::min(low + 1, static_cast<std::size_t>(max_length));
    const double verification = rows[low] + (outcome.steps - whole) * (rows[high] - rows[low]);
    consider({.kind = AutoChoice::Kind::model,
              .drafter = drafter,
              .length = plan.length,
              .threshold = plan.threshold,
              .expected_tokens = 1.0 + yield * (outcome.tokens - 1.0),
              .expected_cost = outcome.steps * step + verification},
             plan.length * step + rows[static_cast<std::size_t>(plan.length)], best);
  };
  drafters_[static_cast<std::size_t>(drafter)].confidences.for_each_plan(max_length, consider_plan);
}

/// A short draft, with what its tokens are expected to be worth.
AutoChoice AutoRule::trial(std::int32_t drafter, std::int32_t room) const {
  AutoChoice choice = vanilla(AutoChoice::Reason::trial);
  choice.kind = AutoChoice::Kind::model;
  choice.drafter = drafter;
  choice.length = std::min(room, trial_length);
  drafters_[static_cast<std::size_t>(drafter)].confidences.for_each_plan(
      choice.length, [&](const DraftConfidences::Plan& plan, const DraftConfidences::Outcome& outcome) {
        if (plan.length == choice.length && plan.threshold < 0.0) choice.expected_tokens = outcome.tokens;
      });
  choice.expected_cost = choice.length * costs_.draft_step(drafter) + costs_.verification(choice.length + 1);
  return choice;
}

AutoChoice AutoRule::choose(std::span<const std::int32_t> text, std::int32_t room) {
  text_.extend(text);
  ++round_;
  const std::int32_t longest = std::min(room, options_.max_length);
  if (longest < 1) return vanilla(AutoChoice::Reason::no_room);
  if (costs_.wants_vanilla()) return vanilla(AutoChoice::Reason::measure);
  AutoChoice best = vanilla(AutoChoice::Reason::best);
  consider_text(text, longest, best);
  for (std::size_t i = 0; i < drafters_.size(); ++i)
    if (drafters_[i].confidences.judged() >= known_from)
      consider_drafter(static_cast<std::int32_t>(i), longest, best);
  for (std::size_t i = 0; i < drafters_.size(); ++i) {
    Drafter& drafter = drafters_[i];
    const auto index = static_cast<std::int32_t>(i);
    if (round_ < drafter.next_trial || best.drafter == index) continue;
    const bool is_known = drafter.confidences.judged() >= known_from;
    // A text's guess that is as good as sure is not given up for a trial.
    if (best.kind == AutoChoice::Kind::text && best.rate() > sure_rate) break;
    const AutoChoice tried = trial(index, longest);
    if (tried.expected_cost - 1.0 > tried.balance) continue;
    if (is_known) {
      drafter.next_trial = round_ + drafter.trial_interval;
      drafter.trial_interval = std::min(2 * drafter.trial_interval, max_interval);
    }
    return tried;
  }
  if (best.kind == AutoChoice::Kind::model)
    drafters_[static_cast<std::size_t>(best.drafter)].trial_interval = first_interval;
  return best;
}

void AutoRule::judge(const AutoChoice& choice, std::span<const JudgedToken> tokens) {
  if (choice.kind != AutoChoice::Kind::model) return;
  Drafter& drafter = drafters_[static_cast<std::size_t>(choice.drafter)];
  const bool was_known = drafter.confidences.judged() >= known_from;
  for (const JudgedToken& token : tokens) drafter.confidences.add(token.confidence, token.right);
  if (!was_known && drafter.confidences.judged() >= known_from) drafter.next_trial = round_ + first_interval;
}

void AutoRule::end_round(const AutoChoice& choice, const RoundTimes& times, std::int32_t tokens) {
  costs_.add(times);
  text_yield_.fade();
  for (Drafter& drafter : drafters_) drafter.yield.fade();
  if (choice.reason == AutoChoice::Reason::best) {
    if (choice.kind == AutoChoice::Kind::text) text_yield_.add(choice.expected_tokens - 1.0, tokens - 1);
    if (choice.kind == AutoChoice::Kind::model)
      drafters_[static_cast<std::size_t>(choice.drafter)].yield.add(choice.expected_tokens - 1.0, tokens - 1);
  }
  if (!costs_.knows_vanilla() || costs_.vanilla_ns() <= 0.0) return;
  // Booked by the pace of the rounds around it, that of rounds before it alone being another's.
  unbooked_.push_back({tokens, times.round_ns, costs_.expected(times)});
  if (unbooked_.size() <= RoundCosts::behind) return;
  const Unbooked& round = unbooked_.front();
  account_.add(round.tokens, static_cast<double>(round.round_ns) / costs_.vanilla_ns());
  unbooked_.erase(unbooked_.begin());
}

}  // namespace draftscope::speculation
