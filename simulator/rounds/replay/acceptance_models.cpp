// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/acceptance_models.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace draftscope::simulator {

namespace {

using Pair = std::array<double, 2>;

struct Counts {
  std::int64_t accepted = 0;
  std::int64_t rejected = 0;
};

Counts count(std::span<const AcceptanceBits> requests) {
  Counts counts;
  for (const AcceptanceBits& bits : requests) {
    counts.accepted += std::count(bits.begin(), bits.end(), AcceptanceBit::accepted);
    counts.rejected += std::count(bits.begin(), bits.end(), AcceptanceBit::rejected);
  }
  return counts;
}

double log_or_zero(double count, double probability) {
  return count > 0.0 ? count * std::log(probability) : 0.0;
}

double emission(const AcceptanceModel& model, std::size_t state, AcceptanceBit bit) {
  if (bit == AcceptanceBit::unseen) return 1.0;
  return bit == AcceptanceBit::accepted ? model.acceptance[state] : 1.0 - model.acceptance[state];
}

double transition(const AcceptanceModel& model, std::size_t from, std::size_t to) {
  return from == to ? model.stay[from] : 1.0 - model.stay[from];
}

/// Advances the states by one position.
Pair advance(const AcceptanceModel& model, const Pair& states) {
  return {states[0] * model.stay[0] + states[1] * (1.0 - model.stay[1]),
          states[0] * (1.0 - model.stay[0]) + states[1] * model.stay[1]};
}

/// Expected counts of one pass over the data.
struct Expectation {
  Pair accepted{}, seen{}, start{}, stays{}, leaves{};
  double log_likelihood = 0.0;
};

/// Probabilities of the states at each position given the bits up to it, and of each bit given the previous
/// ones; the result is the sum of their logarithms.
double run_forward(const AcceptanceModel& model, const AcceptanceBits& bits, std::vector<Pair>& forward,
                   std::vector<double>& scale) {
  forward.resize(bits.size());
  scale.resize(bits.size());
  double log_likelihood = 0.0;
  Pair prior = model.start;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    for (std::size_t s = 0; s < 2; ++s) forward[i][s] = prior[s] * emission(model, s, bits[i]);
    scale[i] = forward[i][0] + forward[i][1];
    for (double& value : forward[i]) value /= scale[i];
    log_likelihood += std::log(scale[i]);
    prior = advance(model, forward[i]);
  }
  return log_likelihood;
}

/// Probability of the bits from a position on, starting in state `to` after state `from`.
double path_back(const AcceptanceModel& model, AcceptanceBit bit, double scale, const Pair& backward,
                 std::size_t from, std::size_t to) {
  return transition(model, from, to) * emission(model, to, bit) * backward[to] / scale;
}

/// Forward and backward probabilities, each position's forward ones scaled to a sum of 1.
void expect(const AcceptanceModel& model, const AcceptanceBits& bits, std::vector<Pair>& forward,
            std::vector<double>& scale, Expectation& expectation) {
  if (bits.empty()) return;
  expectation.log_likelihood += run_forward(model, bits, forward, scale);
  Pair backward{1.0, 1.0};
  for (std::size_t i = bits.size(); i-- > 0;) {
    for (std::size_t s = 0; s < 2; ++s) {
      const double share = forward[i][s] * backward[s];
      if (bits[i] != AcceptanceBit::unseen) expectation.seen[s] += share;
      if (bits[i] == AcceptanceBit::accepted) expectation.accepted[s] += share;
      if (i == 0) expectation.start[s] += share;
    }
    if (i == 0) return;
    Pair before{};
    for (std::size_t from = 0; from < 2; ++from) {
      for (std::size_t to = 0; to < 2; ++to) {
        const double path = path_back(model, bits[i], scale[i], backward, from, to);
        before[from] += path;
        (from == to ? expectation.stays : expectation.leaves)[from] += forward[i - 1][from] * path;
      }
    }
    backward = before;
  }
}

/// A probability that excludes no bit.
double share(double part, double whole, double otherwise) {
  constexpr double least = 1e-9;
  return whole > 0.0 ? std::clamp(part / whole, least, 1.0 - least) : otherwise;
}

