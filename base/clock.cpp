// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/clock.h>

#include <limits>

namespace draftscope {

ClockPair read_clock_pair() {
  // The realtime read sits between two monotonic ones; the try with the narrowest bracket wins, because a
  // preemption inside the bracket would shift the pair by its length.
  ClockPair best;
  std::int64_t best_bracket_ns = std::numeric_limits<std::int64_t>::max();
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::int64_t before_ns = now_ns();
    std::timespec real{};
    clock_gettime(CLOCK_REALTIME, &real);
    const std::int64_t after_ns = now_ns();
    if (after_ns - before_ns >= best_bracket_ns) continue;
    best_bracket_ns = after_ns - before_ns;
    best = {before_ns + best_bracket_ns / 2,
            static_cast<std::int64_t>(real.tv_sec) * 1'000'000'000 + real.tv_nsec};
  }
  return best;
}

}  // namespace draftscope
