// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs a user's SQL on a trace: a single statement that reads. It can change, attach or load nothing.

#include <draftscope/base/result.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace draftscope::traces {

/// NULL, a whole number, a real number, or text. A blob is given as text: "17 bytes".
using SqlValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlValue>> rows;
  bool is_cut = false;  ///< Whether there are more rows than requested, or than 256 MiB hold.
};

/// Runs a query. `go_on` is called now and then, from the calling thread; false ends with the error
/// "cancelled". Errors: not a trace, SQL that SQLite rejects (with its message), more than one statement, one
/// that does not only read, a value of more than 8 MiB, more than 256 columns.
[[nodiscard]] Result<QueryResult> query(const std::filesystem::path& path, std::string_view sql,
                                        std::size_t max_rows, const std::function<bool()>& go_on = {});

}  // namespace draftscope::traces
