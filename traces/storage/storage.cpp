// SPDX-License-Identifier: GPL-3.0-or-later
#include "storage/storage.h"

#include <algorithm>
#include <system_error>

#include "storage/bind.h"
#include "storage/schema.h"

namespace draftscope::traces {
namespace {

// Rows that one statement inserts into the tables that grow fast: starting a statement costs as much as a
// row.
constexpr std::size_t rows_per_statement = 64;

template <typename Record>
std::string insert_sql(std::string_view verb = "INSERT", std::size_t rows = 1) {
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
  Statements s;
  sqlite3* const db = database.get();
  DRAFTSCOPE_TRY_ASSIGN(s.meta, prepare(db, name, "INSERT OR REPLACE INTO meta VALUES (?, ?)"));
  DRAFTSCOPE_TRY_ASSIGN(s.strings, prepare(db, name, insert_sql<StringRow>()));
  DRAFTSCOPE_TRY_ASSIGN(s.runs, prepare(db, name, insert_sql<Run>()));
  DRAFTSCOPE_TRY_ASSIGN(s.prompts, prepare(db, name, insert_sql<Prompt>()));
  DRAFTSCOPE_TRY_ASSIGN(s.requests, prepare(db, name, insert_sql<Request>("INSERT OR REPLACE")));
  DRAFTSCOPE_TRY_ASSIGN(s.layer_sets, prepare(db, name, insert_sql<LayerSet>()));
  DRAFTSCOPE_TRY_ASSIGN(s.rounds, prepare(db, name, insert_sql<Round>()));
  DRAFTSCOPE_TRY_ASSIGN(s.draft_tokens, prepare(db, name, insert_sql<DraftToken>()));
  DRAFTSCOPE_TRY_ASSIGN(s.decisions, prepare(db, name, insert_sql<Decision>()));
  DRAFTSCOPE_TRY_ASSIGN(s.shadow_tokens, prepare(db, name, insert_sql<ShadowToken>()));
  DRAFTSCOPE_TRY_ASSIGN(s.token_texts, prepare(db, name, insert_sql<TokenText>("INSERT OR REPLACE")));
  DRAFTSCOPE_TRY_ASSIGN(s.tracks, prepare(db, name, insert_sql<Track>()));
  DRAFTSCOPE_TRY_ASSIGN(s.spans, prepare(db, name, insert_sql<Span>()));
  DRAFTSCOPE_TRY_ASSIGN(s.kernels, prepare(db, name, insert_sql<Kernel>()));
  DRAFTSCOPE_TRY_ASSIGN(s.counters, prepare(db, name, insert_sql<Counter>()));
  DRAFTSCOPE_TRY_ASSIGN(s.many_shadow_tokens,
                        prepare(db, name, insert_sql<ShadowToken>("INSERT", rows_per_statement)));
  DRAFTSCOPE_TRY_ASSIGN(s.many_spans, prepare(db, name, insert_sql<Span>("INSERT", rows_per_statement)));
  DRAFTSCOPE_TRY_ASSIGN(s.many_kernels, prepare(db, name, insert_sql<Kernel>("INSERT", rows_per_statement)));
  DRAFTSCOPE_TRY_ASSIGN(s.many_counters,
                        prepare(db, name, insert_sql<Counter>("INSERT", rows_per_statement)));
  DRAFTSCOPE_TRY_ASSIGN(s.begin, prepare(db, name, "BEGIN"));
  DRAFTSCOPE_TRY_ASSIGN(s.commit, prepare(db, name, "COMMIT"));

  Storage storage(std::move(database), name, std::move(s));
  Batch first;
  first.meta.assign(meta.begin(), meta.end());
  first.meta.emplace_back("closed_cleanly", "0");
  for (const auto& [key, text] : first.meta) {
    DRAFTSCOPE_TRY(storage.write_meta(key, text));
  }
  DRAFTSCOPE_TRY(storage.step(storage.statements_.commit.get()));
  return storage;
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
Result<void> Storage::insert(sqlite3_stmt* statement, const std::vector<Record>& rows) {
  for (const Record& row : rows) {
    visit_columns(row, Binder(statement));
    DRAFTSCOPE_TRY(step(statement));
  }
  return {};
}

template <typename Record>
Result<void> Storage::insert_many(sqlite3_stmt* one, sqlite3_stmt* many, std::span<const Record> rows) {
  for (; rows.size() >= rows_per_statement; rows = rows.subspan(rows_per_statement)) {
    Binder binder(many);
    for (const Record& row : rows.first(rows_per_statement)) visit_columns(row, binder);
    DRAFTSCOPE_TRY(step(many));
  }
  for (const Record& row : rows) {
    visit_columns(row, Binder(one));
    DRAFTSCOPE_TRY(step(one));
  }
  return {};
}

Result<void> Storage::write_rows(const Batch& batch, std::size_t rows_per_transaction,
                                 const std::function<void(std::size_t)>& committed) {
  const Statements& s = statements_;
  DRAFTSCOPE_TRY(step(s.begin.get()));
  for (const auto& [key, text] : batch.meta) {
    DRAFTSCOPE_TRY(write_meta(key, text));
  }
  DRAFTSCOPE_TRY(insert(s.strings.get(), batch.strings));
  DRAFTSCOPE_TRY(insert(s.runs.get(), batch.runs));
  DRAFTSCOPE_TRY(insert(s.prompts.get(), batch.prompts));
  DRAFTSCOPE_TRY(insert(s.tracks.get(), batch.tracks));
  DRAFTSCOPE_TRY(insert(s.layer_sets.get(), batch.layer_sets));
  DRAFTSCOPE_TRY(insert(s.requests.get(), batch.requests));
  DRAFTSCOPE_TRY(insert(s.rounds.get(), batch.rounds));
  DRAFTSCOPE_TRY(insert(s.draft_tokens.get(), batch.draft_tokens));
  DRAFTSCOPE_TRY(insert(s.decisions.get(), batch.decisions));
  // All of a request's at once: what a crash leaves is complete or absent.
  DRAFTSCOPE_TRY(
      insert_many(s.shadow_tokens.get(), s.many_shadow_tokens.get(), std::span(batch.shadow_tokens)));

  DRAFTSCOPE_TRY(insert(s.token_texts.get(), batch.token_texts));
  for (const LayerSet& row : batch.layer_sets) overview_.add(row);
  for (const Request& row : batch.requests) overview_.add(row);
  for (const Round& row : batch.rounds) overview_.add(row);
  for (const Decision& row : batch.decisions) overview_.add(row);
  for (const Span& row : batch.spans) overview_.add(row);
  for (const Kernel& row : batch.kernels) overview_.add(row);

  std::size_t open_rows = batch.rows() - batch.droppable_rows();
  const auto insert_in_parts = [&](sqlite3_stmt* one, sqlite3_stmt* many, const auto& rows) -> Result<void> {
    for (std::span rest(rows); !rest.empty();) {
      if (open_rows >= rows_per_transaction) {
        DRAFTSCOPE_TRY(step(s.commit.get()));
        committed(open_rows);
        open_rows = 0;
        DRAFTSCOPE_TRY(step(s.begin.get()));
      }
      const std::size_t count = std::min(rest.size(), rows_per_transaction - open_rows);
      DRAFTSCOPE_TRY(insert_many(one, many, rest.first(count)));
      rest = rest.subspan(count);
      open_rows += count;
    }
    return {};
  };
  DRAFTSCOPE_TRY(insert_in_parts(s.spans.get(), s.many_spans.get(), batch.spans));
  DRAFTSCOPE_TRY(insert_in_parts(s.kernels.get(), s.many_kernels.get(), batch.kernels));
  DRAFTSCOPE_TRY(insert_in_parts(s.counters.get(), s.many_counters.get(), batch.counters));
  DRAFTSCOPE_TRY(step(s.commit.get()));
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
  sqlite3* const db = database_.get();
  DRAFTSCOPE_TRY_ASSIGN(const Statement lane, prepare(db, name_, insert_sql<LaneColumn>()));
  DRAFTSCOPE_TRY_ASSIGN(const Statement round, prepare(db, name_, insert_sql<RoundColumn>()));
  DRAFTSCOPE_TRY_ASSIGN(const Statement request, prepare(db, name_, insert_sql<RequestSum>()));
  DRAFTSCOPE_TRY(insert(lane.get(), overview->lanes));
  DRAFTSCOPE_TRY(insert(round.get(), overview->rounds));
  DRAFTSCOPE_TRY(insert(request.get(), overview->requests));
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
