// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A file of JSON objects, one a line, read line by line.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "import/text_lines.h"

namespace draftscope::traces {

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
