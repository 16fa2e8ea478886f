// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The law that divides a device's time among what ran on it. Activities of one stream overlap, since a kernel
// may be launched before the one that it depends on has ended. Each instant belongs to the running activity
// that began first, and of two with one begin to the shorter. So attributed times never overlap, and over any
// range their sum is the union of the activities. All tables, charts, reports and cost fits use this law.
//
// An activity is *open* from its begin to its end; open times of activities that ran at the same time
// contain the same instants.

#include <draftscope/traces/records.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

namespace draftscope::simulator {

/// Time of an activity that is attributed to it; half-open, empty if earlier activities ran throughout.
struct AttributedTime {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;

  [[nodiscard]] std::int64_t ns() const { return end_ns - start_ns; }
  /// Nanoseconds of it inside a range.
  [[nodiscard]] std::int64_t ns_within(std::int64_t from_ns, std::int64_t to_ns) const {
    return std::max<std::int64_t>(std::min(end_ns, to_ns) - std::max(start_ns, from_ns), 0);
  }
};

/// Attributes the time of activities that come in order of their start and end. A value type.
class Attribution {
 public:
  [[nodiscard]] AttributedTime add(std::int64_t start_ns, std::int64_t end_ns) {
    const std::int64_t from_ns = std::max(start_ns, until_ns_);
    until_ns_ = std::max(until_ns_, end_ns);
    return {from_ns, std::max(from_ns, end_ns)};
  }
  /// End of the latest activity so far; the smallest number before the first.
  [[nodiscard]] std::int64_t until_ns() const { return until_ns_; }

 private:
  std::int64_t until_ns_ = std::numeric_limits<std::int64_t>::min();
};

/// Kind of a gap, a time in which a device did nothing.
enum class GapKind : std::uint8_t {
  launch,  ///< In a round; the begin of a launch ended it: of a graph, a program, a kernel or a copy.
  between_kernels,  ///< In a round; a later kernel of the launch before it ended it.
  host,             ///< Outside rounds, or before a round's first and after its last work.
};
inline constexpr std::array<std::string_view, 3> gap_kind_names{"launch", "between kernels", "host"};

/// Number of the call that launched an activity, or of the span whose kernel timed it; 0 if neither is known.
[[nodiscard]] inline std::uint32_t launch_number(const traces::Kernel& kernel) {
  return kernel.correlation_id != 0 ? kernel.correlation_id
                                    : static_cast<std::uint32_t>(kernel.span_id.value());
}

/// Kind of the gap between two activities of a round, by their launch numbers.
[[nodiscard]] constexpr GapKind gap_kind(std::uint32_t launch_before, std::uint32_t launch_after) {
  return launch_before == launch_after ? GapKind::between_kernels : GapKind::launch;
}

/// Whether an activity of this name is a copy or a memory set.
[[nodiscard]] constexpr bool is_copy_name(std::string_view name) {
  return name.starts_with("[mem");
}

}  // namespace draftscope::simulator
