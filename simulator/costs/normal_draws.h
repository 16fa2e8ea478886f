// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace draftscope::simulator {

/// Fills with independent standard normal numbers, a function of (seed, index) alone: SplitMix64 and Box and
/// Muller's transform, since the standard library's distributions differ between implementations. With
/// `first` the same numbers from that place on.
void fill_normal(std::uint64_t seed, std::uint64_t index, std::span<double> out, std::size_t first = 0);

}  // namespace draftscope::simulator
