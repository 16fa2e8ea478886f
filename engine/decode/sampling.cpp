// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/sampling.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace draftscope::engine {

namespace {

void normalise(std::vector<double>& probabilities) {
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  for (double& probability : probabilities) probability /= sum;
}

/// Memory for sorting tokens: indices for a whole vocabulary, one buffer per sampling thread, so that a round
/// allocates nothing.
std::vector<std::size_t>& order_buffer() {
  thread_local std::vector<std::size_t> order;
  return order;
}

// Keeps the entries whose index is in `order` (a set), in ascending order of tokens.
void keep(Distribution& distribution, std::vector<std::size_t>& order) {
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    distribution.tokens[i] = distribution.tokens[order[i]];
    distribution.probabilities[i] = distribution.probabilities[order[i]];
  }
  distribution.tokens.resize(order.size());
  distribution.probabilities.resize(order.size());
}

// Finds the `count` indices of highest probability, by falling probability; ties go to the lower token.
void most_probable(const Distribution& distribution, std::size_t count, std::vector<std::size_t>& order) {
  order.resize(distribution.tokens.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto& p = distribution.probabilities;
  const auto before = [&p](std::size_t a, std::size_t b) { return p[a] != p[b] ? p[a] > p[b] : a < b; };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), before);
  order.resize(count);
}

void keep_top_p(Distribution& distribution, double top_p) {
  // Sorting a whole vocabulary to keep a few tokens would dominate the cost of sampling; most rows need only
  // its first few.
  const std::size_t size = distribution.tokens.size();
  std::vector<std::size_t>& order = order_buffer();
  for (std::size_t count = std::min<std::size_t>(size, 64);; count = std::min(size, count * 8)) {
    most_probable(distribution, count, order);
    double sum = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += distribution.probabilities[order[i]];
      if (sum < top_p && (i + 1 < size)) continue;
      order.resize(i + 1);
      keep(distribution, order);
      return;
    }
  }
}

}  // namespace

Result<void> check(const SamplingOptions& options) {
  if (!std::isfinite(options.temperature) || options.temperature < 0.0)
    return fail("temperature: found {}, expected a number ≥ 0", options.temperature);
  if (options.top_k < 0) return fail("top-k: found {}, expected 0 (off) or more", options.top_k);
  if (!(options.top_p > 0.0 && options.top_p <= 1.0))
    return fail("top-p: found {}, expected a number above 0, up to 1", options.top_p);
  if (!(options.repetition_penalty >= min_repetition_penalty &&
        options.repetition_penalty <= max_repetition_penalty))
    return fail("repetition-penalty: found {}, expected {} to {} (1 = none)", options.repetition_penalty,
                min_repetition_penalty, max_repetition_penalty);
  if (!(options.min_p >= 0.0 && options.min_p <= 1.0))
    return fail("min-p: found {}, expected 0 (off) to 1", options.min_p);
  for (const auto& [name, penalty] : {std::pair("frequency-penalty", options.frequency_penalty),
                                      std::pair("presence-penalty", options.presence_penalty)})
    if (!(std::abs(penalty) <= max_count_penalty))
      return fail("{}: found {}, expected {} to {} (0 = none)", name, penalty, -max_count_penalty,
                  max_count_penalty);
  std::set<std::int32_t> biased;
  for (const TokenBias& of : options.logit_bias) {
    if (!(std::abs(of.bias) <= max_logit_bias))
      return fail("logit-bias: token {}: found {}, expected {} to {}", of.token, of.bias, -max_logit_bias,
                  max_logit_bias);
    if (of.token < 0 || !biased.insert(of.token).second)
      return fail("logit-bias: found token {} {}, expected ids of tokens, each once", of.token,
                  of.token < 0 ? "below 0" : "twice");
  }
  return {};
}

void penalise_repetition(std::span<float> logits, std::span<const std::int32_t> tokens, double penalty) {
  const auto factor = static_cast<float>(penalty);
  for (const std::int32_t token : tokens) {
    if (static_cast<std::size_t>(token) >= logits.size()) continue;
    float& logit = logits[static_cast<std::size_t>(token)];
    logit = logit < 0.0F ? logit * factor : logit / factor;
  }
}

double Distribution::probability(std::int32_t token) const {
  const auto it = std::lower_bound(tokens.begin(), tokens.end(), token);
  if (it == tokens.end() || *it != token) return 0.0;
  return probabilities[static_cast<std::size_t>(it - tokens.begin())];
}

