// SPDX-License-Identifier: GPL-3.0-or-later
#include "reading/damage.h"

namespace draftscope::traces {

Result<std::string> damage_found(const OpenTrace& trace, std::string_view table) {
  DRAFTSCOPE_TRY(check_unchanged(trace));
  sqlite3* const database = trace.database.get();
  const bool is_stopped = trace.budget->stopped != nullptr && trace.budget->stopped->load();
  // The budget follows from the file's size.
  if (sqlite3_errcode(database) == SQLITE_INTERRUPT && !is_stopped)
    return std::string("reading it takes more than a sound file of that size can need");
  if (is_damage(database)) return sqlite_error(database);
  return cant_be_checked(trace, table, sqlite_error(database));
}

tl::unexpected<Error> cant_be_checked(const OpenTrace& trace, std::string_view table,
                                      std::string_view words) {
  // The file is open for reading only: what is written, and fills a disk, are temporary files.
  const int code = sqlite3_extended_errcode(trace.database.get());
  const bool is_temporary = code == SQLITE_FULL || code == SQLITE_IOERR_WRITE ||
                            code == SQLITE_IOERR_GETTEMPPATH || (code & 0xff) == SQLITE_CANTOPEN;
  return fail("{}: can't be checked: table {}: {}{}", trace.path.string(), table, words,
              is_temporary ? "; temporary files need room (SQLITE_TMPDIR names their folder)" : "");
}

}  // namespace draftscope::traces
