// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Texts for n-gram lookup.

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace draftscope::speculation {

using Random = std::mt19937;
using Tokens = std::vector<std::int32_t>;

[[nodiscard]] inline std::int32_t pick(Random& random, std::int32_t low, std::int32_t high) {
  return low + static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(high - low + 1));
}

/// A text that is either random, or a few repeated tokens with an error now and then.
[[nodiscard]] inline Tokens any_text(Random& random) {
  const std::int32_t vocab = pick(random, 1, 6);
  Tokens text(static_cast<std::size_t>(pick(random, 1, 120)));
  for (std::int32_t& token : text) token = pick(random, 0, vocab - 1);
  if (pick(random, 0, 1) == 0) {
    const auto period = static_cast<std::size_t>(pick(random, 1, 7));
    for (std::size_t i = period; i < text.size(); ++i)
      if (pick(random, 0, 19) != 0) text[i] = text[i - period];
  }
  return text;
}

}  // namespace draftscope::speculation
