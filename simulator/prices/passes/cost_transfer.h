// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parameter values for a scenario's machine, with their uncertainty and its reasons.

#include <vector>

#include "prices/passes/cost_link.h"
#include "prices/passes/cost_prices.h"

namespace draftscope::simulator {

/// Shared factor that multiplies a parameter.
enum class Factor : std::uint8_t { launch, bandwidth, host, link };
inline constexpr std::size_t factor_count = 4;
[[nodiscard]] Factor factor_of(std::size_t parameter);

struct TransferredCosts {
  CostModel model;   ///< Values on the scenario's machine; the covariance is still that of the fitted model.
  CostVector ratio;  ///< Factor of a drawn value; 1 on the same machine.
  CostVector floor{};  ///< Lower bound of values.
  std::array<double, factor_count> sigma{};
  double type_factor = 1.0;   ///< Factor of the layers' products, as measured by drafts of the type.
  bool is_specified = false;  ///< Based on a specification only, so that its spread counts as transfer.
  std::vector<CostNote> notes;
};

/// MeasuredDraftType::factor of a type; 1 where no draft had it.
[[nodiscard]] double draft_type_factor(const CostModel& model, WeightType type);

/// Whether the scenario asks about the machine that the model was fitted on.
[[nodiscard]] bool is_on_same_machine(const CostModel& model, const Scenario& scenario);

[[nodiscard]] TransferredCosts transfer(const CostModel& model, const Scenario& scenario);

}  // namespace draftscope::simulator
