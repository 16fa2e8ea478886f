// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every combination of exit, length and threshold, thinned out by successive halving, as a source of
// candidates.

#include <draftscope/engine/tuning/candidate_source.h>
#include <draftscope/engine/tuning/halving.h>
#include <vector>

namespace draftscope::engine {

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
