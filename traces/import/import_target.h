// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The trace that an import writes, whole or not at all, with what it counts and what the source lacks.

#include <draftscope/base/result.h>
#include <draftscope/traces/import.h>
#include <draftscope/traces/writer.h>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "foreign/foreign_writer.h"
#include "writing/paced_trace.h"

namespace draftscope::traces {

class ImportTarget {
 public:
  [[nodiscard]] static Result<ImportTarget> create(const std::filesystem::path& target, bool overwrite);

  /// The writer, for the rows that are few: runs, prompts, tracks, names, meta.
  [[nodiscard]] Writer& writer() { return trace_.writer(); }

  void add(const Request& request);
  void add(const Round& round, std::span<const DraftToken> draft_tokens);
  void add(const Span& span);
  void add(const Kernel& kernel);
  void add(const Counter& counter);

  /// Rows that a ForeignWriter gave the writer; waits while the disk is behind.
  void took(std::int64_t rows);
  /// Counts of all that a ForeignWriter wrote, and the data that it found missing.
  void took(const ForeignWriter& rows);

  /// Keeps that something is not there, for `meta`.
  void note(MissingData missing) { missing_.insert(missing); }

  [[nodiscard]] bool failed() { return writer().failed(); }
  [[nodiscard]] const ImportSummary& counts() const { return counts_; }
  void count_run() { ++counts_.runs; }

  /// Writes what is left, and puts the file in its place.
  [[nodiscard]] Result<ImportSummary> commit();

 private:
  explicit ImportTarget(PacedTrace trace) : trace_(std::move(trace)) {}

  PacedTrace trace_;
  std::set<MissingData> missing_;
  ImportSummary counts_;
};

}  // namespace draftscope::traces
