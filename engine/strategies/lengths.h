// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rules for the speculation length γ.

#include <memory>

#include "strategies/parts.h"

namespace draftscope::engine {

class FixedLength final : public LengthChoice {
 public:
  explicit FixedLength(std::int32_t gamma) : gamma_(gamma) {}
  std::int32_t length(const RoundView& /*round*/) override { return gamma_; }

 private:
  std::int32_t gamma_;
};

/// One longer after a round that accepted all that was planned, one shorter after any other; a draft cut
/// short by an end of sequence or the budget counts as one of those. From `start` again for each request.
/// Source: the FSM generator of DEL's code (docs/methods.md, FS), which has no upper bound and a lower one of
/// 0, where 0 of 0 accepted lengthens again.
class FiniteStateLength final : public LengthChoice, public Learner {
 public:
  struct Options {
    std::int32_t start = 6;
    std::int32_t least = 1;
    std::int32_t most = 63;
  };
  explicit FiniteStateLength(const Options& options) : options_(options), gamma_(options.start) {}
  std::int32_t length(const RoundView& /*round*/) override { return gamma_; }
  void begin_request(const RequestView& /*request*/) override { gamma_ = options_.start; }
  void observe(const RoundView& round, const RoundOutcome& outcome, DecisionLog* log) override;

 private:
  Options options_;
  std::int32_t gamma_;
};

/// Two longer after a round that accepted its whole draft, one shorter after any other, at least 1. Source:
/// transformers' assisted generation, num_assistant_tokens_schedule "heuristic" (kept between requests) and
/// "heuristic_transient" (docs/methods.md, Two models).
class HeuristicLength final : public LengthChoice, public Learner {
 public:
  HeuristicLength(std::int32_t start, bool transient) : start_(start), transient_(transient), gamma_(start) {}
  std::int32_t length(const RoundView& /*round*/) override { return gamma_; }
  void begin_request(const RequestView& /*request*/) override {
    if (transient_) gamma_ = start_;
  }
  void observe(const RoundView& round, const RoundOutcome& outcome, DecisionLog* log) override;

 private:
  static constexpr std::int32_t most = 63;
  std::int32_t start_;
  bool transient_;
  std::int32_t gamma_;
};

}  // namespace draftscope::engine
