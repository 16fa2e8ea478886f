// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// DEL (Entezari Zarch et al. 2025, §4 and the public code) as a policy. Its statistics count the text's
// positions up to and with the first where the exit in use was wrong, all of which the table holds. What it
// lacks: the last prompt positions, unless they were recorded (ShadowTable::prompt_cells) for a window of
// just that length, recordings' 32; confidences beyond millionths, which blurs thresholds; and, as published,
// after a choice of γ = 0, the positions of a draft behind its first wrong token. After the first and the
// last the policy is uncertain.

#include <cstdint>
#include <vector>

#include "replay/policy.h"

namespace draftscope::simulator {

/// Decayed statistics of one exit.
struct ExitStatistics {
  double matches = 0.0;                   ///< m
  double mismatches = 0.0;                ///< w
  double confidence_of_matches = 0.0;     ///< s⁺
  double confidence_of_mismatches = 0.0;  ///< s⁻
  [[nodiscard]] double acceptance() const { return matches / (matches + mismatches); }
  /// Halfway between the mean confidences of matches and mismatches; -1 while either was never seen.
  [[nodiscard]] double threshold() const;
};

class DelPolicy final : public Policy {
 public:
  enum class Mode : std::uint8_t {
    published,  ///< γ limits nothing but the first round; lengths below `most`; layers alone cost
    repaired,   ///< γ is honoured, 0 = a plain step; the head counts; statistics before the first round
  };
  /// Which of its decisions count: the parts of a mix.
  struct Parts {
    bool exit = true;
    bool length = true;
    bool threshold = true;
  };
  struct Options {
    Mode mode = Mode::repaired;
    std::int32_t most = 18;           ///< d_max
    double omega = 0.95;              ///< decay a round
    std::int32_t prompt_window = 32;  ///< last prompt positions that the first statistics see
    double head_in_layers = 0.0;      ///< weight bytes of the head in units of a layer's; counts if repaired
    Parts decides{};
  };
  explicit DelPolicy(const Options& options) : options_(options) {}

  void begin_request(const ShadowTable& table) override;
  void plan(const RoundState& state, PlannedRound& plan) override;
  void observe(const ObservedRound& round) override;
  [[nodiscard]] bool is_certain() const override { return is_certain_; }

  /// Of exits 1 … L − 1.
  [[nodiscard]] const std::vector<ExitStatistics>& statistics() const { return exits_; }

 private:
  void count(const std::vector<const ShadowCell*>& positions, std::int32_t n_layers);
  void choose(std::int32_t n_layers);

  Options options_;
  std::vector<ExitStatistics> exits_;
  std::vector<const ShadowCell*> prompt_;  ///< the window's rows of the table, until they are counted
  std::int32_t exit_ = 1;
  std::int32_t gamma_ = 1;
  bool is_first_round_ = true;
  bool is_certain_ = true;
};

}  // namespace draftscope::simulator