AcceptanceModel maximise(std::span<const AcceptanceBits> requests, AcceptanceModel model) {
  constexpr int max_iterations = 300;
  constexpr double enough = 1e-10;  // Relative gain of log-likelihood at which the fit stops.
  std::vector<Pair> forward;
  std::vector<double> scale;
  double before = -std::numeric_limits<double>::infinity();
  for (int iteration = 0;; ++iteration) {
    Expectation expectation;
    for (const AcceptanceBits& bits : requests) expect(model, bits, forward, scale, expectation);
    model.log_likelihood = expectation.log_likelihood;
    const double gain = model.log_likelihood - before;
    if (iteration >= max_iterations || gain <= enough * std::abs(model.log_likelihood)) return model;
    before = model.log_likelihood;
    const double starts = expectation.start[0] + expectation.start[1];
    for (std::size_t s = 0; s < 2; ++s) {
      model.acceptance[s] = share(expectation.accepted[s], expectation.seen[s], model.acceptance[s]);
      model.stay[s] =
          share(expectation.stays[s], expectation.stays[s] + expectation.leaves[s], model.stay[s]);
      model.start[s] = share(expectation.start[s], starts, model.start[s]);
    }
  }
}

void order(AcceptanceModel& model) {
  if (model.acceptance[0] >= model.acceptance[1]) return;
  std::swap(model.acceptance[0], model.acceptance[1]);
  std::swap(model.stay[0], model.stay[1]);
  std::swap(model.start[0], model.start[1]);
}

/// A round that starts in one state: its expected tokens, and the state at the next round's start.
struct RoundFrom {
  double tokens = 0.0;
  Pair next{};
};

RoundFrom round_from(const AcceptanceModel& model, std::size_t state, std::int32_t length) {
  RoundFrom round;
  Pair reached{};
  reached[state] = 1.0;
  Pair ends{};
  for (std::int32_t k = 0; k < length; ++k) {
    const Pair wrong{reached[0] * (1.0 - model.acceptance[0]), reached[1] * (1.0 - model.acceptance[1])};
    round.tokens += (k + 1) * (wrong[0] + wrong[1]);
    ends = advance(model, wrong);
    round.next[0] += ends[0];
    round.next[1] += ends[1];
    reached = advance(model, {reached[0] * model.acceptance[0], reached[1] * model.acceptance[1]});
  }
  round.tokens += (length + 1) * (reached[0] + reached[1]);
  ends = advance(model, reached);
  round.next[0] += ends[0];
  round.next[1] += ends[1];
  return round;
}

}  // namespace

AcceptanceModel iid_acceptance(double alpha) {
  return {.acceptance = {alpha, alpha}, .stay = {0.5, 0.5}, .start = {0.5, 0.5}};
}

std::optional<AcceptanceModel> iid_acceptance_of_rate(double rate, std::int32_t length) {
  if (!(rate >= 0.0 && rate <= 1.0) || length < 1) return std::nullopt;
  // α + … + α^γ = γ · rate grows with α.
  const auto accepted_length = [length](double alpha) {
    double sum = 0.0;
    double power = 1.0;
    for (std::int32_t k = 0; k < length; ++k) sum += power *= alpha;
    return sum;
  };
  double low = 0.0;
  double high = 1.0;
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    (accepted_length(middle) < rate * length ? low : high) = middle;
  }
  return iid_acceptance(rate >= 1.0 ? 1.0 : low);
}

std::optional<AcceptanceModel> fit_iid_acceptance(std::span<const AcceptanceBits> requests) {
  const Counts counts = count(requests);
  const auto accepted = static_cast<double>(counts.accepted);
  const auto rejected = static_cast<double>(counts.rejected);
  if (counts.accepted + counts.rejected == 0) return std::nullopt;
  const double alpha = accepted / (accepted + rejected);
  AcceptanceModel model = iid_acceptance(alpha);
  model.log_likelihood = log_or_zero(accepted, alpha) + log_or_zero(rejected, 1.0 - alpha);
  return model;
}

