// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lines of servers' logs, and those that are lists of "name: value".

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/text_lines.h"

namespace draftscope::traces {

/// Calls `take(line, number)` for the lines of a log: without a terminal's colours, and where a collector
/// wrapped lines in JSON objects, for each line of their texts. Of a log that may be cut, a last line without
/// its end is passed over: its last number may be cut, too. Errors: as read_text_lines().
[[nodiscard]] Result<void> read_log_lines(
    const std::filesystem::path& file, const ImportProgress& progress,
    const std::function<Result<void>(std::string_view line, std::int64_t number)>& take);

/// Values by name: {"Accepted", {30}}, {"Per-position acceptance rate", {0.7, 0.5}}.
using LogFields = std::map<std::string, std::vector<double>, std::less<>>;

/// Reads "name: 1, name: 2, 3 tokens/s, name: 4%". A part without a name continues the field before it; what
/// is no number, as nan, is left out.
[[nodiscard]] LogFields log_fields_of(std::string_view text);

/// First value of a field; none = the field or its number is absent.
[[nodiscard]] std::optional<double> log_field(const LogFields& fields, std::string_view name);

}  // namespace draftscope::traces
