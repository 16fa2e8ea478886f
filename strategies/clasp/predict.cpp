// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <optional>

#include "rounds/drafts/auxiliary_work.h"
#include "rounds/searches/replayed_search.h"
#include "rounds/searches/search_schedule.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

using speculation::StrategySpecification;

/// Passes of each layer over the states from which the number of skipped layers can still be reached.
class ClaspLayers final : public AuxiliaryRule {
 public:
  ClaspLayers(const StrategySpecification& mix, const speculation::ModelShape& shape)
      : skip_(mix.integer("skip")), n_layers_(shape.n_layers), carries_set_(mix.text("carry-set") == "yes") {}

  void after_prefill(std::int32_t prompt_tokens, bool is_first, AuxiliaryPasses& passes,
                     std::vector<PassCount>& counts) const override {
    if (!is_first && carries_set_) return;
    passes.count({AuxiliaryPassKind::anchor, 1, n_layers_, n_layers_, false}, 1, prompt_tokens - 1, counts);
    layers(prompt_tokens - 1, passes, counts);
  }

  void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                   std::vector<PassCount>& counts) const override {
    layers(round.root_position + round.accepted, passes, counts);
  }

 private:
  void layers(std::int64_t position, AuxiliaryPasses& passes, std::vector<PassCount>& counts) const {
    for (std::int32_t layer = 1; layer <= n_layers_; ++layer) {
      const std::int32_t min = std::max(1, skip_ - (n_layers_ - layer));
      const std::int32_t max = std::min(layer - 1, skip_);
      if (max >= min)
        passes.count({AuxiliaryPassKind::layer, max - min + 1, 1, 1, false}, 1, position, counts);
    }
  }

  std::int32_t skip_;
  std::int32_t n_layers_;
  bool carries_set_;  // whether a request begins with the set of the one before
};

class ClaspSearch final : public SearchRule {
 public:
  ClaspSearch(const StrategySpecification& mix, std::int32_t /*n_layers*/, std::int64_t /*max_searches*/)
      : interval_(mix.integer("interval")),
        counts_tokens_(mix.text("unit") == "tokens"),
        carries_(mix.text("carry-set") == "yes") {}

  void begin_request() override {
    if (!carries_) since_ = 0;
  }

  bool follows(const traces::Round& round) override {
    // The search is planned before the round, which stores the states that it begins with.
    const bool is_due = since_ + 1 >= interval_;
    since_ += counts_tokens_ ? round.emitted : 1;
    if (is_due) since_ = 0;
    return is_due;
  }

 private:
  std::int32_t interval_;  // tokens or verifications
  bool counts_tokens_;
  bool carries_;
  std::int32_t since_ = 0;  // tokens or verifications since the last search
};

SkippedSublayerCounts clasp_skipped(const StrategySpecification& mix, std::int32_t /*n_layers*/) {
  return {mix.integer("skip"), mix.integer("skip")};
}

/// A set that was carried on is as old as another text; how it agrees is not to be learnt from its age.
std::optional<ReplayedSearch> clasp_replay(const RecordedSearch& recorded,
                                           const StrategySpecification& asked) {
  if (!searches_differ_only_in(asked, recorded.strategy, {"interval", "unit"}) ||
      asked.text("carry-set") == "yes")
    return std::nullopt;
  return replayed_schedule(recorded, asked);
}

}  // namespace

StrategyPredictions predict_of_clasp() {
  return {.parts = {{.name = "clasp",
                     .auxiliary = auxiliary_of<ClaspLayers>,
                     .search = search_of<ClaspSearch>,
                     .replay_search = clasp_replay,
                     .skipped = clasp_skipped}}};
}

}  // namespace draftscope::simulator
