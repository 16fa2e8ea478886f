// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/knapspec/engine.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/to_size.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "strategies/engine.h"

namespace draftscope::engine {

namespace {

constexpr std::int32_t heaviest = 5;

/// Expected tokens of a round with a draft of `length` tokens, each correct with probability `agreement`,
/// including the bonus token.
double tokens_of(double agreement, std::int32_t length) {
  double tokens = 0.0;
  double right = 1.0;
  for (std::int32_t k = 0; k <= length; ++k, right *= agreement) tokens += right;
  return tokens;
}

void leave_out(std::int32_t sublayer, speculation::SublayerMask& mask) {
  if (sublayer % 2 == 0)
    mask.skip_attention(sublayer / 2);
  else
    mask.skip_mlp(sublayer / 2);
}

}  // namespace

Result<void> KnapsackSearch::run(const LastTokens& last, const SublayerTimes& times, Probe& probe) {
  has_found_ = false;
  const double ratio = times.attention_ns / times.mlp_ns;
  const auto times_heavier = [](double by) {
    return std::clamp(static_cast<std::int32_t>(std::lround(std::min(by, 1000.0))), 1, heaviest);
  };
  weights_ = ratio > 1.0 ? Weights{times_heavier(ratio), 1} : Weights{1, times_heavier(1.0 / ratio)};
  const std::int32_t n_layers = probe.shape().n_layers;
  budget_ = (weights_.attention + weights_.mlp) * n_layers / 2;
  skips_.assign(to_size(2 * n_layers) * to_size(budget_ + 1), 0);
  DRAFTSCOPE_TRY(begin(last, probe));
  for (std::int32_t sublayer = 2; sublayer < 2 * n_layers; ++sublayer) {
    DRAFTSCOPE_TRY(apply(sublayer, last, probe));
    DRAFTSCOPE_TRY(choose(sublayer, sublayer / 2 < n_layers - 1, probe.states()));
  }
  DRAFTSCOPE_TRY(read_heads(probe));
  choose_set(times, n_layers);
  return {};
}

/// Runs the first layer, which every set includes.
Result<void> KnapsackSearch::begin(const LastTokens& last, Probe& probe) {
  tokens_ = last.tokens.size();
  const std::int32_t most = (budget_ + 1) * static_cast<std::int32_t>(tokens_);
  DRAFTSCOPE_TRY_ASSIGN(states_, probe.states().reserve(3 * most));
  applied_ = states_ + most;
  next_ = applied_ + most;
  rows_.clear();
  for (std::size_t i = 0; i < tokens_; ++i)
    rows_.push_back(
        {.token = last.tokens[i], .hidden = -1, .position = last.position + static_cast<std::int32_t>(i)});
  const std::array<std::int32_t, 1> after{1};
  DRAFTSCOPE_TRY(probe.run({.rows = rows_,
                            .context = last.position,
                            .layers = {0, 1},
                            .wanted = {.hidden_after = after, .keep_at = states_}},
                           outputs_));
  saved_.assign(1, 0);
  return {};
}

/// Sets applied_ to the sublayer's output on the states of every branch. The tokens see the text before them
/// with the target's K/V, and each other with the branch's.
Result<void> KnapsackSearch::apply(std::int32_t sublayer, const LastTokens& last, Probe& probe) {
  const std::int32_t layer = sublayer / 2;
  speculation::SublayerMask alone(probe.shape().n_layers);
  leave_out(sublayer ^ 1, alone);
  const std::array<std::int32_t, 1> after{layer + 1};
  const std::size_t at_once = std::max<std::size_t>(to_size(probe.room()) / tokens_, 1);
  for (std::size_t first = 0; first < saved_.size(); first += at_once) {
    const std::size_t branches = std::min(at_once, saved_.size() - first);
    const auto done = static_cast<std::int32_t>(first * tokens_);
    rows_.clear();
    for (std::size_t i = 0; i < branches * tokens_; ++i)
      rows_.push_back({.token = -1,
                       .hidden = states_ + done + static_cast<std::int32_t>(i),
                       .position = last.position + static_cast<std::int32_t>(i % tokens_)});
    DRAFTSCOPE_TRY(probe.run({.rows = rows_,
                              .reads_kept = true,
                              .context = last.position,
                              .chain_rows = static_cast<std::int32_t>(tokens_),
                              .mask = &alone,
                              .layers = {layer, layer + 1},
                              .wanted = {.hidden_after = after, .keep_at = applied_ + done}},
                             outputs_));
  }
  return {};
}

double KnapsackSearch::similarity(std::size_t first, std::size_t branch) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < tokens_; ++i) sum += cosines_[first + branch * tokens_ + i];
  return sum / static_cast<double>(tokens_);
}

