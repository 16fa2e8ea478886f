// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The figures that follow from a recording's requests and the overview that it stores, before its rounds are
// read: throughput, speedup and identity; acceptance without positions, lengths, stops and the tested rate;
// loaded layers; costs; the breakdown by the rounds' times. What they have is what measure() gives without
// spans, if the overview agrees with the rows. By run, not by category.

#include <draftscope/simulator/figures/figures.h>
#include <draftscope/traces/overview.h>
#include <span>

namespace draftscope::simulator {

/// `outline` is the recording without its rounds; the figures point into it.
[[nodiscard]] RecordingFigures measure_overview(const traces::Recording& outline,
                                                std::span<const traces::RequestSum> sums);

}  // namespace draftscope::simulator
