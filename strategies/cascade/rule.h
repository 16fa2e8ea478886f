// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A cascade of drafters of one target; each step of a draft uses one of them. The expected tokens per time
// decide which one, for how many tokens, and whether any. Source: Ning et al., "CAS-Spec: Cascade Adaptive
// Self-Speculative Decoding for On-the-Fly Lossless Inference Acceleration of LLMs" (NeurIPS 2025, arXiv
// 2510.26843): its objective of a step and its estimates of acceptance rates. page.md says which other parts
// are ours.
//
// The unit of time is one step of the target.

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

/// A drafter of a cascade that is part of the target; lists are "0.4+0.6", "exit-8+0.4", "q8_0+0.5/q4_0".
struct CascadeLevel {
  std::string name;  ///< Name as written in the list.
  SublayerMask mask;
  std::optional<WeightFormat> weights;  ///< Weight format; none = the target's own.
};

/// Parses the levels of a list, in its order; "none" and an empty text give none. A level is one of: a share
/// of whole layers to leave out, evenly over the depth and never the first or the last ("0.4"); an early exit
/// after so many layers ("exit-8"); weights of fewer bits ("q4_0"); or one of the first two with such weights
/// ("0.4/q4_0"). Errors: anything else, more than eight levels.
[[nodiscard]] Result<std::vector<CascadeLevel>> cascade_levels(std::string_view text, std::int32_t n_layers);

/// A share that follows outcomes: after each group of outcomes it moves towards the mean of the latest.
class MovingShare {
 public:
  MovingShare(double start, double decay, std::int32_t memory)
      : share_(start), decay_(decay), memory_(memory) {}
  void add(double outcome);
  /// Ends a group; a group without an outcome changes nothing.
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
    /// Cost of a pass of each level, in steps of the target, until it is measured.
    std::vector<double> costs;
    double row_cost = 0.02;   ///< Cost of a row of a verification beyond the first, in steps of the target,
                              ///< until it is measured.
    bool is_measured = true;  ///< Whether costs follow the clock; otherwise they are constant.
    std::int32_t max_length = 5;  ///< Maximum tokens of a step.
    double decay = 0.7;           ///< λ: weight of the present estimate.
    std::int32_t memory = 20;     ///< H: number of latest outcomes whose mean the estimate moves to.
  };
  /// Tokens that a round is expected to yield with its present draft, and the time that it is expected to
  /// take.
  struct Spent {
    double tokens = 1.0;  ///< Expected tokens, including the target's own.
    double time = 1.0;    ///< Expected time, including the verification.
  };
  struct Step {
    std::int32_t level = -1;  ///< Level of the step; -1 = nothing pays.
    std::int32_t length = 0;
  };
  /// A drafted token that the target judged.
  struct Judged {
    std::int32_t level = 0;    ///< Level of the drafter; levels() = a guess from the text.
    double share = 1.0;        ///< Probability that the draft gave it, or expected acceptance of a guess.
    std::int32_t matched = 0;  ///< Matched tokens of the text's end, for a guess.
    bool is_right = false;
  };

  explicit CascadeRule(const Options& options);

  [[nodiscard]] std::int32_t levels() const { return static_cast<std::int32_t>(rates_.size()); }

  /// Chooses the step after a token that stays with probability `stays`. Among all levels and lengths it
  /// maximises (α(1 − α^k) / (1 − α) + α^k·α_text) / (c·k + c_text). The step is taken only if its gain per
  /// time exceeds the draft's expected tokens per time so far. `room`: tokens that may follow.
  [[nodiscard]] Step choose(double stays, const Spent& spent, std::int32_t room) const;
  /// The objective that choose() maximises.
  [[nodiscard]] double objective(std::int32_t level, std::int32_t length) const;

  /// α: share of a level's tokens that were correct.
  [[nodiscard]] double rate(std::int32_t level) const {
    return rates_[static_cast<std::size_t>(level)].right.share();
  }
  /// Expected acceptance of a level's token, given the draft's probability of it.
  [[nodiscard]] double acceptance(std::int32_t level, double share) const;
  [[nodiscard]] double guess_acceptance(std::int32_t matched) const;
  [[nodiscard]] double pass_cost(std::int32_t level) const { return costs_[static_cast<std::size_t>(level)]; }
  [[nodiscard]] double row_cost() const { return row_cost_; }

  /// Reports how many tokens a pass of a level decided, and its time; 0 = not known.
  void end_pass(std::int32_t level, std::int32_t tokens, std::int64_t ns);
  /// Reports the time of a round's verification of so many rows; one row is a step of the target. 0 = not
  /// known.
  void end_verification(std::int32_t rows, std::int64_t ns);
  /// Reports the verdicts on a round's tokens.
  void judge(std::span<const Judged> tokens);

 private:
  struct LevelRate {
    MovingShare right;      ///< Share of correct tokens, α.
    MovingShare predicted;  ///< Mean probability that the draft gave its tokens.
    double tokens_per_pass = 1.0;
  };
  [[nodiscard]] double text_rate() const;

  Options options_;
  std::vector<LevelRate> rates_;
  std::vector<MovingShare> guess_rates_;  // by tokens matched, from 1
  std::vector<double> costs_;
  double row_cost_;
  double step_ns_ = 0.0;  // time of a target step; 0 = not measured
};

/// The continuation of the longest end of `text`, of at most `max_match` tokens, at its latest earlier
/// occurrence.
struct LastFollowed {
  std::span<const std::int32_t> tokens;  ///< Span of `text`; empty = no earlier occurrence.
  std::int32_t matched = 0;
};
[[nodiscard]] LastFollowed last_followed(std::span<const std::int32_t> text, std::int32_t max_match,
                                         std::int32_t max_tokens);

}  // namespace draftscope::speculation
