// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Occupancy: how many blocks of a kernel fit on a multiprocessor at once. Registers are given to warps, and
// each quarter of the multiprocessor has a quarter of them; shared memory is given to blocks. The rounding is
// that of CUDA's occupancy calculator for compute capability 5.0 and later. All of the multiprocessor's
// shared memory counts, so a driver that leaves more to the L1 cache fits fewer blocks.

#include <draftscope/traces/records.h>
#include <draftscope/traces/writer.h>
#include <cstdint>
#include <optional>
#include <string_view>

namespace draftscope::simulator {

/// Limits of one multiprocessor.
struct MultiprocessorLimits {
  std::int32_t compute_capability = 0;  ///< 10 · major + minor: 90 for 9.0.
  std::int32_t multiprocessors = 0;     ///< Number of them on the device; 0 = not known.
  std::int32_t warps = 0;
  std::int32_t blocks = 0;
  std::int32_t registers = 0;
  std::int32_t shared_bytes = 0;
};

/// Limits in `device_limits` of a recording's meta; absent in recordings without it, or with implausible
/// ones.
[[nodiscard]] std::optional<MultiprocessorLimits> multiprocessor_limits(const traces::Meta& meta);

struct Occupancy {
  std::int32_t blocks = 0;  ///< Blocks that fit on a multiprocessor, at least 1.
  std::int32_t warps = 0;   ///< Their warps.
  std::string_view
      limited_by;  ///< First of "warps", "blocks", "registers", "shared memory" that fits no more.
};

/// Absent for rows that are no kernels or have no registers, and where no block fits.
[[nodiscard]] std::optional<Occupancy> occupancy_of(const traces::Kernel& kernel,
                                                    const MultiprocessorLimits& limits);

}  // namespace draftscope::simulator
