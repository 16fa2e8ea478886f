// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Values of the parameters for a scenario's machine, what is unsure about them, and why.

#include <vector>

#include "prices/passes/cost_link.h"
#include "prices/passes/cost_prices.h"

namespace draftscope::simulator {

/// Which of the shared factors a parameter is multiplied with.
enum class Factor : std::uint8_t { launch, bandwidth, host, link };
inline constexpr std::size_t factor_count = 4;
[[nodiscard]] Factor factor_of(std::size_t parameter);

struct TransferredCosts {
  CostModel model;     ///< values on the scenario's machine; covariance still of the model it was fitted to
  CostVector ratio;    ///< that a drawn value is multiplied with, 1 on the same machine
  CostVector floor{};  ///< no value goes below
  std::array<double, factor_count> sigma{};
  bool is_specified = false;  ///< rests on a specification alone: its spread is the transfer's
  std::vector<CostNote> notes;
};

/// Whether the scenario asks about the machine that the model was fitted on.
[[nodiscard]] bool is_on_same_machine(const CostModel& model, const Scenario& scenario);

[[nodiscard]] TransferredCosts transfer(const CostModel& model, const Scenario& scenario);

}  // namespace draftscope::simulator
