// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The policies that recorded strategies follow, as parts and as mixes of them. They decide by the engine's
// own rules (strategies/parts/rule.h), and know besides when a table no longer
// tells what a rule would hear.

#include <cstdint>
#include <memory>
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

/// A length by a rule. It is uncertain once the outcomes that the table leaves possible give other lengths.
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

/// A threshold by a rule. An adaptive one goes by how much was drafted, so that it is uncertain after the
/// first round of which the table can't tell; one by confidences, after one whose rejected token it lacks.
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
