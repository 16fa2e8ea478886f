// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Random specifications, whose parameters have any value that the catalogue takes.

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>

namespace draftscope::engine {

template <typename Values>
auto one_of(const Values& values, std::mt19937& random) {
  return values[random() % values.size()];
}

/// Formats of weights that a CPU takes for drafts.
inline constexpr std::array<std::string_view, 4> cpu_formats{"q8_0", "q4_1", "q3_0", "fp8"};

/// A strategy of the catalogue for a model of at least three layers. Its drafts may use weights in any of the
/// formats, besides the model's own.
[[nodiscard]] std::string random_strategy(std::int32_t n_layers, std::mt19937& random,
                                          std::span<const std::string_view> formats = cpu_formats);

/// A mix of strategies' parts, as random_strategy().
[[nodiscard]] std::string random_mix(std::int32_t n_layers, std::mt19937& random,
                                     std::span<const std::string_view> formats = cpu_formats);

}  // namespace draftscope::engine
