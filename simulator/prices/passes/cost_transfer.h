// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parameter values for a scenario's machine, with their uncertainty and its reasons.

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/scenario.h>
#include <cstdint>
#include <string_view>
#include <vector>

#include "prices/passes/cost_prices.h"

namespace draftscope::simulator {

// Time of an all-reduce of a few rows between GPUs that share a model. Measured tables cover 8–64 KB inside
// graphs, for NVLink by architecture (H100, B200, A100) and for PCIe; every other GPU has a prior. It is
// linear in the bytes between the ends, constant below 8 KB, and continued above 64 KB at the link's rate.

enum class LinkKind : std::uint8_t { nvlink_a100, nvlink_h100, nvlink_b200, pcie };

/// Kind by the link's rate and the architecture; PCIe below 150 GB/s, or where no rate is given.
[[nodiscard]] LinkKind link_kind(const GpuSpecification& gpu);

/// Relative deviation without a measurement of the link. Engines differ by 24 to 62 % over PCIe.
[[nodiscard]] double all_reduce_sigma(LinkKind kind);

/// Time in nanoseconds; 0 for a single GPU. Degrees between the tables' 2, 4 and 8 use the next higher one;
/// those beyond 8 use 8.
[[nodiscard]] double all_reduce_ns(const GpuSpecification& gpu, std::int32_t degree, double bytes);

/// Time of an eager launch, without a graph.
[[nodiscard]] double eager_all_reduce_ns();

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
