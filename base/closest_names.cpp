// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/closest_names.h>

#include <draftscope/base/ascii.h>
#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace draftscope {

namespace {

/// Levenshtein distance, computed with one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> distance(b.size() + 1);
  std::iota(distance.begin(), distance.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(distance[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0U : 1U);
      diagonal = distance[j + 1];
      distance[j + 1] = std::min({diagonal + 1, distance[j] + 1, substituted});
    }
  }
  return distance.back();
}

}  // namespace

std::string comparable_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    plain += in_lower_case(c);
  }
  return plain;
}

std::string closest_names(std::string_view wanted, std::span<const std::string> names) {
  constexpr std::size_t listed = 5;
  constexpr std::size_t longest = 64;
  const std::string plain = comparable_name(wanted.substr(0, longest));
  std::vector<std::tuple<bool, std::size_t, std::string>> near;
  near.reserve(names.size());
  for (const std::string& name : names) {
    const std::string other = comparable_name(name);
    near.emplace_back(other.find(plain) == std::string::npos, edit_distance(plain, other), name);
  }
  std::sort(near.begin(), near.end());
  std::string closest;
  for (std::size_t i = 0; i < std::min(listed, near.size()); ++i)
    closest += (i == 0 ? "" : ", ") + std::get<2>(near[i]);
  return closest;
}

}  // namespace draftscope
