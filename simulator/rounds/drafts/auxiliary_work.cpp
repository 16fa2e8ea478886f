// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/auxiliary_work.h"

#include <algorithm>

#include "strategies/predict.h"

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

std::optional<AuxiliaryWork> AuxiliaryWork::of(const speculation::StrategySpecification& strategy,
                                               const speculation::ModelShape& shape) {
  using speculation::PartKind;
  AuxiliaryWork work;
  decltype(PartPrediction::auxiliary) shared = nullptr;
  for (const PartKind kind : {PartKind::stop, PartKind::length, PartKind::mask}) {
    const PartPrediction* part = part_prediction(strategy, kind);
    if (part == nullptr || part->auxiliary == nullptr || part->auxiliary == shared) continue;
    shared = part->auxiliary;
    work.rules_.push_back(shared(strategy, shape));
  }
  if (work.rules_.empty()) return std::nullopt;
  return work;
}

void AuxiliaryWork::after_prefill(std::int32_t prompt_tokens, bool is_first, AuxiliaryPasses& passes,
                                  std::vector<PassCount>& counts) const {
  for (const auto& rule : rules_) rule->after_prefill(prompt_tokens, is_first, passes, counts);
}

void AuxiliaryWork::after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                                std::vector<PassCount>& counts) const {
  for (const auto& rule : rules_) rule->after_round(round, passes, counts);
}

}  // namespace draftscope::simulator
