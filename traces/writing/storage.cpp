// SPDX-License-Identifier: GPL-3.0-or-later
#include "writing/storage.h"

#include <draftscope/base/atomic_file.h>

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "storage/database.h"
#include "storage/schema.h"
#include "writing/bind.h"
#include "writing/target.h"

namespace draftscope::traces {
namespace {

// Rows per INSERT statement into the tables that grow fast, because starting a statement costs as much as a
// row.
constexpr std::size_t rows_per_statement = 64;

constexpr std::string_view meta_sql = "INSERT OR REPLACE INTO meta VALUES (?, ?)";

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

/// A whole trace without rows, as the bytes of its file.
Result<std::string> empty_trace(const std::string& name, const Meta& meta) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(":memory:", &handle,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  const Database database(handle);
  if (code != SQLITE_OK) return fail("{}: can't be created: {}", name, sqlite_error(handle));
  DRAFTSCOPE_TRY(execute(handle, name,
                         fmt::format("BEGIN; PRAGMA application_id={}; PRAGMA user_version={}; {} COMMIT;",
                                     application_id, current_schema_version, schema_sql())));
  DRAFTSCOPE_TRY_ASSIGN(const Statement insertion, prepare(handle, name, meta_sql));
  Meta first = meta;
  first["closed_cleanly"] = "0";
  for (const auto& [key, text] : first) {
    Binder binder(insertion.get());
    binder.value(key, key);
    binder.value(key, text);
    if (sqlite3_step(insertion.get()) != SQLITE_DONE) return fail("{}: {}", name, sqlite_error(handle));
    sqlite3_reset(insertion.get());
  }
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(
      sqlite3_serialize(handle, "main", &size, 0), sqlite3_free);
  if (bytes == nullptr) return fail("{}: can't be created: out of memory", name);
  std::string file(static_cast<std::size_t>(size), '\0');
  std::memcpy(file.data(), bytes.get(), file.size());
  // These are the file format's read and write versions, set to the use of a write-ahead log.
  file[18] = file[19] = 2;
  return file;
}

/// Opens the new file with its write-ahead log: a crash at any instant leaves everything committed. NORMAL
/// syncs only at checkpoints. The log is merged into the file every 4,096 pages (16 MiB), which keeps it
/// small compared to the recording.
Result<Database> open_with_log(const std::filesystem::path& path) {
  const std::string name = path.string();
  sqlite3* handle = nullptr;
  // An absolute path has no special meaning for SQLite, whatever its name.
  const int code = sqlite3_open_v2(std::filesystem::absolute(path).c_str(), &handle,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle);
  if (code != SQLITE_OK) return fail("{}: can't be created: {}", name, sqlite_error(handle));
  DRAFTSCOPE_TRY(execute(handle, name,
                         "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=4096;"
                         "PRAGMA temp_store=FILE; PRAGMA mmap_size=0;"));
  DRAFTSCOPE_TRY_ASSIGN(const std::string mode, query_text(handle, name, "PRAGMA journal_mode=WAL"));
  if (mode != "wal")
    return fail("{}: can't have a write-ahead log there (journal mode is {}, expected wal)", name, mode);
  return database;
}

}  // namespace

Storage::Storage(PlacedFile placed, Database database, std::string name, Statements statements)
    : placed_(std::move(placed)),
      database_(std::move(database)),
      name_(std::move(name)),
      statements_(std::move(statements)) {}

Result<Storage> Storage::create(const std::filesystem::path& path, const Meta& meta, bool overwrite) {
  DRAFTSCOPE_TRY_ASSIGN(const bool replaces, look_at_target(path, overwrite));
  const std::string name = path.string();
  DRAFTSCOPE_TRY_ASSIGN(const std::string bytes, empty_trace(name, meta));
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(path));
  file.write(bytes);
  DRAFTSCOPE_TRY(file.sync());
  // The new file is complete and can be moved to its target.
  DRAFTSCOPE_TRY(fold_log_of_old(path));
  DRAFTSCOPE_TRY_ASSIGN(PlacedFile placed, PlacedFile::put(std::move(file), path, replaces));
  DRAFTSCOPE_TRY_ASSIGN(Database database, open_with_log(path));
  DRAFTSCOPE_TRY_ASSIGN(Statements statements, prepare_statements(database.get(), name));
  Storage storage(std::move(placed), std::move(database), name, std::move(statements));
  DRAFTSCOPE_TRY(storage.check_place());
  return storage;
}

