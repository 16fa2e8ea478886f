// SPDX-License-Identifier: GPL-3.0-or-later
// Checks of drafts: whether there are any, whether they are accepted, and how long they are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/explain/evidence.h"
#include "analysis/explain/thresholds.h"

namespace draftscope::simulator {

namespace {

using Outcome = Judgement::Outcome;

/// Loss relative to vanilla decoding, per round; absent without a vanilla run.
std::optional<double> lost_to_vanilla(const RoundAccount& round) {
  if (!round.speedup) return std::nullopt;
  return std::max(0.0, *round.takes - *round.yields);
}

double per_round(std::int64_t count, const RoundAccount& round) {
  return static_cast<double>(count) / static_cast<double>(round.rounds);
}

/// Cost of one more draft position, and its worth if it is accepted.
struct PositionPrice {
  double steps = 0.0;
  double worth = 1.0;  ///< Worth of an accepted token, in the same unit.
  [[nodiscard]] double break_even() const { return steps / worth; }
};

/// Price of a position; absent where nothing was drafted or the time of a draft step is not known.
std::optional<PositionPrice> position_price(const Evidence& of) {
  const RoundAccount& round = of.round;
  const Acceptance& acceptance = of.figures.acceptance;
  if (!round.parts || !round.yields || acceptance.draft_steps < 1) return std::nullopt;
  const double steps = per_round(acceptance.draft_steps, round);
  PositionPrice price{.steps = round.parts->draft / steps};
  if (round.unit == RoundUnit::vanilla_step && round.rows && *round.rows > 1.0) {
    const double row = std::max(0.0, round.parts->verify - 1.0) / (*round.rows - 1.0);
    price.steps += row * per_round(acceptance.drafted_tokens, round) / steps;
  }
  // A token is worth the cost of getting it otherwise: by an average round, or by a vanilla step.
  price.worth = *round.takes / *round.yields;
  if (round.unit == RoundUnit::vanilla_step) price.worth = std::min(price.worth, 1.0);
  if (!std::isfinite(price.break_even())) return std::nullopt;
  return price;
}

/// The first draft position, from the second on, at which acceptance falls below `rate` and stays there; the
/// number of positions if there is none.
std::size_t first_lost_position(const std::vector<PositionAcceptance>& positions, double rate) {
  std::size_t first = positions.size();
  while (first > 1 && positions[first - 1].of_drafted() < rate) --first;
  return first;
}

/// Sum of all positions from `first` on.
PositionAcceptance tail_of(const std::vector<PositionAcceptance>& positions, std::size_t first) {
  PositionAcceptance tail;
  for (std::size_t k = first; k < positions.size(); ++k) {
    tail.drafted += positions[k].drafted;
    tail.accepted += positions[k].accepted;
  }
  return tail;
}

/// "none of 1440 draft tokens was", "only 3 of 1440 draft tokens were", "no draft token was". Where drafts
/// branch, one token of each step can be accepted at most.
std::string accepted_text(const Acceptance& acceptance, bool knows_lengths) {
  const std::int64_t accepted = acceptance.accepted_tokens;
  if (!knows_lengths && accepted == 0) return "no draft token was";
  const bool branches = acceptance.draft_steps < acceptance.drafted_tokens;
  const std::string of_drafted =
      knows_lengths ? " of " + count_text(acceptance.draft_steps, branches ? "draft step" : "draft token")
                    : std::string(" draft tokens");
  if (accepted == 0) return "none" + of_drafted + " was";
  return fmt::format("only {}{} {}", accepted, of_drafted, accepted == 1 ? "was" : "were");
}

Judgement too_few_rounds(const Evidence& of) {
  return unjudged(fmt::format("it has {}, expected at least {}", count_text(of.round.rounds, "round"),
                              thresholds::min_rounds));
}

bool has_too_few_rounds(const Evidence& of) {
  return of.round.rounds < thresholds::min_rounds;
}

}  // namespace

Judgement judge_nothing_drafted(const Evidence& of) {
  if (guesses_from_text(*of.figures.run)) return {};
  if (has_too_few_rounds(of)) return too_few_rounds(of);
  const std::vector<std::int64_t>& lengths = of.figures.acceptance.draft_lengths;
  const std::int64_t without = lengths.empty() ? 0 : lengths.front();
  const double share = per_round(without, of.round);
  if (share < thresholds::nothing_drafted_share) return {};
  return {.outcome = Outcome::found,
          .figure = share,
          .threshold = thresholds::nothing_drafted_share,
          .cost = lost_to_vanilla(of.round),
          .values = {{"without", std::to_string(without)},
                     {"rounds", count_text(of.round.rounds, "round")},
                     {"share", share_text(share)}},
          .wants_alternatives = true};
}

Judgement judge_nothing_accepted(const Evidence& of) {
  const Acceptance& acceptance = of.figures.acceptance;
  if (guesses_from_text(*of.figures.run)) return {};
  if (has_too_few_rounds(of)) return too_few_rounds(of);
  const bool knows_lengths = !acceptance.draft_lengths.empty();
  if (knows_lengths && acceptance.drafted_tokens == 0) return {};
  const double rate = knows_lengths ? acceptance.step_acceptance.value_or(0.0)
                                    : per_round(acceptance.accepted_tokens, of.round);
  if (rate > thresholds::nothing_accepted_rate) return {};
  Judgement found{.outcome = Outcome::found,
                  .figure = rate,
                  .threshold = thresholds::nothing_accepted_rate,
                  .values = {{"accepted", accepted_text(acceptance, knows_lengths)},
                             {"rounds", count_text(of.round.rounds, "round")}},
                  .wants_alternatives = true};
  if (of.round.parts) found.cost = of.round.parts->draft + std::max(0.0, of.round.parts->verify - 1.0);
  return found;
}

Judgement judge_draft_too_long(const Evidence& of) {
  const auto& positions = of.figures.acceptance.by_position;
  if (positions.empty()) return {};
  if (has_too_few_rounds(of)) return too_few_rounds(of);
  const std::optional<PositionPrice> price = position_price(of);
  if (!price) return unjudged("the time of a draft step is not known");
  const double even = price->break_even();
  const std::size_t first = first_lost_position(positions, even);
  const PositionAcceptance tail = tail_of(positions, first);
  // Length is not the problem if not even a certain token would pay, or if acceptance does not fall.
  if (tail.drafted == 0 || even > 1.0 || tail.of_drafted() >= positions.front().of_drafted()) return {};
  const double cost =
      per_round(tail.drafted, of.round) * price->steps - per_round(tail.accepted, of.round) * price->worth;
  if (!(cost >= thresholds::min_cost_share * *of.round.takes)) return {};
  return {.outcome = Outcome::found,
          .figure = tail.of_drafted(),
          .threshold = even,
          .cost = cost,
          .values = {{"position", std::to_string(first)},
                     {"rate", share_text(tail.of_drafted())},
                     {"even", share_text(even)}},
          .settings = with_length(*of.figures.run, first)};
}

Judgement judge_tail_rejected(const Evidence& of) {
  const auto& positions = of.figures.acceptance.by_position;
  if (of.round.parts || positions.empty()) return {};  // This case is judged by its cost.
  if (has_too_few_rounds(of)) return too_few_rounds(of);
  const std::size_t first = first_lost_position(positions, thresholds::hardly_accepted_rate);
  const PositionAcceptance tail = tail_of(positions, first);
  const double share = static_cast<double>(tail.drafted) /
                       static_cast<double>(std::max<std::int64_t>(tail_of(positions, 0).drafted, 1));
  if (tail.drafted == 0 || share < thresholds::lost_tail_share) return {};
  return {.outcome = Outcome::found,
          .figure = tail.of_drafted(),
          .threshold = thresholds::hardly_accepted_rate,
          .values = {{"position", std::to_string(first)},
                     {"rate", share_text(tail.of_drafted())},
                     {"share", share_text(share)}},
          .settings = with_length(*of.figures.run, first)};
}

Judgement judge_draft_step_dear(const Evidence& of) {
  const RoundAccount& round = of.round;
  if (!round.parts) return unjudged("how a round's time splits is not in the recording");
  if (!round.speedup) return no_vanilla_step(of);
  if (of.figures.acceptance.draft_steps < 1) return {};
  const double steps = per_round(of.figures.acceptance.draft_steps, round);
  const double step = round.parts->draft / steps;
  const double passes = round.parts->draft + round.parts->verify + round.parts->accept;
  const double lost = passes - *round.yields;
  if (step < thresholds::dear_step || !(lost >= thresholds::min_cost_share * *round.takes)) return {};
  return {.outcome = Outcome::found,
          .figure = step,
          .threshold = thresholds::dear_step,
          .cost = lost,
          .values = {{"step", steps_text(step, round.unit)},
                     {"all", speedup_text((1.0 + steps) / *round.takes, Characters::ascii)}},
          .wants_alternatives = true};
}

Judgement judge_too_few_accepted(const Evidence& of) {
  const RoundAccount& round = of.round;
  if (!round.speedup) return no_vanilla_step(of);
  if (has_too_few_rounds(of)) return too_few_rounds(of);
  const double takes =
      round.parts ? round.parts->draft + round.parts->verify + round.parts->accept : *round.takes;
  const double lost = takes - *round.yields;
  if (!(lost >= thresholds::min_cost_share * *round.takes)) return {};
  return {.outcome = Outcome::found,
          .figure = *round.yields - 1.0,
          .threshold = takes - 1.0,
          .cost = lost,
          .values = {{"kept", amount_text(*round.yields - 1.0)}, {"needed", amount_text(takes - 1.0)}},
          .wants_alternatives = true};
}

Judgement judge_text_does_not_repeat(const Evidence& of) {
  if (!guesses_from_text(*of.figures.run)) return {};
  if (has_too_few_rounds(of)) return too_few_rounds(of);
  const auto& positions = of.figures.acceptance.by_position;
  const double share = positions.empty() ? 0.0 : per_round(positions.front().accepted, of.round);
  const std::optional<double> lost = lost_to_vanilla(of.round);
  const bool pays = lost && *lost < thresholds::min_cost_share * *of.round.takes;
  if (share >= thresholds::kept_guess_share || pays) return {};
  return {.outcome = Outcome::found,
          .figure = share,
          .threshold = thresholds::kept_guess_share,
          .cost = lost,
          .values = {{"share", share_text(share)}, {"rounds", count_text(of.round.rounds, "round")}},
          .wants_alternatives = true};
}

Judgement judge_nothing_found(const Evidence& of) {
  (void)of;
  return {};
}

}  // namespace draftscope::simulator
