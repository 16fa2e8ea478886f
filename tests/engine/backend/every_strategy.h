// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Specifications of every strategy that the engine lists, whatever it will list: what each needs to decode a
// small model, and the parts of `mix` one after another.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/strategy.h>

#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::engine::test {

/// Names of the formats that the backend can hold for drafts; it holds them from then on.
[[nodiscard]] std::vector<std::string> held_weights(Backend& backend);

/// Half of them, the other half in the next turn: two models of a test have them all.
[[nodiscard]] std::vector<std::string> half_of_turn(const std::vector<std::string>& names, int turn);

/// Owns the file that `tuned` reads.
class EveryStrategy {
 public:
  /// For models of `shape`, of at least three layers. Drafts take `weights` beside the model's own.
  EveryStrategy(const speculation::ModelShape& shape, std::vector<std::string> weights);
  EveryStrategy(const EveryStrategy&) = delete;
  EveryStrategy& operator=(const EveryStrategy&) = delete;
  ~EveryStrategy();

  [[nodiscard]] const std::vector<std::string>& specifications() const { return specifications_; }

 private:
  void add(const speculation::StrategyRow& strategy);
  void add_choices(const speculation::StrategyRow& strategy, const std::string& specification);
  void add_mixes(const speculation::StrategyRow& mix);
  void write_policy_for(const speculation::ModelShape& shape) const;

  std::filesystem::path policy_;
  std::vector<std::string> weights_;
  std::vector<std::string> specifications_;
};

}  // namespace draftscope::engine::test
