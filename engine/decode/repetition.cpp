// SPDX-License-Identifier: GPL-3.0-or-later
#include "decode/repetition.h"

#include <cmath>
#include <limits>

namespace draftscope::engine {

Repetition::Repetition(const SamplingOptions& sampling, std::size_t prompt_tokens, std::int32_t vocab)
    : penalty_(sampling.repetition_penalty),
      frequency_(static_cast<float>(sampling.frequency_penalty)),
      presence_(static_cast<float>(sampling.presence_penalty)),
      prompt_tokens_(prompt_tokens),
      bias_(sampling.logit_bias) {
  if (!sampling.penalises()) return;
  counts_.assign(static_cast<std::size_t>(vocab), 0);
  outputs_.assign(counts_.size(), 0);
  // Rounds allocate nothing: no more different tokens occur than the vocabulary has.
  distinct_.reserve(counts_.size());
}

void Repetition::follow(std::span<const std::int32_t> text) {
  for (; followed_ < text.size(); ++followed_) {
    const auto token = static_cast<std::size_t>(text[followed_]);
    if (counts_[token]++ == 0) distinct_.push_back(text[followed_]);
    if (followed_ >= prompt_tokens_) ++outputs_[token];
  }
}

void Repetition::push(std::int32_t token) {
  pushed_.push_back(token);
  ++outputs_[static_cast<std::size_t>(token)];
  if (counts_[static_cast<std::size_t>(token)]++ == 0) distinct_.push_back(token);
}

void Repetition::pop() {
  --outputs_[static_cast<std::size_t>(pushed_.back())];
  if (--counts_[static_cast<std::size_t>(pushed_.back())] == 0) distinct_.pop_back();
  pushed_.pop_back();
}

void Repetition::apply(std::span<float> logits, std::span<TopToken> best) {
  const auto has_logit = [&](std::int32_t token) { return static_cast<std::size_t>(token) < logits.size(); };
  for (const TokenBias& of : bias_)
    if (has_logit(of.token)) logits[static_cast<std::size_t>(of.token)] += static_cast<float>(of.bias);
  if (penalty_ != 1.0) penalise_repetition(logits, distinct_, penalty_);
  if (frequency_ != 0.0F || presence_ != 0.0F) {
    for (const std::int32_t token : distinct_) {
      const std::int32_t count = outputs_[static_cast<std::size_t>(token)];
      if (count == 0 || !has_logit(token)) continue;
      logits[static_cast<std::size_t>(token)] -= frequency_ * static_cast<float>(count);
      logits[static_cast<std::size_t>(token)] -= presence_;
    }
  }
  top_.reset(1, 1, static_cast<std::int32_t>(best.size()));
  top_.offer(0, 0, logits, 0, std::numeric_limits<float>::infinity());
  top_.merge(0, best);
  const double highest = static_cast<double>(best[0].logit);
  double sum = 0.0;  // NaN if the logits form no distribution
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - highest);
  for (TopToken& token : best)
    token.probability = static_cast<float>(std::exp(static_cast<double>(token.logit) - highest) / sum);
}

}  // namespace draftscope::engine
