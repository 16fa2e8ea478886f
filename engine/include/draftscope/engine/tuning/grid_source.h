// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every combination of exit, length and threshold, thinned out by successive halving, as a source of
// candidates.

#include <draftscope/engine/tuning/candidate_source.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::engine {

/// Successive halving over a list of settings: all are scored on a few prompts, the best third of them on
/// three times as many, and so on until the last rung scores the remaining ones on all. Hopeless settings
/// cost one short look each. Thread-safety: none.
///
/// Sources: Jamieson & Talwalkar 2016; Li et al. 2018 (Hyperband), η = 3.
class Halving {
 public:
  struct Scoring {
    std::size_t setting = 0;
    std::int32_t prompts = 0;
    friend bool operator==(const Scoring&, const Scoring&) = default;
  };

  /// A race of `settings` settings over up to `prompts` prompts in `rungs` rungs; all arguments ≥ 1. It has
  /// fewer rungs where there are too few prompts for as many; one rung scores every setting on all prompts.
  Halving(std::size_t settings, std::int32_t prompts, std::int32_t rungs);

  /// The setting to score next, and on how many prompts; the same until it is observed. None when all is
  /// done.
  [[nodiscard]] std::optional<Scoring> next() const;
  /// The score of what next() gives; higher is better.
  void observe(double score);

  /// The setting with the highest score of the rung with most prompts that has one; the earlier of equals.
  /// There is none before the first score.
  [[nodiscard]] std::optional<std::size_t> best() const;
  /// Σ prompts over all looks, past and to come.
  [[nodiscard]] std::int64_t prompts_in_all() const;

 private:
  struct Scored {
    std::size_t setting = 0;
    double score = 0.0;
  };
  [[nodiscard]] static std::size_t survivors(std::size_t settings);

  std::vector<std::int32_t> prompts_;  ///< prompts of each rung
  std::size_t rung_ = 0;
  std::vector<std::size_t> remaining_;  ///< settings of this rung that are still to come, in reverse order
  std::vector<Scored> scored_;          ///< scores of this rung
  std::size_t settings_;
  std::optional<std::size_t> best_;
};

class GridSource final : public CandidateSource {
 public:
  /// A race of at least one setting; see Halving for `prompts` and `rungs`.
  GridSource(std::vector<std::string> settings, std::int32_t prompts, std::int32_t rungs)
      : settings_(std::move(settings)), halving_(settings_.size(), prompts, rungs) {}

  std::optional<Proposed> next() override;
  Result<void> observe(const Trial& trial) override;
  const Trial* best(std::span<const Trial> trials) const override;
  std::int64_t prompts_in_all() const override { return halving_.prompts_in_all(); }

 private:
  std::vector<std::string> settings_;
  Halving halving_;
};

}  // namespace draftscope::engine
