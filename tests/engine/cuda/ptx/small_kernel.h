// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A few instructions as a kernel: what the tests of single instructions run.

#include <draftscope/base/result.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "device.h"

namespace draftscope::ptx::test {

inline constexpr float inf = std::numeric_limits<float>::infinity();
inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// One value a lane.
using LaneValues = std::vector<std::uint64_t>;

struct SmallKernel {
  /// Instructions over the registers %h0 … %h9 (16 bits), %w0 … (32), %x0 … (64) and %p0 …, of which those
  /// numbered from 1 on hold the inputs, cut to their widths, and the predicates an input's lowest bit.
  std::string body;
  std::string result = "%w0";
  std::string declarations;  ///< of variables in the kernel
  std::uint32_t seed = 1;
};

/// The result's bits in each of `threads` threads of one block; inputs[i][thread] is that of the registers i
/// + 1.
[[nodiscard]] Result<LaneValues> run_lanes(const SmallKernel& kernel, const std::vector<LaneValues>& inputs,
                                           std::uint32_t threads = 32);
/// The same of one thread; a failure is the test's.
[[nodiscard]] std::uint64_t run_one(const SmallKernel& kernel, const std::vector<std::uint64_t>& inputs);

/// One instruction without its operands: "add.s32" of registers of one width ("w"), or of one width each,
/// destination first.
[[nodiscard]] std::uint64_t compute(std::string_view instruction, std::string_view widths,
                                    const std::vector<std::uint64_t>& inputs);

/// The PTX text around a body, with its own entry line: for tests that need more than one block or other
/// parameters.
[[nodiscard]] std::string module_text(std::string_view entry);

inline std::uint64_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

}  // namespace draftscope::ptx::test
