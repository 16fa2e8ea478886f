// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Policies of recorded strategies, as parts and as mixes of them. They decide by the engine's rules
// (strategies/parts/rule.h), and also detect when a table no longer determines the input of a rule.

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rounds/replay/policy.h"
#include "strategies/parts/rule.h"

namespace draftscope::simulator {

class FixedExit final : public Policy {
 public:
  explicit FixedExit(std::int32_t exit) : exit_(exit) {}
  void plan(const RoundState& /*state*/, PlannedRound& plan) override { plan.exit = exit_; }

 private:
  std::int32_t exit_;
};

/// A length by a rule. It is uncertain once the outcomes that the table allows give different lengths.
class LengthPolicy final : public Policy {
 public:
  explicit LengthPolicy(const speculation::LengthRule& rule) : rule_(rule) {}
  void begin_request(const ShadowTable& table) override;
  void plan(const RoundState& /*state*/, PlannedRound& plan) override { plan.length = rule_.length(); }
  void observe(const ObservedRound& round) override;
  [[nodiscard]] bool is_certain() const override { return is_certain_; }

 private:
  speculation::LengthRule rule_;
  bool is_certain_ = true;
};

/// A threshold by a rule. An adaptive one depends on the number of draft tokens, so it is uncertain after the
/// first round that the table does not determine. One by confidences is uncertain after a round whose
/// rejected token is not in the table, and after a tree, whose spine may have left the text before.
class ThresholdPolicy final : public Policy {
 public:
  explicit ThresholdPolicy(const speculation::ThresholdRule& rule) : rule_(rule) {}
  void begin_request(const ShadowTable& table) override;
  void plan(const RoundState& /*state*/, PlannedRound& plan) override { plan.threshold = rule_.threshold(); }
  void observe(const ObservedRound& round) override;
  [[nodiscard]] bool is_certain() const override { return is_certain_; }

 private:
  [[nodiscard]] static std::size_t known_steps(const DraftOutcome& outcome);
  void list_confidences(const ObservedRound& round);

  speculation::ThresholdRule rule_;
  std::vector<double> confidences_;
  bool is_certain_ = true;
};

/// The widths of a tree's steps.
class TreePolicy final : public Policy {
 public:
  explicit TreePolicy(std::span<const speculation::BranchWidth> widths) : widths_(widths) {}
  void plan(const RoundState& /*state*/, PlannedRound& plan) override { plan.widths = widths_; }

 private:
  std::span<const speculation::BranchWidth> widths_;
};

/// Each of `parts` decides its fields; where two decide the same field, the later one wins.
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
