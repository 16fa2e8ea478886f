// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A cascade of drafters of one target, from which each step of a draft takes one: what its tokens are
// expected to bring for their time decides which, for how many tokens, and whether any. Source: Ning et al.,
// "CAS-Spec: Cascade Adaptive Self-Speculative Decoding for On-the-Fly Lossless Inference Acceleration of
// LLMs" (NeurIPS 2025, arXiv 2510.26843): its objective of a step and its estimates of acceptance rates;
// page.md says what else is ours.
//
// Times are counted in steps of the target.

#include <draftscope/base/result.h>
#include <draftscope/speculation/sublayer_mask.h>
#include <draftscope/speculation/weight_format.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

/// The drafters of a cascade that are parts of the target: "0.4+0.6", "exit-8+0.4", "q8_0+0.5/q4_0".
struct CascadeLevel {
  std::string name;  ///< as it was written
  SublayerMask mask;
  std::optional<WeightFormat> weights;  ///< none = the target's own
};

/// The levels of a list, in its order; none of "none" or an empty text. A level is a share of whole layers
/// that are left out, evenly over the depth and never the first or the last ("0.4"), an early exit behind so
/// many layers ("exit-8"), weights of fewer bits ("q4_0"), or one of the former with such weights
/// ("0.4/q4_0"). Errors: anything else, more than eight.
[[nodiscard]] Result<std::vector<CascadeLevel>> cascade_levels(std::string_view text, std::int32_t n_layers);

/// A share that follows outcomes: after each group of them it moves to the mean of the latest.
class MovingShare {
 public:
  MovingShare(double start, double decay, std::int32_t memory)
      : share_(start), decay_(decay), memory_(memory) {}
  void add(double outcome);
  /// Ends a group; without an outcome in it nothing moves.
  void move();
  [[nodiscard]] double share() const { return share_; }

 private:
  double share_;
  double decay_;
  std::int32_t memory_;
  std::vector<double> latest_;
  std::size_t next_ = 0;
  bool has_new_ = false;
};

class CascadeRule {
 public:
  struct Options {
    std::vector<double> costs;    ///< a pass of each level in steps of the target, until it was measured
    double row_cost = 0.02;       ///< a row of a verification beyond the first, likewise
    bool is_measured = true;      ///< costs follow the clock; else they stay
    std::int32_t max_length = 5;  ///< tokens of a step
    double decay = 0.7;           ///< λ: weight of an estimate so far
    std::int32_t memory = 20;     ///< H: latest outcomes that it moves to
  };
  /// Tokens that a round is expected to yield with its draft so far, and the time that it is to take.
  struct Spent {
    double tokens = 1.0;  ///< the target's own included
    double time = 1.0;    ///< the verification included
  };
  struct Step {
    std::int32_t level = -1;  ///< -1 = nothing pays
    std::int32_t length = 0;
  };
  /// A drafted token that the target judged.
  struct Judged {
    std::int32_t level = 0;    ///< levels() = a guess from the text
    double share = 1.0;        ///< the draft's probability of it, or what a guess was expected
    std::int32_t matched = 0;  ///< tokens of the text's end that a guess was found by
    bool is_right = false;
  };

  explicit CascadeRule(const Options& options);

  [[nodiscard]] std::int32_t levels() const { return static_cast<std::int32_t>(rates_.size()); }

  /// The step behind a token that stays with probability `stays`: of all levels and lengths the one of the
  /// highest (α(1 − α^k) / (1 − α) + α^k·α_text) / (c·k + c_text), if what it adds for its time is more than
  /// what the draft brings for its time so far. `room`: tokens that may follow.
  [[nodiscard]] Step choose(double stays, const Spent& spent, std::int32_t room) const;
  /// The objective above.
  [[nodiscard]] double objective(std::int32_t level, std::int32_t length) const;

  /// α: share of a level's tokens that were right.
  [[nodiscard]] double rate(std::int32_t level) const {
    return rates_[static_cast<std::size_t>(level)].right.share();
  }
  /// Expected acceptance of a level's token by the draft's probability of it, of a guess by its match.
  [[nodiscard]] double acceptance(std::int32_t level, double share) const;
  [[nodiscard]] double guess_acceptance(std::int32_t matched) const;
  [[nodiscard]] double pass_cost(std::int32_t level) const { return costs_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] double row_cost() const { return row_cost_; }

  /// Tells how many tokens a pass of a level decided, and what it took; 0 = not known.
  void end_pass(std::int32_t level, std::int32_t tokens, std::int64_t ns);
  /// Tells what a round's verification of so many rows took; one row is a step of the target. 0 = not known.
  void end_verification(std::int32_t rows, std::int64_t ns);
  /// Tells what became of a round's tokens.
  void judge(std::span<const Judged> tokens);

 private:
  struct LevelRate {
    MovingShare right;      ///< α
    MovingShare predicted;  ///< the draft's own probability of its tokens
    double tokens_per_pass = 1.0;
  };
  [[nodiscard]] double text_rate() const;

  Options options_;
  std::vector<LevelRate> rates_;
  std::vector<MovingShare> guess_rates_;  // by tokens matched, from 1
  std::vector<double> costs_;
  double row_cost_;
  double step_ns_ = 0.0;  // of the target; 0 = not measured
};

/// Continuation of the latest earlier occurrence of the longest end of `text`, of at most `max_match` tokens.
struct LastFollowed {
  std::span<const std::int32_t> tokens;  ///< of `text`; empty = it did not stand before
  std::int32_t matched = 0;
};
[[nodiscard]] LastFollowed last_followed(std::span<const std::int32_t> text, std::int32_t max_match,
                                         std::int32_t max_tokens);

}  // namespace draftscope::speculation
