// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Two runs side by side, of one recording or of two: what an output token took of each phase, of each
// operation or kernel, and of each kind of gap. Only rounds count, so that runs of different length and
// prompts of different length compare; the prefill does not.
//
// Phases come from the rounds, which every recording has. Operations and gaps need the times of a device;
// they add up to the time of the rounds, as the phases do.
//
// Pure functions, safe from any thread; each is one pass over the timeline.

#include <draftscope/simulator/analysis/device_table.h>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct TokenTime {
  std::string name;
  double ns = 0.0;                        ///< Per output token.
  std::optional<std::int64_t> median_ns;  ///< Median of the open times of an operation; absent for others.
};

/// Times of the output tokens of a run's rounds.
struct TokenTimes {
  std::int64_t tokens = 0;
  std::int64_t rounds = 0;
  double ns = 0.0;                      ///< Time of all rounds per output token.
  std::vector<TokenTime> phases;        ///< Draft to control, and "outside" of them; the sum is `ns`.
  bool has_device = false;              ///< Whether the two below were recorded.
  std::vector<TokenTime> operations{};  ///< Own times.
  std::vector<TokenTime> gaps{};        ///< By kind.
};

/// The times of a run (index into Recording::runs), or of all; `timeline` may be null. With a phase,
/// operations and gaps are those of the phase. Without tokens all is 0.
[[nodiscard]] TokenTimes token_times(const traces::Recording& recording, std::optional<std::uint32_t> run,
                                     const DeviceTimeline* timeline, DeviceNames by,
                                     std::optional<traces::Phase> phase = {});

/// A time in both; absent where one has no such name, or was not recorded.
struct ComparedTime {
  std::string name;
  std::optional<TokenTime> first;
  std::optional<TokenTime> other;
  /// The other's less the first's, where a name that only one has took no time in the other. Absent if
  /// nothing was recorded of one.
  std::optional<double> difference_ns;
};
/// All names of both, the largest difference first, or else the largest time.
[[nodiscard]] std::vector<ComparedTime> side_by_side(const std::vector<TokenTime>& first,
                                                     const std::vector<TokenTime>& other);

}  // namespace draftscope::simulator
