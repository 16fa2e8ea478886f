// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time of an all-reduce of a few rows between GPUs that share a model: measured tables of 8–64 KB inside
// graphs, for NVLink by architecture (H100, B200, A100) and for PCIe; a prior for every other GPU. Linear in
// the bytes between the ends, held at 8 KB below and continued above 64 KB at the link's rate.
//
// Between ranks that are processes of one machine, through its memory: a message's latency and its bytes, and
// from 4 KiB on a handshake, since Open MPI hands over larger messages only once the receiver has answered
// (its eager limit). As Open MPI 4.1 took between two vCPU of an EPYC (1.8 us for 1 KB, 7.2 for 4, 9.1 for 8,
// 37 for 64) and of a Xeon (1.6, 9.4 for 8, 48 for 64), while other work wanted them. Four and eight ranks
// exchange twice and three times.
//
// Between ranks on machines of their own: each exchange is a message's latency and its bytes at the link's
// rate (RankLink); both go at once. What two have is added in their caches, which takes a hundredth of that.

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/scenario.h>
#include <cstdint>
#include <optional>
#include <string_view>

namespace draftscope::simulator {

enum class LinkKind : std::uint8_t { nvlink_a100, nvlink_h100, nvlink_b200, pcie, memory };
/// "NVLink (as of an H100)", "PCIe", "the memory of one machine".
[[nodiscard]] std::string_view link_kind_name(LinkKind kind);

/// By the link's rate, and the architecture: below 150 GB/s, or where none is named, PCIe.
[[nodiscard]] LinkKind link_kind(const GpuSpecification& gpu);

/// Relative, without a measurement of the link itself. Engines differ by 24 to 62 % over PCIe.
[[nodiscard]] double all_reduce_sigma(LinkKind kind);

/// 0 for a single GPU. Degrees between the tables' 2, 4 and 8 take the next higher, those beyond 8 that of 8.
[[nodiscard]] double all_reduce_ns(const GpuSpecification& gpu, std::int32_t degree, double bytes);

/// Between ranks of one machine, or over a link; 0 for a single one. Other degrees than powers of two take
/// the next higher.
[[nodiscard]] double rank_all_reduce_ns(std::int32_t degree, double bytes,
                                        const std::optional<RankLink>& link = {});

/// Launched eagerly, without a graph.
[[nodiscard]] double eager_all_reduce_ns();

}  // namespace draftscope::simulator
