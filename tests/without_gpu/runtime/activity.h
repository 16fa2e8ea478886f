// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reports from the stand-in to the stand-in of CUPTI: calls when they are made, device work when it is done.

#include <cstdint>
#include <vector>

#include "state.h"

namespace draftscope::cuda_stand_in::activity {

/// Calls that have records.
enum class Call : std::uint8_t { launch, copy, set, wait };

[[nodiscard]] std::uint64_t now_ns();
/// Correlation id of a call that is made now.
[[nodiscard]] std::uint32_t called(Call call);
/// Records operations with their times, in the order of a stream.
void record(const std::vector<Operation>& operations);
void waited(std::uint32_t correlation, std::uint64_t start_ns);

}  // namespace draftscope::cuda_stand_in::activity
