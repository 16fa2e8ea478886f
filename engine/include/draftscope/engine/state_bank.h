// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Hidden states, by number, in the memory of whoever computes: passes read and leave them there
// (Batch::reads_kept, Wanted::keep_at), and searches over layers compare and move them (CLaSp's and
// KnapSpec's dynamic programming, DEL's heads), so that no state goes through the host.
//
// Ownership: a bank is its backend's. Thread-safety: one caller at a time, the backend's.

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
  /// Makes room for `count` states and gives the first one's number; the others follow. Numbers that were
  /// given before may be the same: a bank is scratch memory of one search. Errors: memory is short.
  [[nodiscard]] virtual Result<std::int32_t> reserve(std::int32_t count) = 0;
  /// The state that the last round kept of a row (ChainRound::keeps_states): 0 is its root, then come the
  /// draft tokens. It stays until the next round.
  [[nodiscard]] virtual std::int32_t of_round(std::int32_t boundary, std::int32_t row) const = 0;
  /// `states`: [n][d_model], to be numbers `at` and following.
  [[nodiscard]] virtual Result<void> put(std::int32_t at, std::span<const float> states) = 0;
  /// Copies states; none is read that another of them writes.
  [[nodiscard]] virtual Result<void> move(std::span<const StateMove> moves) = 0;
  /// Cosine of each pair: 0 if one is all zeros, −1, unlike everything, where they are not finite.
  [[nodiscard]] virtual Result<void> compare(std::span<const StatePair> pairs,
                                             std::vector<double>& cosines) = 0;
};

}  // namespace draftscope::engine
