// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>

namespace draftscope::simulator {

/// Makes a sequence of estimates non-decreasing, except where they prove a decrease: neighbours that decrease
/// by less than three standard deviations of their difference share their mean, weighted by 1 / deviation²
/// (pool adjacent violators; Barlow et al. 1972, §1.2; no library here has it). `deviations` are as many as
/// `values`, and positive. O(values).
void pool_decreases(std::span<double> values, std::span<const double> deviations);

}  // namespace draftscope::simulator