/// Fills cosines_ with the similarity to the target's states after the sublayer, which are the first
/// branch's. First come those of the states after the sublayer, then those before it if it may be skipped.
Result<void> KnapsackSearch::compare(bool may_skip, StateBank& bank) {
  pairs_.clear();
  for (const std::int32_t states : {applied_, states_}) {
    if (states == states_ && !may_skip) continue;
    for (std::size_t i = 0; i < saved_.size() * tokens_; ++i)
      pairs_.push_back(
          {states + static_cast<std::int32_t>(i), applied_ + static_cast<std::int32_t>(i % tokens_)});
  }
  return bank.compare(pairs_, cosines_);
}

/// Chooses for each saved weight the states most similar to the target's, which are those that saved nothing.
/// Ties run the sublayer.
Result<void> KnapsackSearch::choose(std::int32_t sublayer, bool may_skip, StateBank& bank) {
  DRAFTSCOPE_TRY(compare(may_skip, bank));
  sources_.assign(to_size(budget_ + 1), {});
  const auto offer = [&](std::int32_t saved, const Source& source) {
    if (saved > budget_ || source.similarity < options_.min_similarity) return;
    Source& best = sources_[to_size(saved)];
    if (source.similarity > best.similarity) best = source;
  };
  for (std::size_t branch = 0; branch < saved_.size(); ++branch)
    offer(saved_[branch], {similarity(0, branch), static_cast<std::int32_t>(branch), false});
  if (may_skip)
    for (std::size_t branch = 0; branch < saved_.size(); ++branch)
      offer(saved_[branch] + weight_of(sublayer),
            {similarity(saved_.size() * tokens_, branch), static_cast<std::int32_t>(branch), true});
  sources_[0] = {1.0, 0, false};  // the target's own states, even if they are not finite
  saved_.clear();
  moves_.clear();
  for (std::int32_t saved = 0; saved <= budget_; ++saved) {
    const Source& source = sources_[to_size(saved)];
    if (source.similarity < -1.0) continue;
    const auto tokens = static_cast<std::int32_t>(tokens_);
    const std::int32_t from = (source.skips ? states_ : applied_) + source.branch * tokens;
    const std::int32_t to = next_ + static_cast<std::int32_t>(saved_.size()) * tokens;
    for (std::int32_t i = 0; i < tokens; ++i) moves_.push_back({from + i, to + i});
    skips_[to_size(sublayer) * to_size(budget_ + 1) + to_size(saved)] = source.skips ? 1 : 0;
    saved_.push_back(saved);
  }
  std::swap(states_, next_);
  return bank.move(moves_);
}

Result<void> KnapsackSearch::read_heads(Probe& probe) {
  best_.clear();
  const std::int32_t n_layers = probe.shape().n_layers;
  const std::size_t rows = saved_.size() * tokens_;
  for (std::size_t first = 0; first < rows;) {
    const std::size_t count = std::min(to_size(probe.head_room()), rows - first);
    rows_.clear();
    for (std::size_t i = 0; i < count; ++i)
      rows_.push_back({.token = -1, .hidden = states_ + static_cast<std::int32_t>(first + i)});
    DRAFTSCOPE_TRY(probe.run({.rows = rows_,
                              .reads_kept = true,
                              .layers = {n_layers, n_layers},
                              .wanted = {.head = true, .top_k = 1}},
                             outputs_));
    for (const TopToken& top : outputs_.top) best_.push_back(has_distribution(top) ? top.token : -1);
    first += count;
  }
  return {};
}

void KnapsackSearch::choose_set(const SublayerTimes& times, std::int32_t n_layers) {
  const double whole = static_cast<double>(n_layers) * (times.attention_ns + times.mlp_ns);
  tokens_per_ns_ = -1.0;
  speculation::SublayerMask best;
  for (std::size_t branch = 1; branch < saved_.size(); ++branch) {
    std::size_t right = 0;
    for (std::size_t i = 0; i < tokens_; ++i)
      right += best_[branch * tokens_ + i] >= 0 && best_[branch * tokens_ + i] == best_[i] ? 1U : 0U;
    const double agreement = static_cast<double>(right) / static_cast<double>(tokens_);
    follow_back(saved_[branch], n_layers);
    double step = whole;
    for (std::int32_t layer = 0; layer < n_layers; ++layer) {
      if (!mask_.runs_attention(layer)) step -= times.attention_ns;
      if (!mask_.runs_mlp(layer)) step -= times.mlp_ns;
    }
    for (std::int32_t length = 0; length < options_.max_draft; ++length) {
      const double rate = tokens_of(agreement, length) / (static_cast<double>(length) * step + whole);
      if (!(rate > tokens_per_ns_)) continue;
      tokens_per_ns_ = rate;
      agreement_ = agreement;
      has_found_ = true;
      best = mask_;
    }
  }
  mask_ = best;
}

