// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstring>
#include <vector>

namespace draftscope::engine::test {

[[nodiscard]] inline bool have_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace draftscope::engine::test
