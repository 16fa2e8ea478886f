// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A file of lines, read line by line.

#include <draftscope/base/result.h>
#include <draftscope/traces/exporters.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace draftscope::traces {

/// Progress through all the files: bytes read, and whether to go on.
struct ImportProgress {
  const Progress& report;
  std::int64_t done_bytes = 0;  ///< of the files before this one
  std::int64_t all_bytes = 0;

  /// Fails with "import cancelled" if the caller wants that.
  [[nodiscard]] Result<void> update(std::int64_t bytes_of_file) const;
};

/// Calls `take(line, number, is_ended)` for every line; only the last may lack its end. Errors: unreadable, a
/// line longer than 64 MiB, what `take` returns.
[[nodiscard]] Result<void> read_text_lines(
    const std::filesystem::path& file, const ImportProgress& progress,
    const std::function<Result<void>(std::string_view line, std::int64_t number, bool is_ended)>& take);

}  // namespace draftscope::traces
