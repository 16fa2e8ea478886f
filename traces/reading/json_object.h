// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The SQL function is_json_object(text), for rules. SQLite's own json_valid() calls a text invalid that it
// has no memory to look at, so that a sound file would be found broken; this one fails then.

#include <sqlite3.h>

namespace draftscope::traces {

/// Whether the connection has the function now.
[[nodiscard]] bool add_is_json_object(sqlite3* database);

}  // namespace draftscope::traces
