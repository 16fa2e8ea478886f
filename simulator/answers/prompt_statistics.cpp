// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/prompt_statistics.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <unordered_set>

namespace draftscope::simulator {

namespace {

constexpr std::size_t orders = 3;  ///< Number of orders: contexts of 0, 1 and 2 bytes.

/// Key of the last `order` bytes before place `i`; `with_byte` adds the byte at `i` and gives a distinct key.
std::uint32_t key_at(std::string_view text, std::size_t i, std::size_t order, bool with_byte) {
  std::uint32_t key = static_cast<std::uint32_t>(2 * order) + (with_byte ? 1U : 0U);
  for (std::size_t k = i - order; k < i + (with_byte ? 1 : 0); ++k)
    key = (key << 8U) | static_cast<unsigned char>(text[k]);
  return key;
}

}  // namespace

double repeated_share(std::string_view text) {
  constexpr std::size_t length = 8;
  if (text.size() <= length) return 0.0;
  std::unordered_set<std::uint64_t> seen;
  std::uint64_t window = 0;
  std::size_t repeated = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    window = (window << 8U) | static_cast<unsigned char>(text[i]);
    if (i + 1 >= length && !seen.insert(window).second) ++repeated;
  }
  return static_cast<double>(repeated) / static_cast<double>(text.size() - length + 1);
}

void ByteTrigrams::add(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    for (std::size_t order = 0; order < orders && order <= i; ++order) {
      ++counts_[key_at(text, i, order, false)];
      ++counts_[key_at(text, i, order, true)];
    }
}

double ByteTrigrams::count(std::uint32_t key) const {
  const auto found = counts_.find(key);
  return found == counts_.end() ? 0.0 : found->second;
}

double ByteTrigrams::entropy(std::string_view text, const ByteTrigrams& without) const {
  constexpr double of_any = 0.02 / 256.0;
  constexpr std::array<double, orders> weights{0.18, 0.3, 0.5};
  if (text.empty()) return 0.0;
  double bits = 0.0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    double chance = of_any;
    double known = 0.02;
    for (std::size_t order = 0; order < orders && order <= i; ++order) {
      const std::uint32_t context = key_at(text, i, order, false);
      const double before = count(context) - without.count(context);
      if (before <= 0.0) break;
      const std::uint32_t whole = key_at(text, i, order, true);
      chance += weights[order] * (count(whole) - without.count(whole)) / before;
      known += weights[order];
    }
    bits -= std::log2(chance / known);
  }
  return bits / static_cast<double>(text.size());
}

}  // namespace draftscope::simulator
