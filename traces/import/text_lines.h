// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A file of lines, or of JSON objects, one a line, read line by line.

#include <draftscope/base/result.h>
#include <draftscope/traces/exporters.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
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

/// One JSON value of `text`. `where` is what errors begin with: "a.jsonl: line 3".
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, const std::string& where);

/// Calls `take(object, where)` for every line that is not blank. Errors: unreadable, a line that is no JSON
/// object or longer than 64 MiB, no line at all, what `take` returns. A last line without its end, as a
/// recorder that was killed leaves it, is passed over if `may_be_cut`.
[[nodiscard]] Result<void> read_json_lines(
    const std::filesystem::path& file, const ImportProgress& progress,
    const std::function<Result<void>(const nlohmann::json& object, std::int64_t line,
                                     const std::string& where)>& take,
    bool may_be_cut = false);

}  // namespace draftscope::traces
