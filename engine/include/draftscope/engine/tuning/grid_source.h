// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A source of candidates: every combination of exit, length and threshold, reduced by successive halving.

#include <draftscope/engine/tuning/candidate_source.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace draftscope::engine {

/// Successive halving over a list of settings. All are scored on a few prompts, the best third of them on
/// three times as many, and so on until the last rung scores the remaining ones on all. Poor settings cost
/// one short measurement each. Thread-safety: none.
///
/// Sources: Jamieson & Talwalkar 2016; Li et al. 2018 (Hyperband), η = 3.
class Halving {
 public:
  struct Scoring {
    std::size_t setting = 0;
    std::int32_t prompts = 0;
    friend bool operator==(const Scoring&, const Scoring&) = default;
  };

  /// Prepares a race of `settings` settings over up to `prompts` prompts in `rungs` rungs; all arguments ≥ 1.
  /// Too few prompts for that many rungs give fewer rungs; a single rung scores every setting on all prompts.
  Halving(std::size_t settings, std::int32_t prompts, std::int32_t rungs);

  /// The setting to score next and its number of prompts; the same until it is observed. None when the race
  /// is finished.
  [[nodiscard]] std::optional<Scoring> next() const;
  /// Takes the score of the setting that next() returns; higher is better.
  void observe(double score);

  /// The setting with the highest score in the latest rung that has a score; ties go to the earlier setting.
  /// None before the first score.
  [[nodiscard]] std::optional<std::size_t> best() const;
  /// Sum of prompts over all measurements, past and future.
  [[nodiscard]] std::int64_t prompts_in_all() const;

 private:
  struct Scored {
    std::size_t setting = 0;
    double score = 0.0;
  };
  [[nodiscard]] static std::size_t survivors(std::size_t settings);

  std::vector<std::int32_t> prompts_;  ///< prompts of each rung
  std::size_t rung_ = 0;
  std::vector<std::size_t> remaining_;  ///< settings of this rung still to be scored, in reverse order
  std::vector<Scored> scored_;          ///< scores of this rung
  std::size_t settings_;
  std::optional<std::size_t> best_;
};

class GridSource final : public CandidateSource {
 public:
  /// Prepares a race of at least one setting; see Halving for `prompts` and `rungs`.
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