/// Sets mask_ to the set that saved so much, from its last sublayer to its first.
void KnapsackSearch::follow_back(std::int32_t saved, std::int32_t n_layers) {
  mask_ = speculation::SublayerMask(n_layers);
  for (std::int32_t sublayer = 2 * n_layers - 1; sublayer >= 2; --sublayer) {
    if (skips_[to_size(sublayer) * to_size(budget_ + 1) + to_size(saved)] == 0) continue;
    leave_out(sublayer, mask_);
    saved -= weight_of(sublayer);
  }
}

/// Measures a step of attention sublayers alone and one of MLPs alone on the text's last token, each as the
/// shorter of two.
Result<SublayerTimes> KnapspecMask::measure(std::int32_t token, Probe& probe) {
  const std::int32_t n_layers = probe.shape().n_layers;
  const std::int32_t position = probe.committed() - 1;
  speculation::SublayerMask without_mlp(n_layers);
  speculation::SublayerMask without_attention(n_layers);
  for (std::int32_t layer = 0; layer < n_layers; ++layer) {
    without_mlp.skip_mlp(layer);
    without_attention.skip_attention(layer);
  }
  rows_.assign(1, {.token = token, .hidden = -1, .position = position});
  const auto shorter_of_two = [&](const speculation::SublayerMask& mask) -> Result<double> {
    std::int64_t shortest = 0;
    for (int i = 0; i < 2; ++i) {
      const std::int64_t start_ns = now_ns();
      DRAFTSCOPE_TRY(
          probe.run({.rows = rows_, .context = position, .mask = &mask, .layers = {0, n_layers}}, outputs_));
      const std::int64_t took = now_ns() - start_ns;
      shortest = i == 0 ? took : std::min(shortest, took);
    }
    return std::max(static_cast<double>(shortest), 1.0) / static_cast<double>(n_layers);
  };
  DRAFTSCOPE_TRY_ASSIGN(const double attention, shorter_of_two(without_mlp));
  DRAFTSCOPE_TRY_ASSIGN(const double mlp, shorter_of_two(without_attention));
  return SublayerTimes{attention, mlp};
}

Result<void> KnapspecMask::optimise(const RoundView& view, Probe& probe, DecisionLog* log) {
  due_ = false;
  since_ = 0;
  const std::int32_t tokens = std::min({options_.window, probe.room(), probe.committed()});
  if (tokens < 1) return {};
  const std::int64_t start_ns = now_ns();
  const std::int32_t first = probe.committed() - tokens;
  const auto last = view.text.subspan(to_size(first), to_size(tokens));
  DRAFTSCOPE_TRY_ASSIGN(const SublayerTimes times, measure(last.back(), probe));
  DRAFTSCOPE_TRY(search_.run({last, first}, times, probe));
  if (log == nullptr) return {};
  log->add({.kind = "layer set",
            .score = search_.agreement(),
            .has_score = search_.has_found(),
            .adopted = search_.has_found(),
            .start_ns = start_ns,
            .end_ns = now_ns(),
            .detail = [&] {
              return fmt::format(
                  R"({{"attention_ns":{:.0f},"mlp_ns":{:.0f},"agreement":{},"tokens_per_ns":{}}})",
                  times.attention_ns, times.mlp_ns, search_.agreement(), search_.tokens_per_ns());
            }});
  return {};
}

namespace {

Result<void> add_knapspec(const speculation::StrategySpecification& mix,
                          const speculation::ModelShape& /*shape*/, Parts& parts) {
  parts.mask = learn(parts, std::make_shared<KnapspecMask>(KnapspecMask::Options{
                                .interval = mix.integer("interval"),
                                .window = mix.integer("window"),
                                .search = {.min_similarity = mix.number("min-similarity")}}));
  return {};
}

}  // namespace

StrategyMakers engine_of_knapspec() {
  return {.parts = {{speculation::PartKind::mask, "knapspec", add_knapspec}}};
}

}  // namespace draftscope::engine
