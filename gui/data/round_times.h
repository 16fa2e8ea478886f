// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where the time of a run's rounds went, as running sums, so that any stretch of rounds takes two look-ups;
// and the percentiles of single rounds. Parts add up to the rounds' time exactly, the rest included.
// Immutable once built.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

enum class RoundPart : std::uint8_t { draft, verify, accept, optimise, control, rest };
inline constexpr std::size_t round_parts = 6;
/// "draft", …, "rest": what no phase of the round covers.
[[nodiscard]] std::string_view round_part_name(RoundPart part);
[[nodiscard]] traces::Phase phase_of(RoundPart part);

using PartTimes = std::array<std::int64_t, round_parts>;
[[nodiscard]] PartTimes part_times(const traces::Round& round);

class RoundTimes {
 public:
  RoundTimes() = default;
  RoundTimes(const OpenedRecording& opened, std::size_t run);

  [[nodiscard]] std::size_t rounds() const { return sums_.empty() ? 0 : sums_.size() - 1; }
  /// Nanoseconds of the rounds [first, last).
  [[nodiscard]] PartTimes sum(std::size_t first, std::size_t last) const;

 private:
  std::vector<PartTimes> sums_;
};

struct PartPercentiles {
  double mean_ns = 0.0;
  std::int64_t p50_ns = 0;
  std::int64_t p95_ns = 0;
  std::int64_t p99_ns = 0;
  std::int64_t most_ns = 0;
};

/// Of single rounds among [first, last), for each part and, behind them, for the whole round. O(rounds).
[[nodiscard]] std::array<PartPercentiles, round_parts + 1> part_percentiles(const RoundTimes& times,
                                                                            std::size_t first,
                                                                            std::size_t last);

}  // namespace draftscope::gui
