// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/parts/rule.h"

#include <algorithm>

namespace draftscope::speculation {

std::int32_t FiniteStateLength::next(const RoundCounts& counts) {
  const bool all = counts.accepted == gamma_;
  gamma_ = std::clamp(all ? gamma_ + 1 : gamma_ - 1, options_.min, options_.max);
  return gamma_;
}

std::int32_t HeuristicLength::next(const RoundCounts& counts) {
  constexpr std::int32_t max = 63;
  const bool all = counts.accepted == counts.drafted;
  gamma_ = all ? std::min(gamma_ + 2, max) : std::max(gamma_ - 1, 1);
  return gamma_;
}

void AdaptiveThreshold::begin_request() {
  accepted_ = drafted_ = 0;
  if (options_.rule == Rule::del && options_.carries) return;
  rate_ = 0.0;
  has_rate_ = false;
  if (!options_.carries) threshold_ = options_.start;
}

double AdaptiveThreshold::next(const RoundCounts& counts) {
  if (counts.drafted == 0) return threshold_;
  accepted_ += counts.accepted;
  drafted_ += counts.drafted;
  const double now = options_.rule == Rule::del
                         ? static_cast<double>(accepted_) / static_cast<double>(drafted_)
                         : static_cast<double>(counts.accepted) / static_cast<double>(counts.drafted);
  const bool is_first =
      options_.rule == Rule::del ? rate_ == 0.0 : !has_rate_ && options_.rule == Rule::paper;
  rate_ = is_first ? now : options_.beta1 * rate_ + (1.0 - options_.beta1) * now;
  has_rate_ = true;
  threshold_ = options_.beta2 * threshold_ + (1.0 - options_.beta2) * moved(counts);
  return threshold_;
}

double AdaptiveThreshold::moved(const RoundCounts& counts) const {
  const bool is_low = options_.rule == Rule::paper ? rate_ <= options_.target : rate_ < options_.target;
  if (is_low) return threshold_ + options_.epsilon;
  if (options_.rule == Rule::code && counts.drafted == counts.planned) return threshold_;
  return threshold_ - options_.epsilon;
}

void RocThreshold::begin_request() {
  threshold_ = start_;
  seen_.clear();
  right_ = 0;
}

double RocThreshold::next(const RoundCounts& counts) {
  const std::size_t told = std::min(counts.confidences.size(), static_cast<std::size_t>(counts.accepted) + 1);
  for (std::size_t i = 0; i < told; ++i) {
    const Seen seen{counts.confidences[i], i < static_cast<std::size_t>(counts.accepted)};
    right_ += seen.is_right ? 1 : 0;
    const auto behind =
        std::upper_bound(seen_.begin(), seen_.end(), seen.confidence,
                         [](double confidence, const Seen& other) { return confidence > other.confidence; });
    seen_.insert(behind, seen);
  }
  constexpr std::size_t few = 5;
  if (seen_.size() > few && right_ > 0 && wrong() > 0) threshold_ = best();
  return threshold_;
}

double RocThreshold::best() const {
  constexpr double cost_of_a_missed_token = 3.0;
  double best = threshold_;
  double least = cost_of_a_missed_token + 1.0;
  std::size_t true_positives = 0;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    true_positives += seen_[i].is_right ? 1 : 0;
    if (i + 1 < seen_.size() && seen_[i + 1].confidence == seen_[i].confidence) continue;
    const double false_positive_rate =
        static_cast<double>(i + 1 - true_positives) / static_cast<double>(wrong());
    const double false_negative_rate =
        1.0 - static_cast<double>(true_positives) / static_cast<double>(right_);
    const double cost = false_positive_rate + cost_of_a_missed_token * false_negative_rate;
    if (!(cost < least)) continue;
    least = cost;
    best = seen_[i].confidence;
  }
  return best;
}

std::optional<LengthRule> length_rule(const StrategySpecification& strategy) {
  const PartRow* part = strategy.part_row(PartKind::length);
  const auto rule = part == nullptr ? strategy_row(strategy.name()).length_rule : part->length_rule;
  return rule == nullptr ? std::nullopt : rule(strategy);
}

std::span<const BranchWidth> widths_of(const StrategySpecification& strategy) {
  const PartRow* part = strategy.part_row(PartKind::shape);
  return part == nullptr || part->widths == nullptr ? std::span<const BranchWidth>() : part->widths(strategy);
}

std::optional<ThresholdRule> threshold_rule(const StrategySpecification& strategy) {
  const PartRow* part = strategy.part_row(PartKind::stop);
  const auto rule = part == nullptr ? strategy_row(strategy.name()).threshold_rule : part->threshold_rule;
  return rule == nullptr ? std::nullopt : rule(strategy);
}

}  // namespace draftscope::speculation
