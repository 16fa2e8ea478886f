// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A policy plans the rounds of a replay from what a strategy would know at that moment, and observes their
// outcomes. A policy that decides only a part (an exit, a length, a threshold) leaves the other fields
// unchanged. So parts can be mixed as the engine's strategies mix theirs (policy.h).

#include <draftscope/speculation/branch_width.h>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rounds/replay/shadow_table.h"
#include "strategies/parts/rule.h"

namespace draftscope::simulator {

/// Everything that is known before a round.
struct RoundState {
  const ShadowTable* table = nullptr;  ///< Table of the request; a plan reads the text up to the root.
  std::int32_t root_position = 0;      ///< Position of the last token known.
  std::int32_t remaining = 0;          ///< Tokens that may still be emitted.
};

struct PlannedRound {
  std::int32_t exit = 0;    ///< E; 0 = no draft, a step of the target.
  std::int32_t length = 0;  ///< γ, before the cut at budget, context and width.
  double threshold =
      -1.0;  ///< Draft-exit threshold: a draft token of lower confidence is the last; -1 = none.
  /// Widths of the draft's steps, which live as long as the program; empty = a chain.
  std::span<const speculation::BranchWidth> widths;
};

/// The end of a draft.
struct DraftOutcome {
  std::int32_t drafted = 0;   ///< Draft tokens.
  std::int32_t accepted = 0;  ///< Accepted tokens, before a cut at the end of the text.
  std::int32_t siblings = 0;  ///< Draft tokens of a tree beside the first of their step.

  [[nodiscard]] std::int32_t steps() const { return drafted - siblings; }
  friend bool operator==(const DraftOutcome&, const DraftOutcome&) = default;
};

struct ObservedRound {
  RoundState state;
  PlannedRound plan;
  DraftOutcome outcome;  ///< Outcome that the policy must use.
  /// Outcomes that the table allows, with the fewest and the most draft tokens; both equal `outcome` where it
  /// determines everything.
  DraftOutcome least, most;
  std::int32_t planned_rows = 0;  ///< Rows of the longest draft that the plan allows, and one; 0 = unknown.
};

class Policy {
 public:
  virtual ~Policy() = default;
  /// Called before a request's first round. `table` outlives the request's replay.
  virtual void begin_request(const ShadowTable& /*table*/) {}
  /// Sets the fields that this policy decides.
  virtual void plan(const RoundState& state, PlannedRound& plan) = 0;
  virtual void observe(const ObservedRound& /*round*/) {}
  /// Whether the plan of the next round equals that of a recording; false once the policy has observed
  /// something that the table does not determine.
  [[nodiscard]] virtual bool is_certain() const { return true; }
};

// Policies of recorded strategies, as parts and as mixes of them. They decide by the engine's rules
// (strategies/parts/rule.h), and also detect when a table no longer determines the input of a rule.

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
