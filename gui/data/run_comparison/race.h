// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A race of runs through one request. In real time each has the tokens that it had by then; in lockstep all
// are at the token that the slowest has, and differ in when they had it.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace draftscope::gui {

enum class Pace : std::uint8_t { real_time, lockstep };

struct RacePlace {
  std::size_t token = 0;      ///< the last that is there
  std::int64_t known_ns = 0;  ///< since when, from the run's first token on
};

class Race {
 public:
  Race() = default;
  /// [run][token] when it was there, since the run's first; rising, as token_times_ns() has them.
  explicit Race(std::vector<std::vector<std::int64_t>> times_ns);

  [[nodiscard]] bool empty() const { return times_ns_.empty(); }
  /// Until the slowest has its last token.
  [[nodiscard]] std::int64_t duration_ns() const { return duration_ns_; }
  /// Place of each run, so long after the first tokens.
  [[nodiscard]] std::vector<RacePlace> at(std::int64_t position_ns, Pace pace) const;

 private:
  std::vector<std::vector<std::int64_t>> times_ns_;  ///< none is empty
  std::int64_t duration_ns_ = 0;
};

}  // namespace draftscope::gui
