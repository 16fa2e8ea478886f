// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "rounds/drafts/auxiliary_work.h"
#include "rounds/searches/replayed_search.h"
#include "rounds/searches/search_schedule.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

using speculation::StrategySpecification;

/// Weights of a knapsack's sublayers, assuming that a step takes as long as reading their weights, whereas
/// the engine measures times.
std::pair<std::int32_t, std::int32_t> sublayer_weights(const speculation::ModelShape& shape) {
  const double attention = 2.0 * shape.d_model * (shape.q_width() + shape.kv_width());
  const double mlp = 1.0 * shape.mlp_matrices() * shape.d_model * shape.d_ff;
  const auto times_heavier = [](double by) {
    constexpr double heaviest = 5.0;
    return static_cast<std::int32_t>(std::lround(std::clamp(by, 1.0, heaviest)));
  };
  return {times_heavier(attention / mlp), times_heavier(mlp / attention)};
}

class Knapsack final : public AuxiliaryRule {
 public:
  Knapsack(const StrategySpecification& mix, const speculation::ModelShape& shape)
      : window_(mix.integer("window")), n_layers_(shape.n_layers) {
    std::tie(attention_weight_, mlp_weight_) = sublayer_weights(shape);
  }

  void after_prefill(std::int32_t prompt_tokens, bool /*is_first*/, AuxiliaryPasses& passes,
                     std::vector<PassCount>& counts) const override {
    search(prompt_tokens, passes, counts);
  }

  void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                   std::vector<PassCount>& counts) const override {
    search(round.root_position + round.accepted + 1, passes, counts);
  }

 private:
  /// Adds a search with so many tokens in the cache. It assumes that every possible saving is reached, though
  /// a search abandons states that are too unlike the target's.
  void search(std::int64_t committed, AuxiliaryPasses& passes, std::vector<PassCount>& counts) const {
    const auto tokens = static_cast<std::int32_t>(std::min<std::int64_t>(window_, committed));
    if (tokens < 1) return;
    const std::int64_t context = committed - tokens;
    passes.count({AuxiliaryPassKind::knapsack, 1, n_layers_, 0, false}, 2, committed - 1, counts);
    passes.count({AuxiliaryPassKind::knapsack, 1, 0, n_layers_, false}, 2, committed - 1, counts);
    passes.count({AuxiliaryPassKind::knapsack, tokens, 1, 1, false}, 1, context, counts);
    const std::int32_t budget = (attention_weight_ + mlp_weight_) * n_layers_ / 2;
    std::vector<bool> reached(static_cast<std::size_t>(budget) + 1);
    reached[0] = true;
    const auto branches = [&] { return static_cast<std::int32_t>(std::ranges::count(reached, true)); };
    for (std::int32_t sublayer = 2; sublayer < 2 * n_layers_; ++sublayer) {
      const bool is_attention = sublayer % 2 == 0;
      passes.count({AuxiliaryPassKind::knapsack, branches() * tokens, is_attention ? 1 : 0,
                    is_attention ? 0 : 1, false},
                   1, context, counts);
      if (sublayer / 2 == n_layers_ - 1) continue;  // the last layer always runs
      const auto weight = static_cast<std::size_t>(is_attention ? attention_weight_ : mlp_weight_);
      for (std::size_t saved = reached.size(); saved-- > weight;)
        if (reached[saved - weight]) reached[saved] = true;
    }
    passes.count({AuxiliaryPassKind::knapsack, branches() * tokens, 0, 0, true}, 1, 0, counts);
  }

  std::int32_t window_;
  std::int32_t n_layers_;
  std::int32_t attention_weight_ = 1;  // weight of a sublayer in the knapsack
  std::int32_t mlp_weight_ = 1;
};

class KnapspecSearch final : public SearchRule {
 public:
  KnapspecSearch(const StrategySpecification& mix, std::int32_t /*n_layers*/, std::int64_t /*max_searches*/)
      : interval_(mix.integer("interval")) {}
  /// Restarts the count, as the search after the prefill does.
  void begin_request() override { rounds_ = 0; }
  bool follows(const traces::Round& /*round*/) override { return ++rounds_ % interval_ == 0; }

 private:
  std::int32_t interval_;  // rounds
  std::int32_t rounds_ = 0;
};

std::optional<ReplayedSearch> knapspec_replay(const RecordedSearch& recorded,
                                              const StrategySpecification& asked) {
  if (!searches_differ_only_in(asked, recorded.strategy, {"interval"})) return std::nullopt;
  return replayed_schedule(recorded, asked);
}

}  // namespace

StrategyPredictions predict_of_knapspec() {
  return {.parts = {{.name = "knapspec",
                     .auxiliary = auxiliary_of<Knapsack>,
                     .search = search_of<KnapspecSearch>,
                     .replay_search = knapspec_replay}}};
}

}  // namespace draftscope::simulator
