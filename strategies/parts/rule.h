// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rules of lengths and stops, as values. A length rule gives the speculation length γ. A threshold rule gives
// the draft-exit threshold: a draft token of lower confidence is the round's last, and stays. next() takes
// the counts of a round and returns the value for the next one.

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace draftscope::speculation {

/// The numbers of a round that length and threshold rules use. The span lives as long as the call.
struct RoundCounts {
  std::int32_t planned = 0;   ///< Planned γ, before the cut at budget, context and width.
  std::int32_t drafted = 0;   ///< Draft steps; siblings of a tree do not count.
  std::int32_t accepted = 0;  ///< Accepted draft tokens, before a cut at the end of the text.
  /// Confidences of the draft steps in order, as far as they are known. Those of the accepted tokens and of
  /// the first rejected one, if any, always are.
  std::span<const double> confidences;
};

/// A constant length in every round.
class FixedLength {
 public:
  explicit FixedLength(std::int32_t gamma) : gamma_(gamma) {}
  void begin_request() {}
  [[nodiscard]] std::int32_t length() const { return gamma_; }
  std::int32_t next(const RoundCounts& /*counts*/) { return gamma_; }

 private:
  std::int32_t gamma_;
};

/// A length that grows by one after a round that accepted everything planned, and shrinks by one after any
/// other. A draft cut short by an end of sequence or the budget counts as any other. Each request begins with
/// `start`. Source: the FSM generator of DEL's code (Entezari Zarch et al. 2025), which has no upper bound
/// and a lower one of 0, where 0 of 0 accepted lengthens again.
class FiniteStateLength {
 public:
  struct Options {
    std::int32_t start = 6;
    std::int32_t min = 1;
    std::int32_t max = 63;
  };
  explicit FiniteStateLength(const Options& options) : options_(options), gamma_(options.start) {}
  void begin_request() { gamma_ = options_.start; }
  [[nodiscard]] std::int32_t length() const { return gamma_; }
  std::int32_t next(const RoundCounts& counts);

 private:
  Options options_;
  std::int32_t gamma_;
};

/// A length that grows by two after a round that accepted its whole draft, and shrinks by one after any
/// other, from 1 to 63. Source: transformers' assisted generation, num_assistant_tokens_schedule "heuristic"
/// (kept between requests) and "heuristic_transient" (each request begins with `start`).
class HeuristicLength {
 public:
  struct Options {
    std::int32_t start = 6;
    bool is_transient = false;
  };
  explicit HeuristicLength(const Options& options) : options_(options), gamma_(options.start) {}
  void begin_request() {
    if (options_.is_transient) gamma_ = options_.start;
  }
  [[nodiscard]] std::int32_t length() const { return gamma_; }
  std::int32_t next(const RoundCounts& counts);
  /// Whether begin_request() restarts from `start`.
  [[nodiscard]] bool is_transient() const { return options_.is_transient; }

 private:
  Options options_;
  std::int32_t gamma_;
};

/// Any length rule.
class LengthRule {
  using Any = std::variant<FixedLength, FiniteStateLength, HeuristicLength>;

 public:
  template <typename Rule>
  requires std::is_constructible_v<Any, Rule> LengthRule(Rule rule)
      : rule_(std::move(rule)) {}  // NOLINT(google-explicit-constructor)

  void begin_request() {
    std::visit([](auto& rule) { rule.begin_request(); }, rule_);
  }
  [[nodiscard]] std::int32_t length() const {
    return std::visit([](const auto& rule) { return rule.length(); }, rule_);
  }
  std::int32_t next(const RoundCounts& counts) {
    return std::visit([&](auto& rule) { return rule.next(counts); }, rule_);
  }
  /// Whether a length depends on this request's rounds only.
  [[nodiscard]] bool starts_again() const {
    const auto* heuristic = std::get_if<HeuristicLength>(&rule_);
    return heuristic == nullptr || heuristic->is_transient();
  }

 private:
  Any rule_;
};

/// A constant threshold in every round.
class FixedThreshold {
 public:
  explicit FixedThreshold(double threshold) : threshold_(threshold) {}
  void begin_request() {}
  [[nodiscard]] double threshold() const { return threshold_; }
  double next(const RoundCounts& /*counts*/) { return threshold_; }

 private:
  double threshold_;
};

/// Draft & Verify's adaptive draft-exit threshold (Zhang et al. 2024, eqs. 2–4), after every round that
/// drafted:
///     AR ← β1·AR + (1 − β1)·AR_e,  AR_e = accepted / drafted
///     th' = th + ε if AR ≤ α, else th − ε
///     th ← β2·th + (1 − β2)·th'
class AdaptiveThreshold {
 public:
  enum class Rule : std::uint8_t {
    paper,  ///< The first AR of a request is its AR_e.
    code,  ///< Draft & Verify's code: AR starts at 0; "<"; th stays where the whole length was drafted and AR
           ///< ≥ α.
    del,   ///< DEL's baseline DV: AR_e is the request's so far, and AR itself while AR is 0; "<".
  };
  struct Options {
    Rule rule = Rule::paper;
    double start = 0.6;
    double target = 0.9;  ///< Target acceptance rate α.
    double epsilon = 0.01;
    double beta1 = 0.5;
    double beta2 = 0.9;
    /// Whether th, and del's AR, continue from request to request (as in the notebooks).
    bool carries = true;
  };
  explicit AdaptiveThreshold(const Options& options) : options_(options), threshold_(options.start) {}

  void begin_request();
  [[nodiscard]] double threshold() const { return threshold_; }
  double next(const RoundCounts& counts);

  [[nodiscard]] double acceptance_rate() const { return rate_; }  ///< Acceptance rate AR.
  [[nodiscard]] double target() const { return options_.target; }
  /// Whether begin_request() forgets everything.
  [[nodiscard]] bool starts_again() const { return !options_.carries; }

 private:
  [[nodiscard]] double moved(const RoundCounts& counts) const;

  Options options_;
  double threshold_;
  double rate_ = 0.0;
  bool has_rate_ = false;
  std::int64_t accepted_ = 0;  // in this request
  std::int64_t drafted_ = 0;
};

/// The threshold that would have separated correct from wrong draft tokens best so far. Source: transformers'
/// assisted generation (AssistedCandidateGenerator.update_candidate_strategy, with scikit-learn). It uses the
/// confidences of a request's accepted draft tokens and of each round's first rejected one, once there are
/// more than 5 and of both kinds. It takes the point of the ROC curve that minimises
///     cost = FPR + 3 · FNR
/// where a token counts as positive if its confidence is at least the threshold. Ties go to the highest
/// threshold. Each request begins with `start`, as each call of generate() does.
///
/// Transformers uses the probability of the drawn token, which is the best one's in greedy decoding.
class RocThreshold {
 public:
  explicit RocThreshold(double start) : start_(start), threshold_(start) {}

  void begin_request();
  [[nodiscard]] double threshold() const { return threshold_; }
  double next(const RoundCounts& counts);

  [[nodiscard]] std::size_t right() const { return right_; }  ///< Accepted tokens that it has seen.
  [[nodiscard]] std::size_t wrong() const { return seen_.size() - right_; }

 private:
  struct Seen {
    double confidence = 0.0;
    bool is_right = false;
  };
  [[nodiscard]] double best() const;

  double start_;
  double threshold_;
  std::vector<Seen> seen_;  // by falling confidence
  std::size_t right_ = 0;
};

/// Any threshold rule.
class ThresholdRule {
  using Any = std::variant<FixedThreshold, AdaptiveThreshold, RocThreshold>;

 public:
  template <typename Rule>
  requires std::is_constructible_v<Any, Rule> ThresholdRule(Rule rule)
      : rule_(std::move(rule)) {}  // NOLINT(google-explicit-constructor)

  void begin_request() {
    std::visit([](auto& rule) { rule.begin_request(); }, rule_);
  }
  [[nodiscard]] double threshold() const {
    return std::visit([](const auto& rule) { return rule.threshold(); }, rule_);
  }
  double next(const RoundCounts& counts) {
    return std::visit([&](auto& rule) { return rule.next(counts); }, rule_);
  }
  /// The adaptive rule; null if this is another one.
  [[nodiscard]] const AdaptiveThreshold* adaptive() const { return std::get_if<AdaptiveThreshold>(&rule_); }
  [[nodiscard]] const RocThreshold* roc() const { return std::get_if<RocThreshold>(&rule_); }
  /// Whether next() may change the threshold.
  [[nodiscard]] bool moves() const { return !std::holds_alternative<FixedThreshold>(rule_); }
  /// Whether it depends on the tokens drafted after a round's first rejected one.
  [[nodiscard]] bool goes_by_drafted() const { return adaptive() != nullptr; }
  /// Whether begin_request() forgets everything.
  [[nodiscard]] bool starts_again() const { return adaptive() == nullptr || adaptive()->starts_again(); }

 private:
  Any rule_;
};

/// The length rule of a strategy, whether a part of a mix or its own; nothing if it has no rule over counts
/// (DEL's).
[[nodiscard]] std::optional<LengthRule> length_rule(const StrategySpecification& strategy);
/// Widths of the steps of a strategy's tree; empty if it drafts chains.
[[nodiscard]] std::span<const BranchWidth> widths_of(const StrategySpecification& strategy);
/// The threshold rule of a strategy's stop; nothing if it has no stop, or one that is no rule over counts.
[[nodiscard]] std::optional<ThresholdRule> threshold_rule(const StrategySpecification& strategy);

}  // namespace draftscope::speculation
