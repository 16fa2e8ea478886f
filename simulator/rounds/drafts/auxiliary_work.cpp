// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/auxiliary_work.h"

#include <draftscope/speculation/rules/rules_of.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace draftscope::simulator {

void AuxiliaryPasses::count(const AuxiliaryPass& pass, std::int64_t passes, std::int64_t context,
                            std::vector<PassCount>& counts) {
  const auto known = std::find(kinds_.begin(), kinds_.end(), pass);
  const auto place = static_cast<std::size_t>(known - kinds_.begin());
  if (known == kinds_.end()) kinds_.push_back(pass);
  if (counts.size() <= place) counts.resize(place + 1);
  counts[place].passes += passes;
  counts[place].context += passes * context;
}

namespace {

/// Weights of a knapsack's sublayers, where a step takes as long as it takes to read their weights: the
/// engine measures times.
std::pair<std::int32_t, std::int32_t> sublayer_weights(const speculation::ModelShape& shape) {
  const double attention = 2.0 * shape.d_model * (shape.q_width() + shape.kv_width());
  const double mlp = 3.0 * shape.d_model * shape.d_ff;
  const auto times_heavier = [](double by) {
    constexpr double heaviest = 5.0;
    return static_cast<std::int32_t>(std::lround(std::clamp(by, 1.0, heaviest)));
  };
  return {times_heavier(attention / mlp), times_heavier(mlp / attention)};
}

}  // namespace

std::optional<AuxiliaryWork> AuxiliaryWork::of(const speculation::StrategySpecification& strategy,
                                               const speculation::ModelShape& shape) {
  AuxiliaryWork work;
  work.n_layers_ = shape.n_layers;
  if (!strategy.has_parts()) return std::nullopt;
  const std::string_view mask = strategy.part(speculation::PartKind::mask);
  if (speculation::has_del(strategy)) {
    const speculation::DelRule::Options options = speculation::del_options(strategy);
    const auto exits = static_cast<std::int32_t>(options.exits.size());
    work.del_ = Del{options.prompt_window, options.mode != speculation::DelRule::Mode::code,
                    exits > 0 ? exits : shape.n_layers - 1};
  }
  if (mask == "swift") {
    const std::int32_t skipped =
        speculation::swift_skipped_sublayers(shape.n_layers, strategy.number("ratio"));
    // Which sublayers a candidate skips is a matter of its search; it is taken to skip both kinds alike.
    work.swift_ = Swift{strategy.integer("window"), strategy.text("scored-on") == "first",
                        shape.n_layers - skipped / 2, shape.n_layers - (skipped - skipped / 2)};
  }
  if (mask == "clasp") work.clasp_ = Clasp{strategy.integer("skip"), strategy.text("carry-set") == "yes"};
  if (mask == "knapspec") {
    const auto [attention, mlp] = sublayer_weights(shape);
    work.knapspec_ = Knapspec{strategy.integer("window"), attention, mlp};
  }
  if (mask == "conflayers") work.confidence_window_ = strategy.integer("window");
  const bool has_any =
      work.del_ || work.swift_ || work.clasp_ || work.knapspec_ || work.confidence_window_ > 0;
  if (!has_any) return std::nullopt;
  return work;
}

void AuxiliaryWork::after_prefill(std::int32_t prompt_tokens, bool is_first, AuxiliaryPasses& passes,
                                  std::vector<PassCount>& counts) const {
  if (del_) {
    const std::int32_t window = std::min(del_->prompt_window, prompt_tokens);
    if (window > 0)
      passes.count({AuxiliaryPassKind::window, window, n_layers_, n_layers_, true}, 1, prompt_tokens - window,
                   counts);
    if (window > 0 && del_->reads_prompt_at_once) heads(window, passes, counts);
  }
  if (clasp_ && (is_first || !clasp_->carries_set)) {
    passes.count({AuxiliaryPassKind::anchor, 1, n_layers_, n_layers_, false}, 1, prompt_tokens - 1, counts);
    layers(clasp_->skip, prompt_tokens - 1, passes, counts);
  }
  if (knapspec_) knapsack(prompt_tokens, passes, counts);
}

