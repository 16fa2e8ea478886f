// SPDX-License-Identifier: GPL-3.0-or-later
#include "writing/storage.h"

#include <algorithm>
#include <system_error>

#include "storage/schema.h"
#include "writing/bind.h"

namespace draftscope::traces {
namespace {

// Rows that one statement inserts into the tables that grow fast: starting a statement costs as much as a
// row.
constexpr std::size_t rows_per_statement = 64;

template <typename Record>
std::string insert_sql(std::size_t rows) {
  const std::string_view verb = table_of<Record>.is_replaced ? "INSERT OR REPLACE" : "INSERT";
  const std::string columns = column_list<Record>();
  std::string places = "(?";
  for (const char c : columns)
    if (c == ',') places += ", ?";
  places += ")";
  std::string sql = fmt::format("{} INTO {} ({}) VALUES {}", verb, table_name<Record>, columns, places);
  for (std::size_t row = 1; row < rows; ++row) sql += ", " + places;
  return sql;
}

Result<void> remove_old(const std::filesystem::path& path, bool overwrite) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status)) {
    if (!overwrite) return fail("{}: exists already, and replacing it was not asked for", path.string());
    if (!std::filesystem::is_regular_file(status))
      return fail("{}: is not a regular file, so a trace can't replace it", path.string());
    if (!std::filesystem::remove(path, error))
      return fail("{}: can't be replaced: {}", path.string(), error.message());
  }
  // A log left behind by another file of that name would be taken for this one's.
  for (const char* const suffix : {"-wal", "-shm", "-journal"}) {
    std::filesystem::path beside = path;
    beside += suffix;
    std::filesystem::remove(beside, error);
  }
  return {};
}

}  // namespace

Storage::Storage(Database database, std::string name, Statements statements)
    : database_(std::move(database)), name_(std::move(name)), statements_(std::move(statements)) {}

Result<Storage> Storage::create(const std::filesystem::path& path, const Meta& meta, bool overwrite) {
  DRAFTSCOPE_TRY(remove_old(path, overwrite));
  const std::string name = path.string();
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle);
  if (code != SQLITE_OK) return fail("{}: can't be created: {}", name, sqlite_error(handle));
  // Write-ahead log: a crash at any instant leaves what was committed; NORMAL syncs at checkpoints only, and
  // the empty file before the switch is not worth waiting for the disk. The log is folded into the file every
  // 4,096 pages (16 MiB), which keeps it small against the recording.
  DRAFTSCOPE_TRY(
      execute(database.get(), name,
              fmt::format("PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
                          "PRAGMA wal_autocheckpoint=4096; PRAGMA temp_store=FILE;"
                          "BEGIN; PRAGMA application_id={}; PRAGMA user_version={}; {}",
                          application_id, current_schema_version, schema_sql())));
  DRAFTSCOPE_TRY_ASSIGN(Statements statements, prepare_statements(database.get(), name));
  Storage storage(std::move(database), name, std::move(statements));
  Batch first;
  first.meta.assign(meta.begin(), meta.end());
  first.meta.emplace_back("closed_cleanly", "0");
  for (const auto& [key, text] : first.meta) {
    DRAFTSCOPE_TRY(storage.write_meta(key, text));
  }
  DRAFTSCOPE_TRY(storage.step(storage.statements_.commit.get()));
  return storage;
}

Result<Storage::Statements> Storage::prepare_statements(sqlite3* database, const std::string& name) {
  Statements s;
  DRAFTSCOPE_TRY_ASSIGN(s.meta, prepare(database, name, "INSERT OR REPLACE INTO meta VALUES (?, ?)"));
  DRAFTSCOPE_TRY_ASSIGN(s.begin, prepare(database, name, "BEGIN"));
  DRAFTSCOPE_TRY_ASSIGN(s.commit, prepare(database, name, "COMMIT"));
  const auto prepare_table = [&]<typename Record>(const Table<Record>& table) -> Result<void> {
    auto& insertion = std::get<Insertion<Record>>(s.insertions);
    DRAFTSCOPE_TRY_ASSIGN(insertion.one, prepare(database, name, insert_sql<Record>(1)));
    if (table.intake == Intake::single) return {};
    DRAFTSCOPE_TRY_ASSIGN(insertion.many, prepare(database, name, insert_sql<Record>(rows_per_statement)));
    return {};
  };
  DRAFTSCOPE_TRY(try_each_table(prepare_table));
  return s;
}

Result<void> Storage::step(sqlite3_stmt* statement) {
  const int code = sqlite3_step(statement);
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement);
    return {};
  }
  auto error = fail("{}: {}", name_, sqlite_error(database_.get()));
  sqlite3_reset(statement);
  return error;
}

template <typename Record>
Result<void> Storage::insert(std::span<const Record> rows) {
  const auto& insertion = std::get<Insertion<Record>>(statements_.insertions);
  if (sqlite3_stmt* const many = insertion.many.get()) {
    for (; rows.size() >= rows_per_statement; rows = rows.subspan(rows_per_statement)) {
      Binder binder(many);
      for (const Record& row : rows.first(rows_per_statement)) visit_columns(row, binder);
      DRAFTSCOPE_TRY(step(many));
    }
  }
  for (const Record& row : rows) {
    visit_columns(row, Binder(insertion.one.get()));
    DRAFTSCOPE_TRY(step(insertion.one.get()));
  }
  return {};
}

