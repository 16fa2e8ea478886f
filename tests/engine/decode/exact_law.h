// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Computes the law of the first tokens of a decoding: it walks every random choice that decode() can meet and
// adds up the probabilities.

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "expect_decoded.h"
#include "toy_backend.h"

namespace draftscope::engine {

inline constexpr std::size_t law_length = 3;
using Law = std::map<std::vector<std::int32_t>, double>;

/// Replays a path of choices and takes the first untried branch after it.
class EveryChance final : public Chooser {
 public:
  std::size_t choose(Draw /*draw*/, std::span<const double> weights) override {
    double sum = 0.0;
    for (const double weight : weights) sum += weight;
    if (depth_ == path_.size())
      path_.push_back({next_possible(weights, 0), {weights.begin(), weights.end()}});
    Branch& branch = path_[depth_++];
    probability_ *= branch.weights[branch.index] / sum;
    return branch.index;
  }

  double probability() const { return probability_; }

  /// Moves to the next path; returns false when all were walked.
  bool advance() {
    path_.resize(depth_);
    while (!path_.empty()) {
      Branch& last = path_.back();
      last.index = next_possible(last.weights, last.index + 1);
      if (last.index < last.weights.size()) break;
      path_.pop_back();
    }
    depth_ = 0;
    probability_ = 1.0;
    return !path_.empty();
  }

 private:
  struct Branch {
    std::size_t index;
    std::vector<double> weights;
  };
  static std::size_t next_possible(std::span<const double> weights, std::size_t from) {
    while (from < weights.size() && weights[from] <= 0.0) ++from;
    return from;
  }
  std::vector<Branch> path_;
  std::size_t depth_ = 0;
  double probability_ = 1.0;
};

/// Ends a request once enough tokens are known. The token budget then never cuts drafts short.
class StopWhenKnown final : public DecodeListener {
 public:
  explicit StopWhenKnown(std::size_t length) : length_(length) {}
  std::atomic<bool> known{false};
  void on_first_token(std::int32_t /*token*/) override { ++tokens_; }
  void on_round(const RoundReport& report) override {
    tokens_ += report.emitted.size();
    if (tokens_ >= length_) known = true;
  }

 private:
  std::size_t length_;
  std::size_t tokens_ = 0;
};

using MakeStrategy = std::function<std::unique_ptr<Strategy>(const speculation::ModelShape& shape)>;

inline Law law_of(const ToyBackend::Options& options, const MakeStrategy& make,
                  const SamplingOptions& sampling, std::span<const std::int32_t> eos,
                  std::size_t length = law_length) {
  Law law;
  EveryChance chooser;
  const std::vector<std::int32_t> prompt{0, 1, 1};
  double total = 0.0;
  do {
    ToyBackend backend(options);
    const auto strategy = make(backend.shape());
    StopWhenKnown listener(length);
    const DecodeRequest request{.prompt = prompt,
                                .max_new_tokens = 20,
                                .sampling = sampling,
                                .eos_tokens = eos,
                                .cancelled = &listener.known};
    auto result = decode(backend, *strategy, request, chooser, listener);
    EXPECT_TRUE(result) << result.error().message;
    std::vector<std::int32_t> start = result->tokens;
    start.resize(std::min(start.size(), length));
    law[start] += chooser.probability();
    total += chooser.probability();
  } while (chooser.advance());
  EXPECT_NEAR(total, 1.0, 1e-9);
  return law;
}

/// The law of the strategy with this specification.
inline Law law_of(const ToyBackend::Options& options, const std::string& specification,
                  const SamplingOptions& sampling, std::span<const std::int32_t> eos,
                  std::size_t length = law_length) {
  return law_of(
      options, [&](const speculation::ModelShape& shape) { return expect_strategy(specification, shape); },
      sampling, eos, length);
}

inline double total_variation(const Law& a, const Law& b) {
  double sum = 0.0;
  for (const auto& [text, probability] : a) {
    const auto other = b.find(text);
    sum += std::abs(probability - (other == b.end() ? 0.0 : other->second));
  }
  for (const auto& [text, probability] : b)
    if (!a.contains(text)) sum += probability;
  return sum / 2.0;
}

}  // namespace draftscope::engine
