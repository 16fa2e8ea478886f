// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The database of a Writer: creates it, commits batches, closes it. Used by one thread at a time.

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/result.h>
#include <draftscope/traces/writer.h>

#include <sys/types.h>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "storage/database.h"
#include "storage/overview_builder.h"
#include "writing/batch.h"

namespace draftscope::traces {

/// A new trace in the place of an old one, which is restored unless the new one is kept.
class PlacedFile {
 public:
  /// Moves the file to its target. If there is an old one and the file system has hard links, the old one
  /// stays under another name until keep(). Errors: there is a file that was not there before; the file can't
  /// be moved there.
  [[nodiscard]] static Result<PlacedFile> put(AtomicFile file, const std::filesystem::path& target,
                                              bool replaces);
  PlacedFile(PlacedFile&& other) noexcept;
  PlacedFile& operator=(PlacedFile&&) = delete;
  ~PlacedFile();  ///< Without keep() it restores the state before.

  void keep();

  /// Whether the file of that name is still the new one.
  [[nodiscard]] bool is_in_place() const;

 private:
  PlacedFile(std::filesystem::path target, std::filesystem::path old, dev_t device, ino_t inode);

  std::filesystem::path target_;  // absolute
  std::filesystem::path old_;     // the old file's other name; empty if there is none
  dev_t device_;
  ino_t inode_;
  bool is_kept_ = false;
};

class Storage {
 public:
  /// Creates the database. An old file stays until the new one is complete, and is restored unless keep()
  /// follows.
  [[nodiscard]] static Result<Storage> create(const std::filesystem::path& path, const Meta& meta,
                                              bool overwrite);
  void keep() { placed_.keep(); }

  /// Commits the batch: everything that is never dropped in one transaction together with the first spans,
  /// and the rest of the droppable rows in further ones of at most `rows_per_transaction`. `committed` is
  /// called with the number of rows of each commit.
  [[nodiscard]] Result<void> write(const Batch& batch, std::size_t rows_per_transaction,
                                   const std::function<void(std::size_t)>& committed);

  /// Adds indexes, statistics, overview and counts, and leaves a single file. `is_whole`: every request
  /// ended.
  [[nodiscard]] Result<void> finish(const WriterCounts& counts, bool is_whole);

  /// The path, for messages.
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Closes the file; no other call may follow.
  void release();

 private:
  /// INSERT statements of one table.
  template <typename Record>
  struct Insertion {
    Statement one;
    Statement many;  ///< Inserts many rows at a time; none for tables that get few.
  };
  struct Statements {
    Statement meta, begin, commit;
    PerTable<Insertion> insertions;
  };
  Storage(PlacedFile placed, Database database, std::string name, Statements statements);

  [[nodiscard]] Result<void> step(sqlite3_stmt* statement);
  [[nodiscard]] Result<void> check_place() const;
  [[nodiscard]] static Result<Statements> prepare_statements(sqlite3* database, const std::string& name);
  [[nodiscard]] Result<void> write_rows(const Batch& batch, std::size_t rows_per_transaction,
                                        const std::function<void(std::size_t)>& committed);
  template <typename Record>
  [[nodiscard]] Result<void> insert(std::span<const Record> rows);
  [[nodiscard]] Result<void> write_overview();
  [[nodiscard]] Result<void> write_meta(const std::string& key, const std::string& text);

  [[nodiscard]] Result<void> finish_file(const WriterCounts& counts, bool is_whole);

  PlacedFile placed_;  // before the connection, which is closed first
  Database database_;
  std::string name_;
  Statements statements_;
  OverviewBuilder overview_;
};

}  // namespace draftscope::traces
