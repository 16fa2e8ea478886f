// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Chrome trace events, one at a time, from an array of them or an object with the array `traceEvents`. The
// file is read as a stream, so memory is that of one event.

#include <draftscope/base/result.h>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/text_lines.h"

namespace draftscope::traces {

/// A scalar in an event's `args`. Values live until the next event.
struct ChromeArgument {
  std::string key;
  std::optional<std::int64_t> integer;
  std::optional<double> number;  ///< Value of a number, including integers.
  std::string text;              ///< Value of a string.
};

struct ChromeEvent {
  std::int64_t index = 0;  ///< Index in the file, from 1, as in errors.
  std::string phase;       ///< "X", "B", "E", "C", "M", …
  std::string name;
  std::string category;
  std::string process;  ///< Number or text.
  std::string thread;
  std::string problem;                   ///< Error of the first value that was wrong; empty if none was.
  std::optional<std::int64_t> start_ns;  ///< Below 0 if it began before the file's zero.
  std::optional<std::int64_t> length_ns;
  std::vector<ChromeArgument> arguments;
  std::array<std::int32_t, 3> grid{};
  std::array<std::int32_t, 3> block{};

  [[nodiscard]] const ChromeArgument* argument(std::string_view key) const;
  /// The integer of that name if it exists and is within the range.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view key, std::int64_t least,
                                                    std::int64_t most) const;
};

/// Calls `take` for each event, bad ones included. An array of events needs no end. Times may be texts of
/// numbers. With `is_partial`, a file may end anywhere, and bytes that JSON does not allow are mended; the
/// result has a sentence for each. Errors: unreadable, no JSON (with the byte), no events, an error from
/// `take`.
[[nodiscard]] Result<std::vector<std::string>> read_chrome_events(
    const std::filesystem::path& file, const ImportProgress& progress, bool is_partial,
    const std::function<Result<void>(const ChromeEvent&)>& take);

/// Converts "12.345" microseconds into 12345 ns, exactly where the text has no exponent; absent if it is no
/// number or out of range.
[[nodiscard]] std::optional<std::int64_t> microseconds_to_ns(std::string_view text);

}  // namespace draftscope::traces
