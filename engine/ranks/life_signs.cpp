// SPDX-License-Identifier: GPL-3.0-or-later
#include "life_signs.h"

#include <fmt/format.h>

#include <algorithm>

namespace draftscope::engine {
namespace {

// A rank that waits for a message takes a hundred times as much in a second, and one that reads weights from
// a slow disk takes more with each page. Threads of an MPI that rests take nothing.
constexpr std::int64_t min_work_ns = 200'000;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

}  // namespace

std::vector<std::int32_t> heard_ranks(std::int32_t rank, std::int32_t size) {
  std::vector<std::int32_t> ranks;
  for (std::int32_t other = rank == 0 ? 1 : 0; other < (rank == 0 ? size : 1); ++other)
    ranks.push_back(other);
  return ranks;
}

LifeSigns::LifeSigns(std::int32_t rank, std::int32_t size, std::int64_t limit_ns, std::int64_t now_ns)
    : peers_(heard_ranks(rank, size)), limit_ns_(limit_ns), looked_ns_(now_ns) {
  state_.assign(peers_.size(), {.heard_ns = now_ns, .worked_ns = now_ns});
  constexpr std::int32_t max_waits = 4;
  patience_ns_ = std::clamp(rank - 1, 0, max_waits) * limit_ns / (2 * beats_per_limit);
}

void LifeSigns::hear(std::size_t peer, const Beat& beat, std::int64_t now_ns) {
  Peer& state = state_[peer];
  state.heard_ns = now_ns;
  if (beat.work_ns - state.known_work_ns >= min_work_ns) {
    state.known_work_ns = beat.work_ns;
    state.worked_ns = now_ns;
  }
  state.has_ended = state.has_ended || beat.is_last != 0;
}

std::optional<std::string> LifeSigns::hanging(std::int64_t now_ns, bool awaits_work) {
  const bool was_away = now_ns - looked_ns_ > limit_ns_ / 2;
  looked_ns_ = now_ns;
  for (std::size_t i = 0; i < state_.size(); ++i) {
    Peer& peer = state_[i];
    if (was_away) peer.heard_ns = now_ns;
    if (was_away || !awaits_work) peer.worked_ns = now_ns;
    if (peer.has_ended) continue;
    if (now_ns - peer.heard_ns > limit_ns_ + patience_ns_)
      return fmt::format("rank {}: found no sign of life for {:.3g} s, expected one at least every {:.3g} s",
                         peers_[i], seconds(now_ns - peer.heard_ns), seconds(limit_ns_));
    if (now_ns - peer.worked_ns > limit_ns_ + patience_ns_)
      return fmt::format("rank {}: found no work done for {:.3g} s, expected its part of a sum", peers_[i],
                         seconds(now_ns - peer.worked_ns));
  }
  return std::nullopt;
}

bool LifeSigns::all_ended() const {
  return std::ranges::all_of(state_, [](const Peer& peer) { return peer.has_ended; });
}

}  // namespace draftscope::engine
