// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Streams the checked rows of one table.

#include <string>

#include "reading/fetch.h"
#include "reading/open.h"
#include "storage/tables.h"

namespace draftscope::traces {

/// Rows of Record that `where` names ("" = all), ordered by `order` ("" = as stored) until `visit` returns
/// false. `unfit` hears of a row whose fields are not as expected (its first column and the problem in
/// words), which `visit` then does not see.
template <typename Record, typename Visit, typename Unfit>
Result<void> scan(OpenTrace& trace, std::string_view where, std::string_view order, Visit visit,
                  Unfit unfit) {
  const std::string name = trace.path.string();
  const std::string sql =
      fmt::format("SELECT {} FROM {}{}{}{}{}", column_list<Record>(trace.schema_version), table_name<Record>,
                  where.empty() ? "" : " WHERE ", where, order.empty() ? "" : " ORDER BY ", order);
  trace.budget->steps_left = trace.budget->steps;
  DRAFTSCOPE_TRY_ASSIGN(const Statement statement, prepare(trace.database.get(), name, sql));
  Record row{};
  while (true) {
    const int code = sqlite3_step(statement.get());
    if (code == SQLITE_DONE) return check_unchanged(trace);
    if (code != SQLITE_ROW) {
      auto problem = fail("{}: table {}: {}", name, table_name<Record>, sqlite_error(trace.database.get()));
      DRAFTSCOPE_TRY(check_unchanged(trace));
      return problem;
    }
    Fetcher fetcher(statement.get());
    visit_columns(row, fetcher);
    const bool fit = fetcher.problem().empty();
    if (!(fit ? visit(row) : unfit(sqlite3_column_int64(statement.get(), 0), fetcher.problem()))) return {};
  }
}

/// Streams rows as above; the first row that is not as expected is the error.
template <typename Record, typename Visit>
Result<void> scan(OpenTrace& trace, std::string_view where, std::string_view order, Visit visit) {
  Result<void> problem;
  DRAFTSCOPE_TRY(scan<Record>(trace, where, order, visit, [&](std::int64_t row, const std::string& words) {
    problem = fail("{}: {} row {}: {}", trace.path.string(), table_name<Record>, row, words);
    return false;
  }));
  return problem;
}

}  // namespace draftscope::traces
