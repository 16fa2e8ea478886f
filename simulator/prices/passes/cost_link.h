// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time of an all-reduce of a few rows between GPUs that share a model: measured tables of 8–64 KB inside
// graphs, for NVLink by architecture (H100, B200, A100) and for PCIe; a prior for every other GPU. Linear in
// the bytes between the ends, held at 8 KB below and continued above 64 KB at the link's rate.

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/scenario.h>
#include <cstdint>
#include <optional>
#include <string_view>

namespace draftscope::simulator {

enum class LinkKind : std::uint8_t { nvlink_a100, nvlink_h100, nvlink_b200, pcie };
/// "NVLink (as of an H100)", "PCIe".
[[nodiscard]] std::string_view link_kind_name(LinkKind kind);

/// By the link's rate, and the architecture: below 150 GB/s, or where none is named, PCIe.
[[nodiscard]] LinkKind link_kind(const GpuSpecification& gpu);

/// Relative, without a measurement of the link itself. Engines differ by 24 to 62 % over PCIe.
[[nodiscard]] double all_reduce_sigma(LinkKind kind);

/// 0 for a single GPU. Degrees between the tables' 2, 4 and 8 take the next higher, those beyond 8 that of 8.
[[nodiscard]] double all_reduce_ns(const GpuSpecification& gpu, std::int32_t degree, double bytes);

/// Launched eagerly, without a graph.
[[nodiscard]] double eager_all_reduce_ns();

}  // namespace draftscope::simulator
