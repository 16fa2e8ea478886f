// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <memory>

#include "rounds/drafts/auxiliary_work.h"
#include "rounds/drafts/search_schedule.h"
#include "strategies/conflayers/rule.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

using speculation::ConfidenceSearches;
using speculation::StrategySpecification;

/// Passes of the window through all layers but the last.
class ConfidencePasses final : public AuxiliaryRule {
 public:
  ConfidencePasses(std::int32_t window, std::int32_t n_layers) : window_(window), n_layers_(n_layers) {}

  void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                   std::vector<PassCount>& counts) const override {
    passes.count({AuxiliaryPassKind::confidences, window_, n_layers_ - 1, n_layers_ - 1, false}, 1,
                 std::max(round.root_position + round.accepted + 1 - window_, 0), counts);
  }

 private:
  std::int32_t window_;
  std::int32_t n_layers_;
};

/// Assumes that every search finds a set that is tried.
class ConfidenceSearch final : public SearchRule {
 public:
  explicit ConfidenceSearch(const ConfidenceSearches::Options& options) : searches_(options) {}

  void begin_request() override { searches_.begin_request(); }

  bool follows(const traces::Round& round) override {
    const std::int32_t tried = searches_.least();
    const bool follows = searches_.follows(
        {.emitted = round.emitted, .accepted = round.accepted, .steps = round.tree_depth}, tried);
    if (follows) searches_.found(tried);
    return follows;
  }

 private:
  ConfidenceSearches searches_;
};

std::unique_ptr<AuxiliaryRule> conflayers_auxiliary(const StrategySpecification& mix,
                                                    const speculation::ModelShape& shape) {
  return std::make_unique<ConfidencePasses>(mix.integer("window"), shape.n_layers);
}

std::unique_ptr<SearchRule> conflayers_search(const StrategySpecification& mix, std::int32_t n_layers,
                                              std::int64_t /*max_searches*/) {
  return std::make_unique<ConfidenceSearch>(speculation::confidence_options(mix, n_layers));
}

SkippedSublayerCounts conflayers_skipped(const StrategySpecification& mix, std::int32_t n_layers) {
  const std::int32_t layers = ConfidenceSearches(speculation::confidence_options(mix, n_layers)).least();
  return {layers, layers};
}

}  // namespace

StrategyPredictions predict_of_conflayers() {
  return {.parts = {{.name = "conflayers",
                     .auxiliary = conflayers_auxiliary,
                     .search = conflayers_search,
                     .skipped = conflayers_skipped}}};
}

}  // namespace draftscope::simulator
