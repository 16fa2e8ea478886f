// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbered hidden states in the memory of the device that computes. Passes read and leave them there
// (Batch::reads_kept, Wanted::keep_at). Searches over layers compare and move them (CLaSp's and KnapSpec's
// dynamic programming, DEL's heads), so that no state goes through the host.
//
// Ownership: a bank belongs to its backend. Thread-safety: one caller at a time, shared with the backend.

#include <draftscope/base/result.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

struct StateMove {
  std::int32_t from = 0;
  std::int32_t to = 0;
};

struct StatePair {
  std::int32_t a = 0;
  std::int32_t b = 0;
};

class StateBank {
 public:
  virtual ~StateBank() = default;
  /// Makes room for `count` states with consecutive numbers and returns the first. Numbers may repeat those
  /// of earlier calls: a bank is scratch memory of one search. Errors: memory is short.
  [[nodiscard]] virtual Result<std::int32_t> reserve(std::int32_t count) = 0;
  /// Number of the state that the last round left for a row (ChainRound::keeps_states): row 0 is its root,
  /// then come the draft tokens. It stays until the next round.
  [[nodiscard]] virtual std::int32_t of_round(std::int32_t boundary, std::int32_t row) const = 0;
  /// Stores `states`, [n][d_model], under the numbers from `at` on.
  [[nodiscard]] virtual Result<void> put(std::int32_t at, std::span<const float> states) = 0;
  /// Copies states; no move may read a state that another one writes.
  [[nodiscard]] virtual Result<void> move(std::span<const StateMove> moves) = 0;
  /// Cosine of each pair: 0 if a state is all zeros; −1, the minimum, if they are not finite.
  [[nodiscard]] virtual Result<void> compare(std::span<const StatePair> pairs,
                                             std::vector<double>& cosines) = 0;
};

}  // namespace draftscope::engine
