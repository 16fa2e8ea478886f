// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/clock.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <ctime>
#include <limits>

namespace draftscope {

ClockPair read_clock_pair() {
  // The realtime clock is read between two monotonic reads. The try with the narrowest bracket wins, since a
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

std::string utc_text(std::int64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(
      std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds(realtime_ns)).count());
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, sizeof("-2147481748-01-01T00:00:00Z")> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text.data(), length};
}

std::string utc_text_ns(std::int64_t realtime_ns) {
  constexpr std::int64_t second_ns = 1'000'000'000;
  std::string text = utc_text(realtime_ns);
  text.insert(text.size() - 1, fmt::format(".{:09}", (realtime_ns % second_ns + second_ns) % second_ns));
  return text;
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return utc_text(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace draftscope
