// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Seeds of random walks: few in a test of each change, many at night, one to see a failure again.

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace draftscope::test {

/// Seeds from `first` to `last`.
struct Walks {
  std::uint32_t first = 1;
  std::uint32_t last = 1;
};

/// As many walks as `count`, or as DRAFTSCOPE_WALKS says: "300", or "17-17" for that seed alone.
inline Walks walks(std::uint32_t count) {
  const char* const asked = std::getenv("DRAFTSCOPE_WALKS");
  if (asked == nullptr) return {1, count};
  char* rest = nullptr;
  const auto first = static_cast<std::uint32_t>(std::strtoul(asked, &rest, 10));
  if (*rest != '-') return {1, std::max(first, 1U)};
  return {first, static_cast<std::uint32_t>(std::strtoul(rest + 1, nullptr, 10))};
}

}  // namespace draftscope::test
