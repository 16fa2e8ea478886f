// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Decides whether a pass is worth a team. If other programs want the same cores, a team advances only while
// all of its threads have one, and may be slower than a single thread. This shows in the time that the first
// thread slept while it waited for the others.
//
// A sleeping thread takes some ten microseconds to wake up, on free cores as well, and a scheduler gives a
// core away for a millisecond or more. Only long sleeps therefore show that others want the cores.

#include <cstdint>

namespace draftscope::engine::cpu {

/// Time that the first thread slept in one pass while it waited for the others.
struct TeamSleep {
  /// Minimum duration of a long sleep: a mere wake-up takes less.
  static constexpr std::int64_t long_from_ns = 300'000;

  std::int64_t ns = 0;
  std::int64_t long_ns = 0;  ///< part of ns in long sleeps

  void add(std::int64_t sleep_ns) {
    ns += sleep_ns;
    if (sleep_ns >= long_from_ns) long_ns += sleep_ns;
  }
};

/// Chooses between a team and a single thread. Thread-safety: none. Only times depend on it, not results.
class TeamChoice {
 public:
  explicit TeamChoice(std::int32_t threads) : threads_(threads) {}

  /// Whether the next pass should run on one thread.
  [[nodiscard]] bool runs_alone() const { return passes_alone_ > 0; }
  /// Whether others wanted the cores lately: in the next pass waiting threads should then yield them at once.
  /// False in passes that check whether this still holds, since threads that yield at once also sleep on free
  /// cores.
  [[nodiscard]] bool is_crowded() const { return crowded_by_ > crowded_share && !looks(); }

  /// Records that a pass of the team took `ns`.
  void observe_team(std::int64_t ns, const TeamSleep& slept);
  /// Records a pass of one thread.
  void observe_alone();

 private:
  static constexpr double crowded_share = 0.05;
  // A trial of the team is short, and becomes ever rarer while the team loses, so that trials cost a few per
  // cent.
  static constexpr std::int32_t trial_passes = 4;
  static constexpr std::int32_t passes_between_looks = 8;

  /// Whether waiting threads spin for the usual time in the next pass.
  [[nodiscard]] bool looks() const {
    return team_passes_ < trial_passes || team_passes_ % passes_between_looks == passes_between_looks - 1;
  }

  std::int32_t threads_;
  double slept_share_ = 0.0;  // mean over the latest passes of the team
  // Share of long sleeps in passes whose threads did not yield at once: the last such pass, and the min of
  // the last two. A pass of many rows sleeps if its work does not divide evenly.
  double last_look_ = 0.0;
  double crowded_by_ = 0.0;
  std::int32_t team_passes_ = 0;   // since the last pass on one thread
  std::int32_t passes_alone_ = 0;  // still to run on one thread
  std::int32_t next_alone_ = 0;    // passes to run on one thread when the team loses again
};

}  // namespace draftscope::engine::cpu
