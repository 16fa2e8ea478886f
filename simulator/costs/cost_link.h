// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time of an all-reduce of a few rows between GPUs that share a model: measured tables of 8–64 KB inside
// graphs, for NVLink by architecture (H100, B200, A100) and for PCIe; a prior for every other GPU. Linear in
// the bytes between the ends, held at 8 KB below and continued above 64 KB at the link's rate.

#include <draftscope/simulator/hardware/gpu.h>
#include <cstdint>

namespace draftscope::simulator {

/// Relative; without a measurement of the link itself.
inline constexpr double all_reduce_sigma = 0.3;

/// 0 for a single GPU. Degrees between the tables' 2, 4 and 8 take the next higher, those beyond 8 that of 8.
[[nodiscard]] double all_reduce_ns(const GpuSpecification& gpu, std::int32_t degree, double bytes);

/// Launched eagerly, without a graph.
[[nodiscard]] double eager_all_reduce_ns();

}  // namespace draftscope::simulator
