// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/del/rule.h"

#include <draftscope/speculation/skip_set_text.h>

#include <algorithm>
#include <string>

namespace draftscope::speculation {

double ExitStatistics::threshold() const {
  if (matches <= 0.0 || mismatches <= 0.0) return -1.0;
  return 0.5 * (right_confidence() + wrong_confidence());
}

void ExitStatistics::decay(double omega) {
  matches *= omega;
  mismatches *= omega;
  confidence_of_matches *= omega;
  confidence_of_mismatches *= omega;
}

void ExitStatistics::count(bool matches_target, double confidence) {
  (matches_target ? matches : mismatches) += 1.0;
  (matches_target ? confidence_of_matches : confidence_of_mismatches) += confidence;
}

ExitChoice best_exit(std::span<const ExitStatistics> exits, const TplCost& cost, std::int32_t max) {
  ExitChoice best;
  for (std::size_t i = 0; i < exits.size(); ++i) {
    const double alpha = exits[i].acceptance();
    if (!(alpha >= 0.0)) continue;
    const auto exit = static_cast<std::int32_t>(i) + 1;
    double tokens = 0.0;
    double power = 1.0;
    for (std::int32_t d = 0; d <= max; ++d) {
      tokens += power;
      power *= alpha;
      const double tpl = tokens / ((cost.n_layers + cost.head) + d * (exit + cost.head));
      if (tpl > best.tpl) best = {exit, d, tpl};
    }
  }
  return best;
}

DelRule::DelRule(const TplCost& cost, const Options& options)
    : options_(options), cost_(cost), exits_(static_cast<std::size_t>(std::max(cost.n_layers - 1, 0))) {
  if (options.mode == Mode::repaired)
    options_.honours_length = true;
  else
    cost_.head = 0.0;
  for (std::int32_t exit = 1; exit < cost.n_layers; ++exit)
    if (options.exits.empty() ||
        std::find(options.exits.begin(), options.exits.end(), exit) != options.exits.end())
      candidates_.push_back(exit);
  begin_request();
}

void DelRule::begin_request() {
  exits_.assign(exits_.size(), {});
  choice_ = {};
  if (!candidates_.empty()) choice_.exit = candidates_.front();
  is_first_round_ = true;
}

std::int32_t DelRule::length() const {
  if (options_.honours_length) return choice_.gamma;
  return is_first_round_ ? 1 : options_.max;
}

double DelRule::threshold() const {
  const auto exit = static_cast<std::size_t>(choice_.exit);
  return exit <= exits_.size() ? exits_[exit - 1].threshold() : -1.0;
}

void DelRule::choose() {
  is_first_round_ = false;
  choice_ = best_exit(exits_, cost_, options_.mode == Mode::code ? options_.max - 1 : options_.max);
  if (choice_.tpl == 0.0 && !candidates_.empty()) choice_.exit = candidates_.front();
}

DelRule::Options del_options(const StrategySpecification& mix) {
  using Mode = DelRule::Mode;
  const std::string& mode = mix.text("mode");
  DelRule::Options options{
      .mode = mode == "paper"  ? Mode::paper
              : mode == "code" ? Mode::code
                               : Mode::repaired,
      .max = mix.integer("d-max"),
      .omega = mix.number("omega"),
      .prompt_window = mix.integer("prompt-window"),
      .exits = listed_layers(mix.text("exits")),
      .exits_draft = mix.drafts_with(MaskLayers::below_chosen_exit),
      .honours_length = mix.part(PartKind::length) == "del" && mix.part(PartKind::stop) == "none"};
  // Where another part chooses the exit, DEL chooses the length and threshold for that exit.
  if (mix.drafts_with(MaskLayers::below_exit) && options.exits.empty()) {
    options.exits = {mix.integer("exit")};
    options.exits_draft = true;
  }
  return options;
}

}  // namespace draftscope::speculation
