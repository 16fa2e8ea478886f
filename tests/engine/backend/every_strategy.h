// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Specifications of every strategy in the engine's catalogue, with what each needs to decode a small model.
// The parts of `mix` are taken one after another.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/strategy.h>

#include <filesystem>
#include <string>
#include <vector>

namespace draftscope::engine::test {

/// Prepares draft weights in every format that the backend supports. Returns the names of these formats.
[[nodiscard]] std::vector<std::string> held_weights(Backend& backend);

/// Every second name, beginning with the first or the second by turn, so that two turns have them all.
[[nodiscard]] std::vector<std::string> half_of_turn(const std::vector<std::string>& names, int turn);

/// Owns the file that `tuned` reads.
class EveryStrategy {
 public:
  /// Needs a `shape` of at least three layers. Drafts use `weights` besides the model's own.
  EveryStrategy(const speculation::ModelShape& shape, std::vector<std::string> weights);
  EveryStrategy(const EveryStrategy&) = delete;
  EveryStrategy& operator=(const EveryStrategy&) = delete;
  ~EveryStrategy();

  [[nodiscard]] const std::vector<std::string>& specifications() const { return specifications_; }

 private:
  void add(const speculation::StrategyRow& strategy);
  void add_choices(const speculation::StrategyRow& strategy, const std::string& specification);
  void add_mixes();
  void write_policy_for(const speculation::ModelShape& shape) const;

  std::filesystem::path policy_;
  std::vector<std::string> weights_;
  std::vector<std::string> specifications_;
};

}  // namespace draftscope::engine::test
