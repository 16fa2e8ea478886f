// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How often a drafter's tokens are correct, by its confidence in them, and how sure it will be next. This
// tells from which confidence on another draft token pays, and how long a draft should be.
//
// Two things are learnt separately. How often a token of a confidence is correct is a property of the
// drafter. It is a curve that is roughly known before the first token is judged; outcomes move it first as a
// whole, and then confidence by confidence. How sure the next token will be is a property of the text: where
// a token was unsure, or wrong, the next one is often unsure as well.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::speculation {

/// Correct and wrong guesses by cell; older ones count less, because every fade() reduces them all a little.
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
  /// Guesses of the cell, with their present weight.
  [[nodiscard]] double weight(std::size_t cell) const { return cells_[cell].all / now_; }
  [[nodiscard]] double right(std::size_t cell) const { return cells_[cell].right / now_; }
  /// Share of correct guesses, starting from `prior` with the weight of `prior_weight` guesses.
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

/// Expectations about a drafter that is part of the model, before it ran.
struct ExpectedDrafter {
  double step_cost = 0.5;   ///< Cost of a draft step, in vanilla rounds.
  double acceptance = 0.8;  ///< Acceptance of its tokens.
  /// Bits of the whole model's weights, rounded to fewer. The share of correct tokens per confidence is then
  /// roughly known, and `acceptance` is used only if it was measured. 0 = another part of the model.
  double bits = 0.0;
  bool is_measured = false;  ///< Whether `acceptance` was measured on other texts.
};

/// A draft token that was verified after correct ones.
struct JudgedToken {
  double confidence = 0.0;
  bool right = false;
};

/// The confidence class of the token before. A round that begins after a wrong token begins after that
/// token's sureness.
enum class Sureness : std::uint8_t { low, middle, high, unknown };
[[nodiscard]] Sureness sureness_of(double confidence);

class DraftConfidences {
 public:
  explicit DraftConfidences(const ExpectedDrafter& expected);

  /// Adds the judged tokens of a round's draft, which began after a token of sureness `before`.
  void add(Sureness before, std::span<const JudgedToken> tokens);

  /// Drafts of at most `length` tokens that end after a token of lower confidence than `threshold`.
  struct Plan {
    std::int32_t length = 0;
    double threshold = -1.0;  ///< Draft-exit threshold; -1 = none.
  };
  struct Outcome {
    double tokens = 1.0;  ///< Expected tokens, including the target's own.
    double steps = 0.0;   ///< Expected draft steps.
  };
  /// Thresholds that a plan may have: the lower edges of the confidence bins.
  static constexpr std::array<double, 8> thresholds{-1.0, 0.3, 0.5, 0.7, 0.85, 0.93, 0.97, 0.99};
  /// Visits every plan and its outcome, in order of length from 1 on. `hope`: standard deviations by which
  /// the drafter is assumed to be better than it seems.
  template <typename Visit>  // void(Plan, Outcome)
  void for_each_plan(Sureness before, std::int32_t max_length, double hope, Visit visit) const {
    const Curve right = curve(hope);
    const Followers followers = next_confidences();
    for (const double threshold : thresholds) {
      const Steps steps = steps_of(right, followers, threshold);
      Outcome outcome;
      std::array<double, classes> reached{};  // probability that a draft reaches a step after this sureness
      std::array<double, classes> path{};     // probability that it also has only correct tokens
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
  static constexpr std::size_t classes = 4;                         // number of values of Sureness
  using Curve = std::array<double, bins>;                           // share of correct tokens by confidence
  using Followers = std::array<std::array<double, bins>, classes>;  // shares by sureness of the token before
  /// A draft step after a token of one sureness.
  struct Step {
    double right = 0.0;
    std::array<double, classes> goes_on{};  // share of tokens after which the draft continues, by sureness
    // Share of tokens after which the draft continues and that are correct.
    std::array<double, classes> right_there{};
  };
  using Steps = std::array<Step, classes>;

  void move_curve();
  /// The curve is monotone: a surer token is not less often correct.
  [[nodiscard]] Curve curve(double hope) const;
  [[nodiscard]] Followers next_confidences() const;
  [[nodiscard]] static Steps steps_of(const Curve& right, const Followers& followers, double threshold);

  Curve expected_{};           // log odds, before a token was judged
  FadingCounts counts_;        // by confidence
  FadingCounts followers_;     // by sureness of the token before, and confidence
  double shift_ = 0.0;         // shift of the curve, in log odds
  double expected_deviation_;  // deviation of the shift before a token was judged
  double deviation_;           // present deviation of the shift
};

}  // namespace draftscope::speculation
