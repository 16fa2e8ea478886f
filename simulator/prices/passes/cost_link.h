// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time of an all-reduce of a few rows between GPUs that share a model. Measured tables cover 8–64 KB inside
// graphs, for NVLink by architecture (H100, B200, A100) and for PCIe; every other GPU has a prior. It is
// linear in the bytes between the ends, constant below 8 KB, and continued above 64 KB at the link's rate.

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/scenario.h>
#include <cstdint>
#include <string_view>

namespace draftscope::simulator {

enum class LinkKind : std::uint8_t { nvlink_a100, nvlink_h100, nvlink_b200, pcie };
/// "NVLink (as of an H100)", "PCIe".
[[nodiscard]] std::string_view link_kind_name(LinkKind kind);

/// Kind by the link's rate and the architecture; PCIe below 150 GB/s, or where no rate is given.
[[nodiscard]] LinkKind link_kind(const GpuSpecification& gpu);

/// Relative deviation without a measurement of the link. Engines differ by 24 to 62 % over PCIe.
[[nodiscard]] double all_reduce_sigma(LinkKind kind);

/// Time in nanoseconds; 0 for a single GPU. Degrees between the tables' 2, 4 and 8 use the next higher one;
/// those beyond 8 use 8.
[[nodiscard]] double all_reduce_ns(const GpuSpecification& gpu, std::int32_t degree, double bytes);

/// Time of an eager launch, without a graph.
[[nodiscard]] double eager_all_reduce_ns();

}  // namespace draftscope::simulator