std::optional<AcceptanceModel> fit_markov_acceptance(std::span<const AcceptanceBits> requests) {
  const auto iid = fit_iid_acceptance(requests);
  if (!iid) return std::nullopt;
  constexpr double least = 1e-6;
  const double alpha = std::clamp(iid->acceptance[0], least, 1.0 - least);
  std::optional<AcceptanceModel> best;
  for (const double stay : {0.9, 0.6}) {
    for (const double spread : {0.5, 0.9}) {
      const AcceptanceModel start{.acceptance = {alpha + spread * (1.0 - alpha), alpha - spread * alpha},
                                  .stay = {stay, stay},
                                  .start = {0.5, 0.5}};
      AcceptanceModel fitted = maximise(requests, start);
      if (!best || fitted.log_likelihood > best->log_likelihood) best = fitted;
    }
  }
  order(*best);
  return best;
}

std::vector<double> acceptance_at(const AcceptanceModel& model, const AcceptanceBits& bits) {
  std::vector<Pair> forward;
  std::vector<double> scale;
  run_forward(model, bits, forward, scale);
  std::vector<double> accepted(bits.size());
  Pair backward{1.0, 1.0};
  for (std::size_t i = bits.size(); i-- > 0;) {
    for (std::size_t s = 0; s < 2; ++s)
      accepted[i] += forward[i][s] * backward[s] *
                     (bits[i] == AcceptanceBit::unseen ? model.acceptance[s] : static_cast<double>(bits[i]));
    Pair before{};
    for (std::size_t from = 0; from < 2; ++from)
      for (std::size_t to = 0; to < 2; ++to)
        before[from] += path_back(model, bits[i], scale[i], backward, from, to);
    backward = before;
  }
  return accepted;
}

namespace {

/// Expected rounds of one text, from its start on. Where states last long, texts differ, and the chain's
/// stationary state applies to none.
double expected_rounds(const AcceptanceModel& model, const ExpectedSetting& setting) {
  const std::array from{round_from(model, 0, setting.length), round_from(model, 1, setting.length)};
  double rounds = 0.0;
  for (std::size_t start = 0; start < 2; ++start) {
    Pair state{};
    state[start] = 1.0;
    double left = static_cast<double>(setting.tokens);
    double taken = 0.0;
    while (left > 0.0) {
      const double emitted = state[0] * from[0].tokens + state[1] * from[1].tokens;
      taken += std::min(1.0, left / emitted);
      left -= emitted;
      state = {state[0] * from[0].next[0] + state[1] * from[1].next[0],
               state[0] * from[0].next[1] + state[1] * from[1].next[1]};
    }
    rounds += model.start[start] * taken;
  }
  return rounds;
}

}  // namespace

RoundStatistics expected_statistics(const AcceptanceModel& model, const ExpectedSetting& setting) {
  const auto tokens = static_cast<double>(setting.tokens);
  // No round yields more than its draft and the bonus token, whatever the rounding.
  const double fewest = std::ceil(tokens / (setting.length + 1.0));
  const double rounds = std::max(expected_rounds(model, setting), fewest);
  const double a_round = rounds > 0.0 ? tokens / rounds : 0.0;
  const double root = static_cast<double>(setting.first_context) + std::max(0.0, (tokens - a_round) / 2.0);
  const auto whole = [](double value) { return static_cast<std::int64_t>(std::llround(value)); };
  RoundStatistics statistics{.tokens = setting.tokens, .rounds = whole(rounds)};
  if (setting.length < 1) {
    statistics.target_steps = {whole(rounds), whole(rounds * root)};
    return statistics;
  }
  const double steps = rounds * setting.length;
  statistics.drafted = whole(steps);
  statistics.accepted = setting.tokens - statistics.rounds;
  DraftStatistics drafts{.exit = setting.exit,
                         .steps = {whole(steps), whole(steps * (root + (setting.length - 1) / 2.0))},
                         .verify = std::vector<PassCount>(static_cast<std::size_t>(setting.length) + 2)};
  drafts.verify.back() = {whole(rounds), whole(rounds * root)};
  statistics.drafts.push_back(std::move(drafts));
  return statistics;
}

}  // namespace draftscope::simulator
