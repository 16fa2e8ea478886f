// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Draft & Verify's offline search for the sublayers to skip (Zhang et al. 2024, §3.3) as a source of
// candidates. It runs as published, or after a ranking of single sublayers and the light sets derived from
// it.

#include <draftscope/engine/search.h>

#include <draftscope/engine/tuning/candidate_source.h>

namespace draftscope::engine {

struct SkipSetSearch {
  std::string base;  ///< strategy specification to which skip-attention and skip-mlp are added
  std::vector<speculation::SublayerMask> probes;
  std::int32_t trials = 0;  ///< number of trials, including light sets and probes but not the ranking
  std::int32_t prompts = 0;
  std::uint64_t seed = 1;
  ScoredBy scored_by = ScoredBy::decoded;
  /// Whether every sublayer is first skipped by itself and light_sets() precede the probes. Needs trials that
  /// report agreement.
  bool ranks_sublayers = false;
};

class SkipSetSource final : public CandidateSource {
 public:
  /// Makes a source. Fails as LayerSetSearch::create() does.
  [[nodiscard]] static Result<SkipSetSource> create(SkipSetSearch options, std::int32_t n_layers);

  std::optional<Proposed> next() override;
  Result<void> observe(const Trial& trial) override;
  const Trial* best(std::span<const Trial> trials) const override;
  std::int64_t prompts_in_all() const override;

 private:
  SkipSetSource(SkipSetSearch options, LayerSetSearch search, std::int32_t n_layers);
  [[nodiscard]] bool is_ranking() const { return agreements_.size() < singles_.size(); }
  [[nodiscard]] Result<void> add_probes(std::span<const speculation::SublayerMask> probes);

  SkipSetSearch options_;
  LayerSetSearch search_;
  /// Masks that skip one sublayer each; empty without a ranking.
  std::vector<speculation::SublayerMask> singles_;
  std::vector<double> agreements_;  ///< agreements of the single sublayers so far
  std::int32_t seen_ = 0;           ///< number of trials seen, without the ranking
};

/// Strategy specification `base` with the set added as skip-attention and skip-mlp.
[[nodiscard]] std::string with_skip_set(const std::string& base, const speculation::SublayerMask& set);

}  // namespace draftscope::engine
