// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The time of a run's rounds in named parts, of which each round has a few, and its sum over any stretch of
// rounds without walking them all. Exact in integers.
//
// Memory: 6 bytes per part of a round, and 0.2 bytes per round and name. Immutable once built.

#include <cstdint>
#include <string>
#include <vector>

#include "data/sum_pyramid.h"

namespace draftscope::gui {

struct PartTime {
  std::uint32_t place = 0;  ///< Place of the round in its run.
  std::uint16_t part = 0;
  std::uint32_t ns = 0;  ///< Longer times are several entries.
};

class PartedTimes {
 public:
  PartedTimes() = default;
  /// Takes `times` in any order, with parts below names.size() and places below `rounds`. Equal parts of a
  /// round are added.
  PartedTimes(std::vector<std::string> names, std::size_t rounds, std::vector<PartTime> times);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::size_t rounds() const { return first_.empty() ? 0 : first_.size() - 1; }
  /// Nanoseconds by part of the rounds [first, last).
  [[nodiscard]] std::vector<std::int64_t> sum(std::size_t first, std::size_t last) const;

 private:
  void add_round(std::size_t place, std::span<std::int64_t> row) const;

  std::vector<std::string> names_;
  std::vector<std::uint32_t> first_;  ///< [place, and one after the last] First entry.
  std::vector<std::uint16_t> part_;
  std::vector<std::uint32_t> ns_;
  SumPyramid<std::int64_t> pyramid_;
};

}  // namespace draftscope::gui
