// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A block's barriers for copies, which count as an mbarrier does, and the pieces that its warps have begun
// (begin_piece(), CopyBarrier: device_emulation.h).

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "device_emulation.h"

namespace draftscope::engine::cuda::emulation {

/// A line about something that is not allowed; null if nothing was wrong.
using Fault = const char*;

/// A copy of bytes from device memory to shared memory.
struct Piece {
  std::byte* to;
  const std::byte* from;
  unsigned bytes;
  CopyBarrier* filled;
};

/// Pieces of one block. A barrier's own state is in shared memory, as on a device.
class Pieces {
 public:
  [[nodiscard]] static Fault init(CopyBarrier* barrier, unsigned arrivals);
  [[nodiscard]] static Fault check(const CopyBarrier* barrier);
  /// Whether the phase of that parity has ended. A caller that gets true has waited for its pieces.
  [[nodiscard]] bool has_ended(const CopyBarrier* barrier, unsigned parity);

  /// Starts a piece. Until its bytes arrive, the destination holds NaNs in every format.
  [[nodiscard]] Fault begin(const Piece& piece);
  /// Lets the bytes of one piece arrive, which `order` draws. Returns false if none is in flight.
  bool land_one(std::minstd_rand& order);

  /// Whether each piece that was begun has been waited for.
  [[nodiscard]] bool all_waited_for() const { return begun_.empty(); }
  void clear() { begun_.clear(); }

 private:
  struct Begun {
    Piece piece;
    std::uint16_t phase;
    bool has_landed = false;
  };
  /// Counts a piece that was begun.
  [[nodiscard]] Fault arrive(CopyBarrier* barrier) const;
  void end_phase_if_complete(CopyBarrier* barrier) const;

  std::vector<Begun> begun_;  ///< Copies that nobody has waited for.
};

}  // namespace draftscope::engine::cuda::emulation
