// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Marks that the user puts on a recording's time, with a text each. They are kept beside the recording, in a
// small JSON file, and never in it.

#include <draftscope/base/result.h>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/time_range.h"

namespace draftscope::gui {

/// A time with a text. A mark of one instant has an empty range.
struct Mark {
  TimeRange time;
  std::string text;
  friend bool operator==(const Mark&, const Mark&) = default;
};

inline constexpr std::size_t max_marks = 1000;  ///< Marks of one recording.
inline constexpr std::size_t max_mark_text_bytes = 1000;

/// File of a recording's marks: "x.dstrace.marks.json" beside "x.dstrace".
[[nodiscard]] std::filesystem::path marks_file(const std::filesystem::path& recording);

/// Reads marks in the order of their times; there are none without a file. Errors, one line: a file that
/// can't be read, is no JSON of marks, or breaks a bound.
[[nodiscard]] Result<std::vector<Mark>> read_marks(const std::filesystem::path& file);

/// Replaces the file; without marks, removes it. Errors, one line: the folder or the disk refuses.
[[nodiscard]] Result<void> write_marks(const std::filesystem::path& file, std::span<const Mark> marks);

/// The marks with another one at its place by time.
[[nodiscard]] std::vector<Mark> with_mark(std::vector<Mark> marks, Mark added);

/// First mark that begins after `at_ns`, or last one that begins before it; wraps around. None without marks.
[[nodiscard]] std::optional<std::size_t> next_mark(std::span<const Mark> marks, std::int64_t at_ns,
                                                   bool forward);

}  // namespace draftscope::gui
