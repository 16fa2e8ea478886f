// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How often a drafter's tokens are right, by its confidence in them, and how sure it will be next: from which
// confidence on it is worth while to draft another one, and how long.
//
// Two things are learnt apart. How often a token of a confidence is right is a property of the drafter: a
// curve that is known about before the first token is judged, moved as a whole by what is right and wrong,
// and then confidence by confidence. How sure the next token will be is a property of the text: where a token
// was unsure, or wrong, the next one is often unsure as well.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::speculation {

/// Right and wrong guesses by cell, of which older ones count less: every fade() halves them all a little.
class FadingCounts {
 public:
  /// `half_life`: calls of fade() after which a guess counts half.
  FadingCounts(std::size_t cells, double half_life) : cells_(cells), growth_(std::exp2(1.0 / half_life)) {}

  void fade() {
    // The weight of new guesses grows instead, so that a call touches no cell.
    now_ *= growth_;
    if (now_ > 1e9) rescale();
  }
  void add(std::size_t cell, bool right) {
    cells_[cell].all += now_;
    if (right) cells_[cell].right += now_;
  }
  /// Guesses of the cell, as they count today.
  [[nodiscard]] double weight(std::size_t cell) const { return cells_[cell].all / now_; }
  [[nodiscard]] double right(std::size_t cell) const { return cells_[cell].right / now_; }
  /// Share of right ones, with `prior` as if `prior_weight` guesses had told it.
  [[nodiscard]] double share(std::size_t cell, double prior, double prior_weight) const {
    return (cells_[cell].right / now_ + prior * prior_weight) / (weight(cell) + prior_weight);
  }
  [[nodiscard]] std::size_t size() const { return cells_.size(); }

 private:
  struct Cell {
    double all = 0.0;
    double right = 0.0;
  };

  void rescale() {
    for (Cell& cell : cells_) {
      cell.all /= now_;
      cell.right /= now_;
    }
    now_ = 1.0;
  }

  std::vector<Cell> cells_;
  double growth_;
  double now_ = 1.0;  // weight of a guess that is added now
};

/// A drafter by a part of the model, as it is expected to be before it ran.
struct ExpectedDrafter {
  double step_cost = 0.5;   ///< of a draft step, in vanilla rounds
  double acceptance = 0.8;  ///< of its tokens
  /// Bits of the whole model's weights, rounded to fewer: how often tokens of a confidence are right is then
  /// known about, and `acceptance` asked only if it was measured. 0 = another part of the model.
  double bits = 0.0;
  bool is_measured = false;  ///< `acceptance` was measured on other texts
};

/// A draft token that was verified behind right ones.
struct JudgedToken {
  double confidence = 0.0;
  bool right = false;
};

/// How sure a draft was of the token before. A round that begins behind a wrong token begins behind its
/// sureness.
enum class Sureness : std::uint8_t { low, middle, high, unknown };
[[nodiscard]] Sureness sureness_of(double confidence);

class DraftConfidences {
 public:
  explicit DraftConfidences(const ExpectedDrafter& expected);

  /// The judged tokens of a round's draft, which began behind a token of sureness `before`.
  void add(Sureness before, std::span<const JudgedToken> tokens);
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
  /// Visits every plan and its outcome; by length, from 1 on. `hope`: standard deviations by which the
  /// drafter is taken to be better than it seems.
  template <typename Visit>  // void(Plan, Outcome)
  void for_each_plan(Sureness before, std::int32_t max_length, double hope, Visit visit) const {
    const Curve right = curve(hope);
    const Followers followers = next_confidences();
    for (const double threshold : thresholds) {
      const Steps steps = steps_of(right, followers, threshold);
      Outcome outcome;
      std::array<double, classes> reached{};  // probability that a draft gets to a step behind this sureness
      std::array<double, classes> path{};     // and that all its tokens are right
      reached[static_cast<std::size_t>(before)] = path[static_cast<std::size_t>(before)] = 1.0;
      for (std::int32_t length = 1; length <= max_length; ++length) {
        std::array<double, classes> next_reached{};
        std::array<double, classes> next_path{};
        for (std::size_t from = 0; from < classes; ++from) {
          outcome.steps += reached[from];
          outcome.tokens += path[from] * steps[from].right;
          for (std::size_t to = 0; to < classes; ++to) {
            next_reached[to] += reached[from] * steps[from].goes_on[to];
            next_path[to] += path[from] * steps[from].right_there[to];
          }
        }
        reached = next_reached;
        path = next_path;
        visit(Plan{length, threshold}, outcome);
      }
    }
  }

 private:
  static constexpr std::size_t bins = thresholds.size();
  static constexpr std::size_t classes = 4;                         // of Sureness
  using Curve = std::array<double, bins>;                           // share of right tokens by confidence
  using Followers = std::array<std::array<double, bins>, classes>;  // shares by sureness of the token before
  /// A step behind a token of one sureness.
  struct Step {
    double right = 0.0;
    std::array<double, classes> goes_on{};      // share of tokens behind which the draft goes on, by sureness
    std::array<double, classes> right_there{};  // and that are right
  };
  using Steps = std::array<Step, classes>;

  void move_curve();
  /// Monotone: a surer token is not less often right.
  [[nodiscard]] Curve curve(double hope) const;
  [[nodiscard]] Followers next_confidences() const;
  [[nodiscard]] static Steps steps_of(const Curve& right, const Followers& followers, double threshold);

  Curve expected_{};           // log odds, before a token was judged
  FadingCounts counts_;        // by confidence
  FadingCounts followers_;     // by sureness of the token before, and confidence
  double shift_ = 0.0;         // of the curve, in log odds
  double expected_deviation_;  // of the shift, before a token was judged
  double deviation_;           // and now
};

}  // namespace draftscope::speculation
