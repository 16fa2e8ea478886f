// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rules for the speculation length γ, as values: next() takes the counts of a round and returns γ of the
// next.

#include <draftscope/speculation/rules/round_counts.h>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace draftscope::speculation {

/// The same length in every round.
class FixedLength {
 public:
  explicit FixedLength(std::int32_t gamma) : gamma_(gamma) {}
  void begin_request() {}
  [[nodiscard]] std::int32_t length() const { return gamma_; }
  std::int32_t next(const RoundCounts& /*counts*/) { return gamma_; }

 private:
  std::int32_t gamma_;
};

/// One longer after a round that accepted all that was planned, one shorter after any other; a draft cut
/// short by an end of sequence or the budget counts as one of those. From `start` again for each request.
/// Source: the FSM generator of DEL's code (Entezari Zarch et al. 2025), which has no upper bound and a lower
/// one of 0, where 0 of 0 accepted lengthens again.
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

/// Two longer after a round that accepted its whole draft, one shorter after any other, 1 to 63. Source:
/// transformers' assisted generation, num_assistant_tokens_schedule "heuristic" (kept between requests) and
/// "heuristic_transient" (from `start` again for each request).
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
  /// Whether begin_request() starts again.
  [[nodiscard]] bool is_transient() const { return options_.is_transient; }

 private:
  Options options_;
  std::int32_t gamma_;
};

/// Any of them.
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
  /// Whether a length follows from this request's rounds alone.
  [[nodiscard]] bool starts_again() const {
    const auto* heuristic = std::get_if<HeuristicLength>(&rule_);
    return heuristic == nullptr || heuristic->is_transient();
  }

 private:
  Any rule_;
};

}  // namespace draftscope::speculation
