// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The parts of drafting with a part of the target: which mask, how long, when to stop, how wide to verify.
// The papers' strategies are mixes of these parts, and so is any other mix.
//
// A part that learns is a Learner too. Parts are made by functions that take their parameters. A part that
// several choices share (DEL's statistics) is one Learner.

#include <draftscope/engine/strategy.h>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace draftscope::engine {

class MaskChoice {
 public:
  virtual ~MaskChoice() = default;
  /// The sublayers of the next draft; null = no draft this round. Valid until the next optimise().
  [[nodiscard]] virtual const speculation::SublayerMask* mask(const RoundView& round) = 0;
  [[nodiscard]] virtual std::string_view origin() const = 0;
};

class LengthChoice {
 public:
  virtual ~LengthChoice() = default;
  [[nodiscard]] virtual std::int32_t length(const RoundView& round) = 0;
};

class ThresholdChoice {
 public:
  virtual ~ThresholdChoice() = default;
  /// The draft-exit threshold; -1 = none.
  [[nodiscard]] virtual double threshold(const RoundView& round) = 0;
};

/// A part that learns between rounds. Its functions are the Strategy functions of the same names.
class Learner {
 public:
  virtual ~Learner() = default;
  virtual void begin_request(const RequestView& /*request*/) {}
  /// Layer boundaries of the hidden states that it wants from the next planned round, ascending. May change
  /// from round to round; observe() gets the states of these only.
  [[nodiscard]] virtual std::span<const std::int32_t> states() const { return {}; }
  virtual void observe(const RoundView& /*round*/, const RoundOutcome& /*outcome*/, DecisionLog* /*log*/) {}
  [[nodiscard]] virtual bool wants_to_optimise() const { return false; }
  [[nodiscard]] virtual Result<void> optimise(const RoundView& /*view*/, Probe& /*probe*/,
                                              DecisionLog* /*log*/) {
    return {};
  }
};

struct Parts {
  std::shared_ptr<MaskChoice> mask;
  std::shared_ptr<LengthChoice> length;
  std::shared_ptr<ThresholdChoice> threshold;          ///< Null = no threshold.
  double entropy_weight = 0.0;                         ///< Value for RoundPlan::entropy_weight.
  std::span<const speculation::BranchWidth> branches;  ///< Widths of a tree; empty = a chain.
  std::optional<speculation::WeightFormat> weights;    ///< Value for RoundPlan::weights.
  Verification verification = Verification::all_layers;
  Acceptance acceptance = Acceptance::by_token;
  /// Each learner once, in the order in which they observe a round.
  std::vector<std::shared_ptr<Learner>> learners;
};

/// Makes a strategy of these parts.
[[nodiscard]] std::unique_ptr<Strategy> make_mixed(Parts parts);

}  // namespace draftscope::engine
