// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/utc_time.h>

#include <array>
#include <chrono>
#include <ctime>

namespace draftscope {

std::string utc_text(std::int64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, sizeof("-2147481748-01-01T00:00:00Z")> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text.data(), length};
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return utc_text(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace draftscope
