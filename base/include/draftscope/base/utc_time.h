// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Points of time as files state them: "2024-03-01T12:00:00Z".

#include <cstdint>
#include <string>

namespace draftscope {

/// A system clock's nanoseconds since 1970 as ISO 8601, UTC; cut to whole seconds.
[[nodiscard]] std::string utc_text(std::int64_t realtime_ns);
[[nodiscard]] std::string utc_now();

}  // namespace draftscope
