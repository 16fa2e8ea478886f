// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Percentiles of any stretch of durations without sorting it: a wavelet matrix (F. Claude, G. Navarro, A.
// Ordóñez, "The wavelet matrix: an efficient wavelet tree for large alphabets", 2015) over 12-bit codes of
// the durations. A code has seven significant bits, as in HdrHistogram: an answer is off by at most 1/128 of
// itself, and exact below 128 ns. Ranks are exact.
//
// Memory: 1.7 bytes per duration. Immutable once built; several threads may read it.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/opened_recording.h"
#include "data/sum_pyramid.h"

namespace draftscope::gui {

/// Maximum relative error of an answer of Quantiles.
inline constexpr double quantile_error = 1.0 / 128.0;

class Quantiles {
 public:
  Quantiles() = default;
  /// Negative durations count as 0. O(12 · durations).
  explicit Quantiles(std::span<const std::int64_t> durations_ns);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The duration at place `rank` of [first, last) in sorted order; rank < last − first. O(12).
  [[nodiscard]] std::int64_t ranked_ns(std::size_t first, std::size_t last, std::size_t rank) const;

 private:
  /// One bit of every code, in the order that the higher bits gave, with running counts of its zeros.
  struct Level {
    std::vector<std::uint64_t> ones;
    std::vector<std::uint32_t> zeros_before;  ///< [word]
    std::size_t zeros = 0;

    [[nodiscard]] std::size_t zeros_in(std::size_t places) const;
  };

  std::size_t size_ = 0;
  std::vector<Level> levels_;  ///< Highest bit first.
};

// Parts of the time of a run's rounds, as running sums, so that any stretch of rounds takes two look-ups; and
// percentiles of single rounds. The parts, idle included, add up to the rounds' time exactly. Memory: 60
// bytes per round. Immutable once built.

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
