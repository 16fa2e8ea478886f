// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads a file of lines, or of one JSON object per line, line by line.

#include <draftscope/base/result.h>
#include <draftscope/traces/exporters.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace draftscope::traces {

/// Progress through all the files: bytes read, and whether to continue.
struct ImportProgress {
  const Progress& report;
  std::int64_t done_bytes = 0;  ///< Bytes of the files before this one.
  std::int64_t all_bytes = 0;
  bool may_be_cut = false;  ///< Whether a packed file that ends early is read up to there.

  /// Reports progress. Fails with "import cancelled" if the caller requests it.
  [[nodiscard]] Result<void> update(std::int64_t bytes_of_file) const;
};

/// The text without a byte order mark before it, as programs of Windows write one.
[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

/// Calls `take(line, number, is_ended)` for every line, without the byte order mark and carriage returns of
/// Windows; only the last may lack its end. Errors: unreadable, a line longer than 64 MiB, an error from
/// `take`.
[[nodiscard]] Result<void> read_text_lines(
    const std::filesystem::path& file, const ImportProgress& progress,
    const std::function<Result<void>(std::string_view line, std::int64_t number, bool is_ended)>& take);

/// Calls `take(object, where)` for every line that is not blank. Errors: unreadable, a line that is no JSON
/// object or longer than 64 MiB, no line at all, an error from `take`. If `may_be_cut`, a last line without
/// its end is ignored, as a killed recorder leaves it.
[[nodiscard]] Result<void> read_json_lines(
    const std::filesystem::path& file, const ImportProgress& progress,
    const std::function<Result<void>(const nlohmann::json& object, std::int64_t line,
                                     const std::string& where)>& take,
    bool may_be_cut = false);

/// Calls `take(object, number, where)` for each of the JSON objects that follow one another in `text`, on one
/// line or several. Errors: something else between them, one without its end, no object, an error from
/// `take`.
[[nodiscard]] Result<void> take_json_objects(
    std::string_view text, const std::string& name,
    const std::function<Result<void>(const nlohmann::json& object, std::int64_t number,
                                     const std::string& where)>& take);
/// Calls `take` as take_json_objects() does, for the objects in a file of at most 256 MiB.
[[nodiscard]] Result<void> read_json_objects(
    const std::filesystem::path& file, const ImportProgress& progress,
    const std::function<Result<void>(const nlohmann::json& object, std::int64_t number,
                                     const std::string& where)>& take);

}  // namespace draftscope::traces
