// SPDX-License-Identifier: GPL-3.0-or-later
// DEL's rule (rule.h) as a policy. Its statistics count the text's positions up to the first rejected token,
// all of which the table has. The table lacks three things. First, the last
// prompt positions, unless they were recorded (ShadowTable::prompt_cells) for a window of exactly that
// length, which is 32 in recordings. Second, confidences beyond millionths, which blurs thresholds. Third,
// with the public code and after a choice of γ = 0, the positions of a draft after its first rejected token.
// After the first and the third the policy is uncertain.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "rounds/drafts/auxiliary_work.h"
#include "rounds/replay/policy.h"
#include "rounds/replay/policy_choice.h"
#include "strategies/del/rule.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

class DelPolicy final : public Policy {
 public:
  /// Which decisions count: the parts of a mix that belong to DEL.
  struct Parts {
    bool exit = true;
    bool length = true;
    bool threshold = true;
  };
  struct Options {
    speculation::DelRule::Options rule;
    double head_in_layers = 0.0;  ///< Weight bytes of the head relative to a layer's; used only if repaired.
    Parts decides{};
  };
  explicit DelPolicy(const Options& options) : options_(options), rule_({}, options.rule) {}

  void begin_request(const ShadowTable& table) override;
  void plan(const RoundState& state, PlannedRound& plan) override;
  void observe(const ObservedRound& round) override;
  [[nodiscard]] bool is_certain() const override { return is_certain_; }

 private:
  void learn(const std::vector<const ShadowCell*>& positions, std::int32_t n_layers);

  Options options_;
  speculation::DelRule rule_;
  std::vector<const ShadowCell*> prompt_;  ///< The window's rows of the table, until they are counted.
  bool is_certain_ = true;
};

void DelPolicy::begin_request(const ShadowTable& table) {
  rule_ = speculation::DelRule({table.n_layers, options_.head_in_layers}, options_.rule);
  prompt_.clear();
  const std::int32_t window = std::min(options_.rule.prompt_window, table.prompt_tokens);
  // A window of another length has other bits, since the positions before it have the prefill's keys and
  // values.
  is_certain_ = window == 0 || window == table.prompt_positions();
  if (window > table.prompt_positions()) return;
  const auto layers = static_cast<std::size_t>(table.n_layers);
  for (std::int32_t i = table.prompt_positions() - window; i < table.prompt_positions(); ++i)
    prompt_.push_back(table.prompt_cells.data() + static_cast<std::size_t>(i) * layers);
  if (!rule_.learns_before_first_round() || prompt_.empty()) return;
  learn(prompt_, table.n_layers);
  prompt_.clear();
}

void DelPolicy::plan(const RoundState& /*state*/, PlannedRound& plan) {
  if (rule_.statistics().empty()) return;
  if (options_.decides.exit) plan.exit = rule_.rests() ? 0 : rule_.exit();
  if (options_.decides.length) plan.length = rule_.length();
  if (options_.decides.threshold) plan.threshold = rule_.threshold();
}

/// Observes a round. Its positions are the predictions of the root and of each draft token for the next
/// token. They count up to the first rejected token; of a token tree those of the accepted path count.
void DelPolicy::observe(const ObservedRound& round) {
  const ShadowTable& table = *round.state.table;
  const bool is_chain = round.outcome.siblings == 0;
  const bool all_count = is_chain && rule_.options().exits_draft && rule_.counts_all();
  const std::int32_t rows = (all_count ? round.outcome.steps() : round.outcome.accepted) + 1;
  const auto row_at = [&](std::int32_t position) -> const ShadowCell* {
    if (position < table.end()) return &table.cell(position, 1);
    return position == table.end() && !table.end_cells.empty() ? table.end_cells.data() : nullptr;
  };
  std::vector<const ShadowCell*> counted = std::move(prompt_);
  prompt_.clear();
  for (std::int32_t i = 0; i < rows; ++i) {
    // After the first rejected token the round's text differs from the table's.
    if (i > round.outcome.accepted) {
      is_certain_ = false;
      break;
    }
    const ShadowCell* row = row_at(round.state.root_position + 1 + i);
    if (row == nullptr) {
      is_certain_ = false;
      break;
    }
    counted.push_back(row);
  }
  if (all_count && !(round.least == round.most)) is_certain_ = false;
  learn(counted, table.n_layers);
}

