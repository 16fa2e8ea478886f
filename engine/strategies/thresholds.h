// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rules for the draft-exit threshold: a draft token of lower confidence is the round's last, and stays.

#include "strategies/parts.h"

namespace draftscope::engine {

class FixedThreshold final : public ThresholdChoice {
 public:
  explicit FixedThreshold(double threshold) : threshold_(threshold) {}
  double threshold(const RoundView& /*round*/) override { return threshold_; }

 private:
  double threshold_;
};

/// Draft & Verify's adaptive draft-exit threshold (Zhang et al. 2024, eqs. 2–4), after every round that
/// drafted:
///     AR ← β1·AR + (1 − β1)·AR_e,  AR_e = accepted / drafted
///     th' = th + ε if AR ≤ α, else th − ε
///     th ← β2·th + (1 − β2)·th'
class AdaptiveThreshold final : public ThresholdChoice, public Learner {
 public:
  enum class Rule : std::uint8_t {
    paper,  ///< the first AR of a request is its AR_e
    code,  ///< Draft & Verify's: AR starts at 0; "<"; th stays where the whole length was drafted and AR ≥ α
    del,  ///< DEL's baseline DV: AR_e is the request's so far, and AR itself while AR is 0; AR and th go on
          ///< from request to request; "<"
  };
  struct Options {
    Rule rule = Rule::paper;
    double start = 0.6;
    double target = 0.9;  ///< α
    double epsilon = 0.01;
    double beta1 = 0.5;
    double beta2 = 0.9;
    bool carries = true;  ///< th goes on from request to request, as the notebooks of the code have it
  };
  explicit AdaptiveThreshold(const Options& options) : options_(options), threshold_(options.start) {}

  double threshold(const RoundView& /*round*/) override { return threshold_; }
  void begin_request(const RequestView& request) override;
  void observe(const RoundView& round, const RoundOutcome& outcome, DecisionLog* log) override;

 private:
  [[nodiscard]] double moved(const RoundOutcome& outcome) const;

  Options options_;
  double threshold_;
  double rate_ = 0.0;  // AR
  bool has_rate_ = false;
  std::int64_t accepted_ = 0;  // in this request
  std::int64_t drafted_ = 0;
};

}  // namespace draftscope::engine