void warp(std::span<const float> logits, const SamplingOptions& options, Distribution& out) {
  out.tokens.resize(logits.size());
  out.probabilities.resize(logits.size());
  std::iota(out.tokens.begin(), out.tokens.end(), 0);
  const double highest = *std::max_element(logits.begin(), logits.end());
  bool is_defined = true;  // A NaN is not ≥ 0, and ∞ − ∞ is a NaN.
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double weight = std::exp((static_cast<double>(logits[i]) - highest) / options.temperature);
    is_defined = is_defined && weight >= 0.0;
    out.probabilities[i] = weight;
  }
  if (!is_defined) {
    out.tokens.clear();
    out.probabilities.clear();
    return;
  }
  if (options.min_p > 0.0) {
    std::vector<std::size_t>& order = order_buffer();
    order.clear();
    for (std::size_t i = 0; i < logits.size(); ++i)  // The best token has the weight 1.
      if (out.probabilities[i] >= options.min_p) order.push_back(i);
    keep(out, order);
  }
  if (options.top_k > 0 && static_cast<std::size_t>(options.top_k) < out.tokens.size()) {
    std::vector<std::size_t>& order = order_buffer();
    most_probable(out, static_cast<std::size_t>(options.top_k), order);
    keep(out, order);
  }
  normalise(out.probabilities);
  if (options.top_p < 1.0) {
    keep_top_p(out, options.top_p);
    normalise(out.probabilities);
  }
}

void residual(const Distribution& target, const Distribution& draft, Distribution& out) {
  out.tokens.clear();
  out.probabilities.clear();
  std::size_t j = 0;
  double sum = 0.0;
  for (std::size_t i = 0; i < target.tokens.size(); ++i) {
    while (j < draft.tokens.size() && draft.tokens[j] < target.tokens[i]) ++j;
    const bool drafted = j < draft.tokens.size() && draft.tokens[j] == target.tokens[i];
    const double rest = target.probabilities[i] - (drafted ? draft.probabilities[j] : 0.0);
    if (rest <= 0.0) continue;
    out.tokens.push_back(target.tokens[i]);
    out.probabilities.push_back(rest);
    sum += rest;
  }
  if (sum <= 0.0) {
    out = target;
    return;
  }
  for (double& probability : out.probabilities) probability /= sum;
}

std::int32_t draw_token(const Distribution& distribution, Draw draw, Chooser& chooser) {
  return distribution.tokens[chooser.choose(draw, distribution.probabilities)];
}

bool accept_token(const Distribution& target, const Distribution& draft, std::int32_t token, Draw draw,
                  Chooser& chooser) {
  const double p = target.probability(token);
  const double q = draft.probability(token);
  if (p >= q) return true;
  const std::array<double, 2> weights{p / q, 1.0 - p / q};
  return chooser.choose(draw, weights) == 0;
}

void remove_token(Distribution& distribution, std::int32_t token) {
  const auto it = std::lower_bound(distribution.tokens.begin(), distribution.tokens.end(), token);
  if (it == distribution.tokens.end() || *it != token) return;
  distribution.probabilities.erase(distribution.probabilities.begin() + (it - distribution.tokens.begin()));
  distribution.tokens.erase(it);
  const auto& p = distribution.probabilities;
  if (std::any_of(p.begin(), p.end(), [](double probability) { return probability > 0.0; }))
    normalise(distribution.probabilities);
  else
    distribution.tokens.clear(), distribution.probabilities.clear();
}

namespace {

// Computes −log u / p. It falls as log p + Gumbel noise rises, and needs one logarithm fewer.
double arrival(double probability, CounterKey key, std::int32_t position, std::int32_t token) {
  return -std::log1p(-uniform(key, {DrawPurpose::noise, position, token})) / probability;
}

}  // namespace

std::int32_t coupled_token(const Distribution& distribution, CounterKey key, std::int32_t position) {
  std::int32_t chosen = -1;
  double earliest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < distribution.tokens.size(); ++i) {
    if (distribution.probabilities[i] <= 0.0) continue;
    const double time = arrival(distribution.probabilities[i], key, position, distribution.tokens[i]);
    if (chosen >= 0 && !(time < earliest)) continue;
    earliest = time;
    chosen = distribution.tokens[i];
  }
  return chosen;
}

void coupled_tokens(const Distribution& distribution, CounterKey key, std::int32_t position,
                    std::int32_t count, std::vector<std::int32_t>& tokens) {
  thread_local std::vector<std::pair<double, std::int32_t>> times;  // static to reuse its memory
  times.clear();
  for (std::size_t i = 0; i < distribution.tokens.size(); ++i)
    if (distribution.probabilities[i] > 0.0)
      times.emplace_back(arrival(distribution.probabilities[i], key, position, distribution.tokens[i]),
                         distribution.tokens[i]);
  const auto kept = std::min(times.size(), static_cast<std::size_t>(count));
  std::partial_sort(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(kept), times.end());
  tokens.clear();
  for (std::size_t i = 0; i < kept; ++i) tokens.push_back(times[i].second);
}

}  // namespace draftscope::engine
