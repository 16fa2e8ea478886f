// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <memory>

#include "rounds/drafts/auxiliary_work.h"
#include "rounds/drafts/search_schedule.h"
#include "strategies/predict.h"
#include "strategies/swift/rule.h"

namespace draftscope::simulator {

namespace {

using speculation::StrategySpecification;

/// Half of the sublayers that a candidate skips are attention sublayers, and an odd one is an MLP; its search
/// decides which they are.
SkippedSublayerCounts swift_skipped(const StrategySpecification& mix, std::int32_t n_layers) {
  const std::int32_t skipped = speculation::swift_skipped_sublayers(n_layers, mix.number("ratio"));
  return {skipped / 2, skipped - skipped / 2};
}

/// Passes of a candidate over the window.
class SwiftCandidates final : public AuxiliaryRule {
 public:
  SwiftCandidates(const StrategySpecification& mix, std::int32_t n_layers)
      : window_(mix.integer("window")),
        scores_first_(mix.text("scored-on") == "first"),
        n_layers_(n_layers),
        skipped_(swift_skipped(mix, n_layers)) {}

  void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                   std::vector<PassCount>& counts) const override {
    const std::int32_t from =
        scores_first_ ? round.prompt_tokens : std::max(round.root_position + round.accepted + 1 - window_, 0);
    for (std::int32_t row = 0; row < window_; row += speculation::swift_pass_rows)
      passes.count({AuxiliaryPassKind::candidate, std::min(window_ - row, speculation::swift_pass_rows),
                    n_layers_ - skipped_.attention, n_layers_ - skipped_.mlp, true},
                   1, from + row, counts);
  }

 private:
  std::int32_t window_;
  bool scores_first_;  // whether it scores on the output's first tokens, rather than the latest
  std::int32_t n_layers_;
  SkippedSublayerCounts skipped_;
};

class SwiftSearch final : public SearchRule {
 public:
  SwiftSearch(const StrategySpecification& mix, std::int64_t max_searches)
      : interval_(mix.integer("every")), window_(mix.integer("window")) {
    const std::int64_t max = mix.integer("max-iterations");
    max_searches_ = max_searches < 0 ? max : std::min(max_searches, max);
  }

  void begin_request() override {
    rounds_ = 0;
    emitted_ = 1;
  }

  bool follows(const traces::Round& round) override {
    ++rounds_;
    emitted_ += round.emitted;
    if (searches_ >= max_searches_ || rounds_ % interval_ != 0 || emitted_ <= window_ + 1) return false;
    ++searches_;
    return true;
  }

 private:
  std::int32_t interval_;  // rounds
  std::int32_t window_;    // tokens that must have been emitted before the first candidate
  std::int64_t max_searches_ = 0;
  std::int64_t searches_ = 0;
  std::int32_t rounds_ = 0;   // rounds of the request
  std::int32_t emitted_ = 0;  // tokens of the request, including the prefill's
};

std::unique_ptr<AuxiliaryRule> swift_auxiliary(const StrategySpecification& mix,
                                               const speculation::ModelShape& shape) {
  return std::make_unique<SwiftCandidates>(mix, shape.n_layers);
}

std::unique_ptr<SearchRule> swift_search(const StrategySpecification& mix, std::int32_t /*n_layers*/,
                                         std::int64_t max_searches) {
  return std::make_unique<SwiftSearch>(mix, max_searches);
}

}  // namespace

StrategyPredictions predict_of_swift() {
  return {
      .parts = {
          {.name = "swift", .auxiliary = swift_auxiliary, .search = swift_search, .skipped = swift_skipped}}};
}

}  // namespace draftscope::simulator
