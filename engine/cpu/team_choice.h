// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Whether a pass is worth a team. Where other programs want the same cores, a team advances only while all of
// its threads have one, and may be slower than a single thread: the passes say so themselves, by the time
// that the first thread slept for the others.

#include <cstdint>

namespace draftscope::engine::cpu {

/// Thread-safety: none. Results do not depend on it, times do.
class TeamChoice {
 public:
  explicit TeamChoice(std::int32_t threads) : threads_(threads) {}

  /// Whether the next pass shall run on one thread.
  [[nodiscard]] bool runs_alone() const { return passes_alone_ > 0; }
  /// Whether others lately wanted the cores: waiting threads should leave them at once.
  [[nodiscard]] bool is_crowded() const { return slept_share_ > crowded_share; }

  /// A pass of the team took `ns`, of which its first thread slept `slept_ns` for the others.
  void observe_team(std::int64_t ns, std::int64_t slept_ns);
  /// A pass of one thread.
  void observe_alone();

 private:
  static constexpr double crowded_share = 0.05;

  std::int32_t threads_;
  double slept_share_ = 0.0;       // of the latest passes of the team
  std::int32_t team_passes_ = 0;   // since the last that ran alone
  std::int32_t passes_alone_ = 0;  // still to run so
  std::int32_t next_alone_ = 0;    // how many when the team loses again
};

}  // namespace draftscope::engine::cpu
