// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parts of the time of a run's rounds, as running sums, so that any stretch of rounds takes two look-ups; and
// percentiles of single rounds. The parts, idle included, add up to the rounds' time exactly. Memory: 60
// bytes per round. Immutable once built.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/opened_recording.h"
#include "data/rounds/quantiles.h"
#include "data/sum_pyramid.h"

namespace draftscope::gui {

enum class RoundPart : std::uint8_t { draft, verify, accept, optimise, control, idle };
inline constexpr std::size_t round_parts = 6;
/// "draft", …, "idle" (time in no phase of the round), as reports call them.
[[nodiscard]] std::string_view round_part_name(RoundPart part);
[[nodiscard]] traces::Phase phase_of(RoundPart part);

using PartTimes = std::array<std::int64_t, round_parts>;
[[nodiscard]] PartTimes part_times(const traces::Round& round);

struct PartPercentiles {
  double mean_ns = 0.0;
  std::int64_t p50_ns = 0;
  std::int64_t p95_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t max_ns = 0;
};
/// Percentiles of each part and, after them, of the whole round.
using RoundPercentiles = std::array<PartPercentiles, round_parts + 1>;

class RoundTimes {
 public:
  /// Rounds up to which percentiles are exact; for more they are within quantile_error.
  static constexpr std::size_t max_exact = 4096;

  RoundTimes() = default;
  RoundTimes(const OpenedRecording& opened, std::size_t run_index);

  [[nodiscard]] std::size_t rounds() const { return sums_.empty() ? 0 : sums_.size() - 1; }
  /// Nanoseconds of the rounds [first, last).
  [[nodiscard]] PartTimes sum(std::size_t first, std::size_t last) const;
  /// Percentiles of single rounds among [first, last). At most O(max_exact).
  [[nodiscard]] RoundPercentiles percentiles(std::size_t first, std::size_t last) const;

 private:
  [[nodiscard]] std::int64_t part_ns(std::size_t place, std::size_t part) const;

  std::vector<PartTimes> sums_;
  std::array<Quantiles, round_parts + 1> quantiles_;
};

// The time of a run's rounds in named parts, of which each round has a few, and its sum over any stretch of
// rounds without walking them all. Exact in integers.
//
/// Memory: 6 bytes per part of a round, and 0.2 bytes per round and name. Immutable once built.
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
