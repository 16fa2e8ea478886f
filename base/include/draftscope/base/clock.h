// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The only clock of a trace: CLOCK_MONOTONIC in nanoseconds. CLOCK_REALTIME steps with NTP and is only stored
// as a pair at the start and the end, to place a trace in calendar time and to show drift.

#include <cstdint>
#include <ctime>
#include <string>

namespace draftscope {

struct ClockPair {
  std::int64_t monotonic_ns = 0;
  std::int64_t realtime_ns = 0;
};

[[nodiscard]] inline std::int64_t now_ns() {
  std::timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Reads both clocks, as close together as a few tries allow.
[[nodiscard]] ClockPair read_clock_pair();

/// ISO 8601 text in UTC of a system clock's nanoseconds since 1970; cut to whole seconds.
[[nodiscard]] std::string utc_text(std::int64_t realtime_ns);
/// ISO 8601 text in UTC with nanoseconds: "2023-11-14T22:13:20.123456789Z".
[[nodiscard]] std::string utc_text_ns(std::int64_t realtime_ns);
[[nodiscard]] std::string utc_now();

}  // namespace draftscope
