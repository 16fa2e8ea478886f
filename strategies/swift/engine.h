// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SWIFT's layer sets (Xia et al., ICLR 2025, §4.1). During decoding it scores one candidate set per round by
// its matchness, the share of the latest output tokens that the set predicts correctly, and drafts with the
// best. The search continues from request to request and ends for good: then the phase is "plain" (page.md).

#include <draftscope/engine/search.h>
#include <memory>
#include <optional>
#include <string>

#include "strategies/engine_parts.h"

namespace draftscope::engine {

class SwiftMask final : public MaskChoice, public Learner {
 public:
  struct Options {
    std::int32_t window = 32;   ///< Tokens on which a candidate is scored.
    std::int32_t every = 1;     ///< Rounds from one candidate to the next.
    bool scores_first = false;  ///< Whether it scores on the output's first tokens, as the public code does,
                                ///< rather than its latest.
  };
  SwiftMask(LayerSetSearch search, const Options& options);

  const speculation::SublayerMask* mask(const RoundView& /*round*/) override { return &mask_; }
  std::string_view origin() const override { return "swift"; }
  void begin_request(const RequestView& request) override;
  void observe(const RoundView& round, const RoundOutcome& outcome, DecisionLog* log) override;
  bool wants_to_optimise() const override;
  Result<void> optimise(const RoundView& view, Probe& probe, DecisionLog* log) override;

 private:
  LayerSetSearch search_;
  Options options_;
  speculation::SublayerMask mask_;
  Candidate candidate_;
  std::int32_t prompt_size_ = 0;
  std::int32_t rounds_ = 0;   // rounds of this request
  std::int64_t emitted_ = 0;  // tokens of this request
  std::vector<Row> rows_;
  Outputs outputs_;
  std::string hits_;
};

/// Share of text[from + 1 … from + window] that a draft under `mask` predicts from the tokens before, all of
/// them from the text, in passes of at most 64. A pass reads its own K/V, and the target's before it. Logits
/// that are no distribution predict nothing. `hits` is set to [window], 1 for each that was predicted, else
/// 0. Returns nothing if the probe has no room.
[[nodiscard]] Result<std::optional<double>> matchness(Probe& probe, const speculation::SublayerMask& mask,
                                                      std::span<const std::int32_t> text, std::int32_t from,
                                                      std::int32_t window, std::vector<Row>& rows,
                                                      Outputs& outputs, std::string& hits);

}  // namespace draftscope::engine