void DelPolicy::learn(const std::vector<const ShadowCell*>& positions, std::int32_t n_layers) {
  const auto target = static_cast<std::size_t>(n_layers - 1);
  rule_.learn(static_cast<std::int32_t>(positions.size()),
              [&](std::int32_t exit, std::int32_t position) -> speculation::ShadowToken {
                const ShadowCell* row = positions[static_cast<std::size_t>(position)];
                const ShadowCell& cell = row[static_cast<std::size_t>(exit - 1)];
                return {cell.token == row[target].token, static_cast<double>(cell.probability)};
              });
}

using speculation::PartKind;
using speculation::StrategySpecification;

/// The heads of the exits that may be chosen, on each of the positions that count.
class DelHeads final : public AuxiliaryRule {
 public:
  DelHeads(const StrategySpecification& mix, const speculation::ModelShape& shape)
      : DelHeads(speculation::del_options(mix), shape.n_layers) {}
  DelHeads(const speculation::DelRule::Options& options, std::int32_t n_layers)
      : prompt_window_(options.prompt_window),
        reads_prompt_at_once_(options.mode != speculation::DelRule::Mode::code),
        heads_(options.exits.empty() ? n_layers - 1 : static_cast<std::int32_t>(options.exits.size())),
        n_layers_(n_layers) {}

  void after_prefill(std::int32_t prompt_tokens, bool /*is_first*/, AuxiliaryPasses& passes,
                     std::vector<PassCount>& counts) const override {
    const std::int32_t window = std::min(prompt_window_, prompt_tokens);
    if (window <= 0) return;
    passes.count({AuxiliaryPassKind::window, window, n_layers_, n_layers_, true}, 1, prompt_tokens - window,
                 counts);
    if (reads_prompt_at_once_) heads(window, passes, counts);
  }

  void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                   std::vector<PassCount>& counts) const override {
    const bool reads_prompt = round.index == 0 && !reads_prompt_at_once_;
    const std::int32_t window = reads_prompt ? std::min(prompt_window_, round.prompt_tokens) : 0;
    heads(round.accepted + 1 + window, passes, counts);
  }

 private:
  void heads(std::int32_t positions, AuxiliaryPasses& passes, std::vector<PassCount>& counts) const {
    if (heads_ > 0) passes.count({AuxiliaryPassKind::heads, heads_ * positions, 0, 0, true}, 1, 0, counts);
  }

  std::int32_t prompt_window_;
  bool reads_prompt_at_once_;  // otherwise with the first round, as the public code does
  std::int32_t heads_;         // number of exits that may be chosen
  std::int32_t n_layers_;
};

std::unique_ptr<Policy> del_policy(const StrategySpecification& mix, const ReplayModel& model) {
  const auto is_del = [&](PartKind kind) { return mix.part(kind) == "del"; };
  return std::make_unique<DelPolicy>(DelPolicy::Options{
      .rule = speculation::del_options(mix),
      .head_in_layers = model.head_in_layers,
      .decides = {is_del(PartKind::mask), is_del(PartKind::length), is_del(PartKind::stop)}});
}

}  // namespace

StrategyPredictions predict_of_del() {
  StrategyPredictions del;
  for (const PartKind kind : {PartKind::mask, PartKind::length, PartKind::stop})
    del.parts.push_back(
        {.kind = kind, .name = "del", .policy = del_policy, .auxiliary = auxiliary_of<DelHeads>});
  return del;
}

}  // namespace draftscope::simulator
