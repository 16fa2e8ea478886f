// SPDX-License-Identifier: GPL-3.0-or-later
#include "validation/validate.h"

#include <algorithm>
#include <string>

#include "overview/overview_rule.h"
#include "reading/scan.h"
#include "validation/rules.h"

namespace draftscope::traces {
namespace {

class Findings {
 public:
  Findings(OpenTrace& trace, std::size_t most) : trace_(trace), max_(most) {}

  [[nodiscard]] bool full() const { return found_.size() >= max_; }
  std::vector<Violation> take() { return std::move(found_); }

  void add(std::string_view table, std::int64_t row, std::string rule) {
    if (!full()) found_.push_back({std::string(table), row, std::move(rule)});
  }

  /// Every (row, words) that a query gives; a query that fails is itself a finding.
  void add_rows(std::string_view table, std::string_view sql) {
    if (full()) return;
    sqlite3* const database = trace_.database.get();
    trace_.budget->steps_left = trace_.budget->steps;
    const auto statement = prepare(database, std::string(table), sql);
    if (!statement) {
      add(table, 0, statement.error().message);
      return;
    }
    int code = SQLITE_DONE;
    while (!full() && (code = sqlite3_step(statement->get())) == SQLITE_ROW)
      add_lines(table, sqlite3_column_int64(statement->get(), 0), column_bytes(statement->get(), 1));
    if (!full() && code != SQLITE_DONE) add(table, 0, sqlite_error(database));
  }

  /// Types, ranges, enumerations and blob lengths: what reading checks field by field.
  template <typename Record>
  void add_unfit_rows() {
    if (full()) return;
    const auto scanned = scan<Record>(
        trace_, "", "", [](const Record& /*row*/) { return true; },
        [&](std::int64_t row, const std::string& words) {
          add(table_name<Record>, row, words);
          return !full();
        });
    if (!scanned) add(table_name<Record>, 0, scanned.error().message);
  }

 private:
  /// SQLite's integrity check may give many findings in one row, a line each below a heading in asterisks.
  void add_lines(std::string_view table, std::int64_t row, std::string_view words) {
    while (!words.empty() && !full()) {
      const std::string_view line = words.substr(0, words.find('\n'));
      words.remove_prefix(std::min(line.size() + 1, words.size()));
      if (!line.empty() && !line.starts_with("***")) add(table, row, std::string(line));
    }
  }

  OpenTrace& trace_;
  std::size_t max_;
  std::vector<Violation> found_;
};

}  // namespace

Result<std::vector<Violation>> find_violations(OpenTrace& trace, std::size_t most) {
  Findings findings(trace, most);
  // Without an argument: newer versions of SQLite take a number that arrives as text for a table's name.
  findings.add_rows("file", fmt::format("SELECT 0, integrity_check FROM pragma_integrity_check "
                                        "WHERE integrity_check <> 'ok' LIMIT {}",
                                        std::max<std::size_t>(most, 1)));
  for_each_table([&]<typename Record>(const Table<Record>& /*table*/) { findings.add_unfit_rows<Record>(); });
  const auto closed = query_integer(trace.database.get(), trace.path.string(),
                                    "SELECT count(*) FROM meta WHERE key = 'closed_cleanly' AND value = '1'");
  for (const Rule& rule : rules(trace.schema_version, closed && *closed == 1))
    findings.add_rows(rule.table, rule.sql);
  if (has_table(trace.schema_version, table_name<LaneColumn>) && !findings.full())
    for (Violation& difference : overview_differences(trace))
      findings.add(difference.table, difference.row, std::move(difference.rule));
  return findings.take();
}

}  // namespace draftscope::traces