Result<Storage::Statements> Storage::prepare_statements(sqlite3* database, const std::string& name) {
  Statements s;
  DRAFTSCOPE_TRY_ASSIGN(s.meta, prepare(database, name, meta_sql));
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

/// Checks that the file is still at its path. If somebody replaced or moved it, the connection would write to
/// a file that nobody can find, and to a log with the name of another file.
Result<void> Storage::check_place() const {
  if (placed_.is_in_place()) return {};
  return fail("{}: was moved, replaced or removed while it was recorded, expected it to stay", name_);
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

Result<void> Storage::write_rows(const Batch& batch, std::size_t rows_per_transaction,
                                 const std::function<void(std::size_t)>& committed) {
  DRAFTSCOPE_TRY(step(statements_.begin.get()));
  // All of a request's shadow tokens are inserted together, so that after a crash they are complete or
  // absent.
  for (const auto& [key, text] : batch.meta) {
    DRAFTSCOPE_TRY(write_meta(key, text));
  }
  DRAFTSCOPE_TRY(try_each_table([&]<typename Record>(const Table<Record>& table) -> Result<void> {
    if constexpr (SummedUp<Record>)
      for (const Record& row : batch.list<Record>()) overview_.add(row);
    if (table.intake == Intake::droppable) return {};
    return insert(std::span(batch.list<Record>()));
  }));
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
  DRAFTSCOPE_TRY(check_place());
  auto result = write_rows(batch, rows_per_transaction, committed);
  // A rollback that fails too is ignored, since the first error is the one to report.
  if (!result && sqlite3_get_autocommit(database_.get()) == 0)
    sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  if (!result) DRAFTSCOPE_TRY(check_place());
  return result;
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

Result<void> Storage::finish(const WriterCounts& counts, bool is_whole) {
  DRAFTSCOPE_TRY(check_place());
  auto result = finish_file(counts, is_whole);
  if (!result) DRAFTSCOPE_TRY(check_place());
  return result;
}

Result<void> Storage::finish_file(const WriterCounts& counts, bool is_whole) {
  sqlite3* const db = database_.get();
  DRAFTSCOPE_TRY(step(statements_.begin.get()));
  // A full queue drops rows at any place, so a kept row may refer to a dropped one.
  if (counts.dropped_spans > 0)
    DRAFTSCOPE_TRY(execute(db, name_,
                           "UPDATE spans SET parent = NULL WHERE parent NOT IN (SELECT id FROM spans);"
                           "UPDATE kernels SET span = NULL WHERE span NOT IN (SELECT id FROM spans);"));
  DRAFTSCOPE_TRY(execute(db, name_, closing_sql()));
  DRAFTSCOPE_TRY(write_overview());
  const Meta last{{"dropped_spans", std::to_string(counts.dropped_spans)},
                  {"dropped_kernels", std::to_string(counts.dropped_kernels)},
                  {"dropped_counters", std::to_string(counts.dropped_counters)},
                  {"closed_cleanly", is_whole ? "1" : "0"}};
  for (const auto& [key, text] : last) {
    DRAFTSCOPE_TRY(write_meta(key, text));
  }
  DRAFTSCOPE_TRY(step(statements_.commit.get()));
  DRAFTSCOPE_TRY(check_place());
  // The result is one file without a log, easy to send around, and readers need no shared memory. A
  // simultaneous reader keeps it in write-ahead mode, which loses nothing.
  auto single = execute(db, name_, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE;");
  if (!single && sqlite3_errcode(db) == SQLITE_BUSY) return {};
  // SQLite does not check whether the log could be removed.
  if (single) ::unlink(side_file(name_, "-wal").c_str());
  return single;
}

void Storage::release() {
  statements_ = {};
  database_.reset();
}

PlacedFile::PlacedFile(std::filesystem::path target, std::filesystem::path old, dev_t device, ino_t inode)
    : target_(std::move(target)), old_(std::move(old)), device_(device), inode_(inode) {}

PlacedFile::PlacedFile(PlacedFile&& other) noexcept
    : target_(std::move(other.target_)),
      old_(std::move(other.old_)),
      device_(other.device_),
      inode_(other.inode_),
      is_kept_(std::exchange(other.is_kept_, true)) {}

Result<PlacedFile> PlacedFile::put(AtomicFile file, const std::filesystem::path& target, bool replaces) {
  struct stat status {};
  if (::stat(file.temporary().c_str(), &status) != 0)
    return fail("{}: can't be created: {}", target.string(), std::strerror(errno));
  PlacedFile placed(std::filesystem::absolute(target), {}, status.st_dev, status.st_ino);
  if (replaces) {
    std::filesystem::path old = placed.target_;
    old += fmt::format(".{}.replaced", ::getpid());
    ::unlink(old.c_str());  // A crash left it, as no other process has this one's number.
    if (::link(placed.target_.c_str(), old.c_str()) == 0) placed.old_ = std::move(old);
  }
  DRAFTSCOPE_TRY(file.commit(replaces ? Replacing::allowed : Replacing::refused));
  return placed;
}

PlacedFile::~PlacedFile() {
  if (is_kept_) return;
  if (is_in_place()) {
    remove_side_files(target_);
    if (old_.empty())
      ::unlink(target_.c_str());
    else
      ::rename(old_.c_str(), target_.c_str());
  } else {
    keep();  // another program's file is there now
  }
}

void PlacedFile::keep() {
  is_kept_ = true;
  if (!old_.empty()) ::unlink(old_.c_str());
}

bool PlacedFile::is_in_place() const {
  struct stat status {};
  return ::stat(target_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

}  // namespace draftscope::traces
