// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// DEL's rule (draftscope/speculation/rules/del_rule.h) as a policy. Its statistics count the text's positions
// up to and with the first where the exit in use was wrong, all of which the table holds. What it
// lacks: the last prompt positions, unless they were recorded (ShadowTable::prompt_cells) for a window of
// just that length, recordings' 32; confidences beyond millionths, which blurs thresholds; and, as the public
// code has it, after a choice of γ = 0, the positions of a draft behind its first wrong token. After the
// first and the last the policy is uncertain.

#include <draftscope/speculation/rules/del_rule.h>
#include <cstdint>
#include <vector>

#include "rounds/replay/policy.h"

namespace draftscope::simulator {

class DelPolicy final : public Policy {
 public:
  /// Decisions that count: the parts of a mix that are DEL's.
  struct Parts {
    bool exit = true;
    bool length = true;
    bool threshold = true;
  };
  struct Options {
    speculation::DelRule::Options rule;
    double head_in_layers = 0.0;  ///< weight bytes of the head in units of a layer's; counts if repaired
    Parts decides{};
  };
  explicit DelPolicy(const Options& options) : options_(options), rule_({}, options.rule) {}

  void begin_request(const ShadowTable& table) override;
  void plan(const RoundState& state, PlannedRound& plan) override;
  void observe(const ObservedRound& round) override;
  [[nodiscard]] bool is_certain() const override { return is_certain_; }

 private:
  void learn(const std::vector<const ShadowCell*>& positions, std::int32_t n_layers);

  Options options_;
  speculation::DelRule rule_;
  std::vector<const ShadowCell*> prompt_;  ///< the window's rows of the table, until they are counted
  bool is_certain_ = true;
};

}  // namespace draftscope::simulator
