// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cpu_backend.h>
#include <draftscope/engine/ranks/lead_and_follow.h>
#include <draftscope/engine/ranks/thread_ranks.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shared_backend.h"

namespace draftscope::engine::test {

/// Ranks of this process, of which the first leads: what a command with MPI has.
class LedRanks {
 public:
  /// Throws with rank 0's error. `checkpoints` are the ranks' in turn; one is everybody's.
  LedRanks(std::vector<const Checkpoint*> checkpoints, std::int32_t size, const MakeRank& make);
  LedRanks(std::vector<const Checkpoint*> checkpoints, std::int32_t size, const CpuOptions& options)
      : LedRanks(std::move(checkpoints), size, make_cpu_rank(options)) {}
  LedRanks(const LedRanks&) = delete;
  LedRanks& operator=(const LedRanks&) = delete;
  ~LedRanks();

  [[nodiscard]] LeadingBackend& backend() const { return *lead_; }
  /// How the others ended, by rank from 1 on; empty = well. After the last of rank 0's backend.
  [[nodiscard]] std::vector<std::string> ends();

 private:
  std::vector<std::unique_ptr<Collective>> ranks_;
  std::vector<std::string> ends_;
  std::vector<std::thread> followers_;
  std::unique_ptr<LeadingBackend> lead_;
};

}  // namespace draftscope::engine::test