void AuxiliaryWork::after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                                std::vector<PassCount>& counts) const {
  if (del_) {
    const std::int32_t window = std::min(del_->prompt_window, round.prompt_tokens);
    const bool reads_prompt = round.index == 0 && !del_->reads_prompt_at_once;
    heads(round.accepted + 1 + (reads_prompt ? window : 0), passes, counts);
  }
  if (swift_)
    passes.count({AuxiliaryPassKind::candidate, swift_->window, swift_->attention, swift_->mlp, true}, 1,
                 swift_->scores_first
                     ? round.prompt_tokens
                     : std::max(round.root_position + round.accepted + 1 - swift_->window, 0),
                 counts);
  if (clasp_) layers(clasp_->skip, round.root_position + round.accepted, passes, counts);
  if (knapspec_) knapsack(round.root_position + round.accepted + 1, passes, counts);
  if (confidence_window_ > 0)
    passes.count({AuxiliaryPassKind::confidences, confidence_window_, n_layers_ - 1, n_layers_ - 1, false}, 1,
                 std::max(round.root_position + round.accepted + 1 - confidence_window_, 0), counts);
}

/// A search with so many tokens in the cache. Every time that can be saved is taken to be reached, though a
/// search gives up states that are too unlike the target's.
void AuxiliaryWork::knapsack(std::int64_t committed, AuxiliaryPasses& passes,
                             std::vector<PassCount>& counts) const {
  const auto tokens = static_cast<std::int32_t>(std::min<std::int64_t>(knapspec_->window, committed));
  if (tokens < 1) return;
  const std::int64_t context = committed - tokens;
  passes.count({AuxiliaryPassKind::knapsack, 1, n_layers_, 0, false}, 2, committed - 1, counts);
  passes.count({AuxiliaryPassKind::knapsack, 1, 0, n_layers_, false}, 2, committed - 1, counts);
  passes.count({AuxiliaryPassKind::knapsack, tokens, 1, 1, false}, 1, context, counts);
  const std::int32_t budget = (knapspec_->attention_weight + knapspec_->mlp_weight) * n_layers_ / 2;
  std::vector<bool> reached(static_cast<std::size_t>(budget) + 1);
  reached[0] = true;
  const auto branches = [&] { return static_cast<std::int32_t>(std::ranges::count(reached, true)); };
  for (std::int32_t sublayer = 2; sublayer < 2 * n_layers_; ++sublayer) {
    const bool is_attention = sublayer % 2 == 0;
    passes.count(
        {AuxiliaryPassKind::knapsack, branches() * tokens, is_attention ? 1 : 0, is_attention ? 0 : 1, false},
        1, context, counts);
    if (sublayer / 2 == n_layers_ - 1) continue;  // the last layer stays
    const auto weight =
        static_cast<std::size_t>(is_attention ? knapspec_->attention_weight : knapspec_->mlp_weight);
    for (std::size_t saved = reached.size(); saved-- > weight;)
      if (reached[saved - weight]) reached[saved] = true;
  }
  passes.count({AuxiliaryPassKind::knapsack, branches() * tokens, 0, 0, true}, 1, 0, counts);
}

/// The heads of the exits that may be chosen, on each of the positions that count.
void AuxiliaryWork::heads(std::int32_t positions, AuxiliaryPasses& passes,
                          std::vector<PassCount>& counts) const {
  if (del_->heads > 0)
    passes.count({AuxiliaryPassKind::heads, del_->heads * positions, 0, 0, true}, 1, 0, counts);
}

/// Passes of each layer over the states from which `skip` skipped layers can still be reached.
void AuxiliaryWork::layers(std::int32_t skip, std::int64_t position, AuxiliaryPasses& passes,
                           std::vector<PassCount>& counts) const {
  for (std::int32_t layer = 1; layer <= n_layers_; ++layer) {
    const std::int32_t least = std::max(1, skip - (n_layers_ - layer));
    const std::int32_t most = std::min(layer - 1, skip);
    if (most >= least)
      passes.count({AuxiliaryPassKind::layer, most - least + 1, 1, 1, false}, 1, position, counts);
  }
}

}  // namespace draftscope::simulator
