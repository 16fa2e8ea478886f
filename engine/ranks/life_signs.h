// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which rank hangs, by what the ranks say of themselves again and again.
//
// Rank 0 hears all others, and they hear rank 0. A rank hangs that says nothing (a process that was stopped,
// a node that is gone), or that says it lives and takes no processor time while another waits for its part of
// a sum (a disk that does not answer). One that computes for long does neither, and one that is not waited
// for may rest as long as it likes: rank 0 waits for its user, and the others for rank 0.
//
// A limit begins anew after a time in which the rank that judges did not run itself: a whole job may be
// stopped and go on.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::engine {

/// A rank's word that it lives.
struct Beat {
  std::int64_t work_ns = 0;  ///< processor time that its process has taken so far, but for saying so
  std::int64_t is_last = 0;  ///< 1: it has done its part and says no more
};

/// Beats that fit into a limit.
inline constexpr std::int64_t beats_per_limit = 6;

/// Ranks whose beats `rank` of `size` hears: rank 0's, or all others' on rank 0.
[[nodiscard]] std::vector<std::int32_t> heard_ranks(std::int32_t rank, std::int32_t size);

class LifeSigns {
 public:
  /// Knowledge of `rank` of `size` about those that it hears, from now on.
  LifeSigns(std::int32_t rank, std::int32_t size, std::int64_t limit_ns, std::int64_t now_ns);

  /// heard_ranks() of this rank.
  [[nodiscard]] const std::vector<std::int32_t>& peers() const { return peers_; }
  /// Notes the beat of peers()[peer].
  void hear(std::size_t peer, const Beat& beat, std::int64_t now_ns);
  /// One line on the first rank that hangs, if one does; to be called at least once a beat. `awaits_work`:
  /// this rank waits for the others' part of a sum.
  [[nodiscard]] std::optional<std::string> hanging(std::int64_t now_ns, bool awaits_work);
  /// Whether every peer has said its last.
  [[nodiscard]] bool all_ended() const;

 private:
  struct Peer {
    std::int64_t heard_ns = 0;       // when
    std::int64_t worked_ns = 0;      // when its processor time was last seen to grow
    std::int64_t known_work_ns = 0;  // that processor time
    bool has_ended = false;
  };

  std::vector<std::int32_t> peers_;
  std::vector<Peer> state_;  // [peer]
  std::int64_t limit_ns_;
  std::int64_t patience_ns_;  // beyond the limit: of those that hear rank 0 one after another says so
  std::int64_t looked_ns_;
};

}  // namespace draftscope::engine
