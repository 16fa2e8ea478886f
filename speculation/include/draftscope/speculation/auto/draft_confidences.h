// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How often a drafter's tokens are right, by its confidence in them: from which confidence on it is worth
// while to draft another one, and how long.

#include <draftscope/speculation/auto/fading_counts.h>
#include <array>
#include <cstddef>
#include <cstdint>

namespace draftscope::speculation {

class DraftConfidences {
 public:
  /// `acceptance`: expected of its tokens before any was judged.
  explicit DraftConfidences(double acceptance);

  /// A token that was verified behind right ones.
  void add(double confidence, bool right);
  /// Tokens that were judged, older ones counting less.
  [[nodiscard]] double judged() const;

  /// Drafts of `length` tokens at most that end behind one of lower confidence than `threshold`.
  struct Plan {
    std::int32_t length = 0;
    double threshold = -1.0;  ///< -1 = none
  };
  struct Outcome {
    double tokens = 1.0;  ///< expected, the target's own included
    double steps = 0.0;   ///< expected draft steps
  };
  /// Thresholds that a plan may have: the lower edges of the confidences that are told apart.
  static constexpr std::array<double, 8> thresholds{-1.0, 0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.99};
  /// Visits every plan and its outcome, as if confidences and errors did not depend on those before; by
  /// length, from 1 on.
  template <typename Visit>  // void(Plan, Outcome)
  void for_each_plan(std::int32_t max_length, Visit visit) const {
    const Shares shares = by_confidence();
    for (std::size_t edge = 0; edge < thresholds.size(); ++edge) {
      double goes_on = 0.0;      // share of tokens behind which the draft goes on
      double right_there = 0.0;  // and that are right
      double right = 0.0;        // share of right tokens
      for (std::size_t i = 0; i < thresholds.size(); ++i) {
        right += shares[i].share * shares[i].right;
        if (i < edge) continue;
        goes_on += shares[i].share;
        right_there += shares[i].share * shares[i].right;
      }
      Outcome outcome;
      double reached = 1.0;  // probability that a draft gets to the next step
      double path = 1.0;     // and that all its tokens are right
      for (std::int32_t length = 1; length <= max_length; ++length) {
        outcome.steps += reached;
        outcome.tokens += path * right;
        reached *= goes_on;
        path *= right_there;
        visit(Plan{length, thresholds[edge]}, outcome);
      }
    }
  }

 private:
  struct Share {
    double share = 0.0;  // of all tokens
    double right = 0.0;  // of these
  };
  using Shares = std::array<Share, thresholds.size()>;
  /// Monotone: a surer token is not less often right.
  [[nodiscard]] Shares by_confidence() const;

  double expected_;
  FadingCounts counts_;
};

}  // namespace draftscope::speculation
