// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Whether a pass is worth a team. Where other programs want the same cores, a team advances only while all of
// its threads have one, and may be slower than a single thread: the passes say so themselves, by the time
// that the first thread slept for the others.
//
// A thread that was asleep takes some ten microseconds to wake up, on free cores as well, and a scheduler
// gives a core away for a millisecond and more: only long sleeps say that others want the cores.

#include <cstdint>

namespace draftscope::engine::cpu {

/// Time that the first thread slept for the others, in one pass.
struct TeamSleep {
  /// A sleep of so long is none that ended when a thread had woken up.
  static constexpr std::int64_t long_from_ns = 300'000;

  std::int64_t ns = 0;
  std::int64_t long_ns = 0;  ///< part of it that was spent in long sleeps

  void add(std::int64_t sleep_ns) {
    ns += sleep_ns;
    if (sleep_ns >= long_from_ns) long_ns += sleep_ns;
  }
};

/// Thread-safety: none. Results do not depend on it, times do.
class TeamChoice {
 public:
  explicit TeamChoice(std::int32_t threads) : threads_(threads) {}

  /// Whether the next pass shall run on one thread.
  [[nodiscard]] bool runs_alone() const { return passes_alone_ > 0; }
  /// Whether others lately wanted the cores: waiting threads should leave them at once in the next pass. Not
  /// in passes that look whether that still holds, since threads that leave at once sleep on free cores, too.
  [[nodiscard]] bool is_crowded() const { return crowded_by_ > crowded_share && !looks(); }

  /// A pass of the team took `ns`.
  void observe_team(std::int64_t ns, const TeamSleep& slept);
  /// A pass of one thread.
  void observe_alone();

 private:
  static constexpr double crowded_share = 0.05;
  // A trial of the team is short and comes ever more rarely while it loses, so that it costs a few per cent.
  static constexpr std::int32_t trial_passes = 4;
  static constexpr std::int32_t passes_between_looks = 8;

  /// Whether threads keep their cores as long as ever in the next pass.
  [[nodiscard]] bool looks() const {
    return team_passes_ < trial_passes || team_passes_ % passes_between_looks == passes_between_looks - 1;
  }

  std::int32_t threads_;
  double slept_share_ = 0.0;  // of the latest passes of the team
  // Share of long sleeps in passes whose threads did not leave at once: the last one, and the lesser of the
  // last two, since a pass of many rows sleeps where its work does not divide evenly.
  double last_look_ = 0.0;
  double crowded_by_ = 0.0;
  std::int32_t team_passes_ = 0;   // since the last that ran alone
  std::int32_t passes_alone_ = 0;  // still to run so
  std::int32_t next_alone_ = 0;    // how many when the team loses again
};

}  // namespace draftscope::engine::cpu
