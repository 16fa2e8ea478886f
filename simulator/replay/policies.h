// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The policies that recorded strategies follow, as parts and as mixes of them. They decide bit for bit as the
// engine's strategies of the same names do, from the same numbers.

#include <cstdint>
#include <memory>
#include <vector>

#include "replay/policy.h"

namespace draftscope::simulator {

class FixedExit final : public Policy {
 public:
  explicit FixedExit(std::int32_t exit) : exit_(exit) {}
  void plan(const RoundState& /*state*/, PlannedRound& plan) override { plan.exit = exit_; }

 private:
  std::int32_t exit_;
};

class FixedLength final : public Policy {
 public:
  explicit FixedLength(std::int32_t length) : length_(length) {}
  void plan(const RoundState& /*state*/, PlannedRound& plan) override { plan.length = length_; }

 private:
  std::int32_t length_;
};

/// One longer after a round that accepted all that was planned, one shorter after any other; at `least` 0,
/// nothing planned and nothing accepted lengthens again. From `start` for each request. Source: the FSM
/// generator of DEL's code (Entezari Zarch et al. 2025).
class FiniteStateLength final : public Policy {
 public:
  struct Options {
    std::int32_t start = 6;
    std::int32_t least = 1;
    std::int32_t most = 63;
  };
  explicit FiniteStateLength(const Options& options) : options_(options), length_(options.start) {}
  void begin_request(const ShadowTable& /*table*/) override { length_ = options_.start; }
  void plan(const RoundState& /*state*/, PlannedRound& plan) override { plan.length = length_; }
  void observe(const ObservedRound& round) override;

 private:
  Options options_;
  std::int32_t length_;
};

/// Two longer after a round that accepted its whole draft, one shorter after any other, 1 to 63. Source:
/// transformers, num_assistant_tokens_schedule "heuristic" and "heuristic_transient" (from `start` again for
/// each request).
class HeuristicLength final : public Policy {
 public:
  HeuristicLength(std::int32_t start, bool is_transient)
      : start_(start), is_transient_(is_transient), length_(start) {}
  void begin_request(const ShadowTable& table) override;
  void plan(const RoundState& /*state*/, PlannedRound& plan) override { plan.length = length_; }
  void observe(const ObservedRound& round) override;
  [[nodiscard]] bool is_certain() const override { return is_certain_; }

 private:
  std::int32_t start_;
  bool is_transient_;
  bool is_certain_ = true;
  std::int32_t length_;
};

class FixedThreshold final : public Policy {
 public:
  explicit FixedThreshold(double threshold) : threshold_(threshold) {}
  void plan(const RoundState& /*state*/, PlannedRound& plan) override { plan.threshold = threshold_; }

 private:
  double threshold_;
};

/// Draft & Verify's draft-exit threshold (Zhang et al. 2024, eqs. 2–4). It goes by how much was drafted, so
/// that it is uncertain after the first round of which the table can't tell.
class AdaptiveThreshold final : public Policy {
 public:
  enum class Rule : std::uint8_t { paper, code, del };  ///< as the engine's parameter `rule`
  struct Options {
    Rule rule = Rule::paper;
    double start = 0.6;
    double target = 0.9;  ///< α
    double epsilon = 0.01;
    double beta1 = 0.5;
    double beta2 = 0.9;
  };
  explicit AdaptiveThreshold(const Options& options) : options_(options), threshold_(options.start) {}
  void begin_request(const ShadowTable& table) override;
  void plan(const RoundState& /*state*/, PlannedRound& plan) override { plan.threshold = threshold_; }
  void observe(const ObservedRound& round) override;
  [[nodiscard]] bool is_certain() const override { return is_certain_; }

 private:
  [[nodiscard]] double moved(const ObservedRound& round) const;

  Options options_;
  double threshold_;
  double rate_ = 0.0;  // AR
  bool has_rate_ = false;
  bool is_certain_ = true;
  std::int64_t accepted_ = 0;  // in this request
  std::int64_t drafted_ = 0;
};

/// Each of `parts` decides its own; where two decide the same, the later one's word counts.
class MixedPolicy final : public Policy {
 public:
  explicit MixedPolicy(std::vector<std::unique_ptr<Policy>> parts) : parts_(std::move(parts)) {}
  void begin_request(const ShadowTable& table) override;
  void plan(const RoundState& state, PlannedRound& plan) override;
  void observe(const ObservedRound& round) override;
  [[nodiscard]] bool is_certain() const override;

 private:
  std::vector<std::unique_ptr<Policy>> parts_;
};

/// Decodes without drafts.
class NoDraft final : public Policy {
 public:
  void plan(const RoundState& /*state*/, PlannedRound& plan) override { plan = {}; }
};

}  // namespace draftscope::simulator
