// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Opening SQLite files of unknown origin: nothing in their schema runs as code of ours, their lengths are not
// believed, and the work that they cause is bounded.

#include <draftscope/base/result.h>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "storage/database.h"

namespace draftscope::traces {

/// Instructions of SQLite's machine between two calls of a progress handler.
inline constexpr int steps_per_look = 100'000;

/// Bounds the work that a damaged file can cause. A b-tree whose pages are shared can hold exponentially many
/// rows in a small file; an honest one never needs more than some instructions a byte.
struct WorkBudget {
  std::int64_t steps_left = 0;
  std::int64_t steps = 0;                      ///< of each statement
  const std::atomic<bool>* stopped = nullptr;  ///< ends a statement from outside

  /// Budget of a file of this many bytes, at least 20 million steps.
  [[nodiscard]] static std::int64_t steps_for(std::uint64_t bytes, std::int64_t steps_per_byte);
};

/// Opens a file for reading only; `query` is SQLite's URI query ("mode=ro&immutable=1"). Errors do not name
/// the file.
[[nodiscard]] Result<Database> open_untrusted(const std::filesystem::path& path, std::string_view query);

/// Settings that every connection to such a file needs: its schema is not trusted, no value is longer than
/// 256 MiB.
void distrust(sqlite3* database);

/// Ends the database's statements once the budget is used up. The budget must outlive the database.
void bound_work(sqlite3* database, WorkBudget& budget);

}  // namespace draftscope::traces