Result<void> Storage::insert_kept(const Batch& batch) {
  for (const auto& [key, text] : batch.meta) {
    DRAFTSCOPE_TRY(write_meta(key, text));
  }
  return try_each_table([&]<typename Record>(const Table<Record>& table) -> Result<void> {
    if (table.intake == Intake::droppable) return {};
    return insert(std::span(batch.list<Record>()));
  });
}

void Storage::add_to_overview(const Batch& batch) {
  for_each_table([&]<typename Record>(const Table<Record>& /*table*/) {
    if constexpr (SummedUp<Record>)
      for (const Record& row : batch.list<Record>()) overview_.add(row);
  });
}

Result<void> Storage::write_rows(const Batch& batch, std::size_t rows_per_transaction,
                                 const std::function<void(std::size_t)>& committed) {
  DRAFTSCOPE_TRY(step(statements_.begin.get()));
  // All of a request's shadow tokens at once: what a crash leaves is complete or absent.
  DRAFTSCOPE_TRY(insert_kept(batch));
  add_to_overview(batch);
  std::size_t open_rows = batch.rows() - batch.droppable_rows();
  const auto insert_in_parts = [&]<typename Record>(const Table<Record>& table) -> Result<void> {
    if (table.intake != Intake::droppable) return {};
    for (std::span<const Record> rest(batch.list<Record>()); !rest.empty();) {
      if (open_rows >= rows_per_transaction) {
        DRAFTSCOPE_TRY(step(statements_.commit.get()));
        committed(open_rows);
        open_rows = 0;
        DRAFTSCOPE_TRY(step(statements_.begin.get()));
      }
      const std::size_t count = std::min(rest.size(), rows_per_transaction - open_rows);
      DRAFTSCOPE_TRY(insert(rest.first(count)));
      rest = rest.subspan(count);
      open_rows += count;
    }
    return {};
  };
  DRAFTSCOPE_TRY(try_each_table(insert_in_parts));
  DRAFTSCOPE_TRY(step(statements_.commit.get()));
  committed(open_rows);
  return {};
}

Result<void> Storage::write(const Batch& batch, std::size_t rows_per_transaction,
                            const std::function<void(std::size_t)>& committed) {
  auto result = write_rows(batch, rows_per_transaction, committed);
  // Nothing to say about a rollback that fails too: the first error is the one to report.
  if (!result && sqlite3_get_autocommit(database_.get()) == 0)
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  return result;
}

Result<void> Storage::detach_dropped_parents() {
  // A full queue drops rows wherever it happens to be full, so a kept row may refer to a dropped one.
  return execute(database_.get(), name_,
                 "UPDATE spans SET parent = NULL WHERE parent NOT IN (SELECT id FROM spans);"
                 "UPDATE kernels SET span = NULL WHERE span NOT IN (SELECT id FROM spans);");
}

Result<void> Storage::write_overview() {
  const std::optional<Overview> overview = overview_.finish();
  if (!overview) return {};
  DRAFTSCOPE_TRY(insert(std::span(overview->lanes)));
  DRAFTSCOPE_TRY(insert(std::span(overview->rounds)));
  DRAFTSCOPE_TRY(insert(std::span(overview->requests)));
  return write_meta(std::string(overview_key), std::to_string(overview->column_ns));
}

Result<void> Storage::write_meta(const std::string& key, const std::string& text) {
  Binder binder(statements_.meta.get());
  binder.value(key, key);
  binder.value(key, text);
  return step(statements_.meta.get());
}

Result<void> Storage::finish(const WriterCounts& counts) {
  sqlite3* const db = database_.get();
  DRAFTSCOPE_TRY(step(statements_.begin.get()));
  if (counts.dropped_spans > 0) DRAFTSCOPE_TRY(detach_dropped_parents());
  DRAFTSCOPE_TRY(execute(db, name_, std::string(index_sql()) + "ANALYZE;"));
  DRAFTSCOPE_TRY(write_overview());
  Batch last;
  last.meta = {{"dropped_spans", std::to_string(counts.dropped_spans)},
               {"dropped_kernels", std::to_string(counts.dropped_kernels)},
               {"dropped_counters", std::to_string(counts.dropped_counters)},
               {"closed_cleanly", "1"}};
  for (const auto& [key, text] : last.meta) {
    DRAFTSCOPE_TRY(write_meta(key, text));
  }
  DRAFTSCOPE_TRY(step(statements_.commit.get()));
  // One file to send around: no log beside it, and readers need no shared memory. Somebody who reads the file
  // right now keeps it in write-ahead mode, which loses nothing.
  auto single = execute(db, name_, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE;");
  if (!single && sqlite3_errcode(db) == SQLITE_BUSY) return {};
  return single;
}

void Storage::release() {
  statements_ = {};
  database_.reset();
}

}  // namespace draftscope::traces
