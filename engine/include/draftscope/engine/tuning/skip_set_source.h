// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Draft & Verify's offline search for the sublayers to skip (Zhang et al. 2024, §3.3) as a source of
// candidates.

#include <draftscope/engine/search.h>

#include <draftscope/engine/tuning/candidate_source.h>

namespace draftscope::engine {

struct SkipSetSearch {
  std::string base;  ///< a strategy with skip-attention and skip-mlp to be added
  std::vector<speculation::SublayerMask> probes;
  std::int32_t trials = 0;  ///< probes included
  std::int32_t prompts = 0;
  std::uint64_t seed = 1;
};

class SkipSetSource final : public CandidateSource {
 public:
  /// Fails as LayerSetSearch::create() does.
  [[nodiscard]] static Result<SkipSetSource> create(SkipSetSearch options, std::int32_t n_layers);

  std::optional<Proposed> next() override;
  Result<void> observe(const Trial& trial) override;
  const Trial* best(std::span<const Trial> trials) const override;
  std::int64_t prompts_in_all() const override;

 private:
  SkipSetSource(SkipSetSearch options, LayerSetSearch search)
      : options_(std::move(options)), search_(std::move(search)) {}

  SkipSetSearch options_;
  LayerSetSearch search_;
  std::int32_t seen_ = 0;
};

/// Strategy specification `base` with the set written out as skip-attention and skip-mlp.
[[nodiscard]] std::string with_skip_set(const std::string& base, const speculation::SublayerMask& set);

}  // namespace draftscope::engine
