// SPDX-License-Identifier: GPL-3.0-or-later
#include "reading/validate.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <nlohmann/json.hpp>
#include <string>

#include <draftscope/base/json_size.h>

#include "reading/scan.h"

namespace draftscope::traces {
namespace {

bool is_json_object(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && text[begin] == '{' && nlohmann::json::accept(text);
}

/// A SQL function of a text.
template <bool (*is)(std::string_view)>
void answer(sqlite3_context* context, int /*arguments*/, sqlite3_value** values) noexcept {
  if (sqlite3_value_type(*values) != SQLITE_TEXT) return sqlite3_result_int(context, 0);
  const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(*values));
  if (text == nullptr) return sqlite3_result_error_nomem(context);
  try {
    const auto size = static_cast<std::size_t>(sqlite3_value_bytes(*values));
    sqlite3_result_int(context, is({text, size}) ? 1 : 0);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

/// Adds the SQL functions is_json_object(text) and is_shallow_json(text), for rules; false = the connection
/// could not take them. SQLite's own json_valid() calls a text invalid when it has no memory to check it, so
/// that a sound file would be reported as broken. These functions fail instead.
bool add_text_functions(sqlite3* database) {
  const auto add = [database](const char* name, auto* function) {
    return sqlite3_create_function_v2(database, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr,
                                      function, nullptr, nullptr, nullptr) == SQLITE_OK;
  };
  return add("is_json_object", answer<is_json_object>) && add("is_shallow_json", answer<is_shallow_json>);
}

/// Whether the line reports a page that the disk or memory did not provide. The integrity check takes that
/// for a finding, too: "Tree 3 page 7: unable to get the page. error code=266", "failed to get page 7".
bool is_unread_page(std::string_view line) {
  constexpr std::string_view code_words = "unable to get the page. error code=";
  const std::size_t at = line.find(code_words);
  if (at == std::string_view::npos) return line.find("failed to get page ") != std::string_view::npos;
  int code = 0;
  const std::string_view digits = line.substr(at + code_words.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), code);
  return (code & 0xff) != SQLITE_CORRUPT;
}

/// The error for a failure that says nothing about the file.
tl::unexpected<Error> cant_be_checked(const OpenTrace& trace, std::string_view table,
                                      std::string_view words) {
  // The file is open for reading only, so only temporary files can fill a disk.
  const int code = sqlite3_extended_errcode(trace.database.get());
  const bool is_temporary = code == SQLITE_FULL || code == SQLITE_IOERR_WRITE ||
                            code == SQLITE_IOERR_GETTEMPPATH || (code & 0xff) == SQLITE_CANTOPEN;
  return fail("{}: can't be checked: table {}: {}{}", trace.path.string(), table, words,
              is_temporary ? "; temporary files need room (SQLITE_TMPDIR names their folder)" : "");
}

class Findings {
 public:
  Findings(OpenTrace& trace, std::size_t most) : trace_(trace), max_(most) {}

  [[nodiscard]] bool full() const { return found_.size() >= max_; }
  std::vector<Violation> take() { return std::move(found_); }

  void add(std::string_view table, std::int64_t row, std::string rule) {
    if (!full()) found_.push_back({std::string(table), row, std::move(rule)});
  }

  /// Adds every (row, message) that a query gives; a query that fails because of the file is itself a
  /// finding.
  Result<void> add_rows(std::string_view table, std::string_view sql) {
    if (full()) return {};
    sqlite3* const database = trace_.database.get();
    trace_.budget->steps_left = trace_.budget->steps;
    const auto statement = prepare(database, std::string(table), sql);
    if (!statement) return add_failure(table);
    int code = SQLITE_DONE;
    while (!full() && (code = sqlite3_step(statement->get())) == SQLITE_ROW)
      DRAFTSCOPE_TRY(
          add_lines(table, sqlite3_column_int64(statement->get(), 0), column_bytes(statement->get(), 1)));
    if (!full() && code != SQLITE_DONE) return add_failure(table);
    return {};
  }

  /// Checks types, ranges, enumerations and blob lengths, as reading does field by field.
  template <typename Record>
  Result<void> add_unfit_rows() {
    if (full()) return {};
    const auto scanned = scan<Record>(
        trace_, "", "", [](const Record& /*row*/) { return true; },
        [&](std::int64_t row, const std::string& words) {
          add(table_name<Record>, row, words);
          return !full();
        });
    return scanned ? Result<void>() : add_failure(table_name<Record>);
  }

 private:
  Result<void> add_failure(std::string_view table) {
    DRAFTSCOPE_TRY_ASSIGN(std::string words, damage_found(trace_, table));
    add(table, 0, std::move(words));
    return {};
  }

  /// Adds findings. SQLite's integrity check may give many in one row, one line each below a heading in
  /// asterisks.
  Result<void> add_lines(std::string_view table, std::int64_t row, std::string_view words) {
    while (!words.empty() && !full()) {
      const std::string_view line = words.substr(0, words.find('\n'));
      words.remove_prefix(std::min(line.size() + 1, words.size()));
      if (is_unread_page(line)) return cant_be_checked(trace_, table, line);
      if (!line.empty() && !line.starts_with("***")) add(table, row, std::string(line));
    }
    return {};
  }

  OpenTrace& trace_;
  std::size_t max_;
  std::vector<Violation> found_;
};

}  // namespace

Result<std::string> damage_found(const OpenTrace& trace, std::string_view table) {
  DRAFTSCOPE_TRY(check_unchanged(trace));
  sqlite3* const database = trace.database.get();
  const bool is_stopped = trace.budget->stopped != nullptr && trace.budget->stopped->load();
  // The work limit follows from the file's size.
  if (sqlite3_errcode(database) == SQLITE_INTERRUPT && !is_stopped)
    return std::string("reading it takes more than a sound file of that size can need");
  if (is_damage(database)) return sqlite_error(database);
  return cant_be_checked(trace, table, sqlite_error(database));
}

Result<std::vector<Violation>> find_violations(OpenTrace& trace, std::size_t most) {
  if (!add_text_functions(trace.database.get()))
    return fail("{}: {}", trace.path.string(), sqlite_error(trace.database.get()));
  Findings findings(trace, most);
  // The pragma has no argument, because newer versions of SQLite take a number passed as text for a table's
  // name.
  DRAFTSCOPE_TRY(
      findings.add_rows("file", fmt::format("SELECT 0, integrity_check FROM pragma_integrity_check "
                                            "WHERE integrity_check <> 'ok' LIMIT {}",
                                            std::max<std::size_t>(most, 1))));
  DRAFTSCOPE_TRY(try_each_table(
      [&]<typename Record>(const Table<Record>& /*table*/) { return findings.add_unfit_rows<Record>(); }));
  const auto closed = query_integer(trace.database.get(), trace.path.string(),
                                    "SELECT count(*) FROM meta WHERE key = 'closed_cleanly' AND value = '1'");
  // The first rule that reads a damaged table reports the damage.
  if (!closed) DRAFTSCOPE_TRY(damage_found(trace, "meta"));
  for (const Rule& rule : rules(closed && *closed == 1))
    DRAFTSCOPE_TRY(findings.add_rows(rule.table, rule.sql));
  if (!findings.full()) {
    DRAFTSCOPE_TRY_ASSIGN(std::vector<Violation> differences, overview_differences(trace));
    for (Violation& difference : differences)
      findings.add(difference.table, difference.row, std::move(difference.rule));
  }
  DRAFTSCOPE_TRY(check_unchanged(trace));
  return findings.take();
}

}  // namespace draftscope::traces
