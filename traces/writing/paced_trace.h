// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A trace made from other data, whole or not at all, with more rows than memory can hold: adding rows waits
// until the disk has caught up. It counts its rows and collects the names of missing data.

#include <draftscope/base/result.h>
#include <draftscope/traces/atomic_trace.h>
#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/writer.h>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace draftscope::traces {

struct RowCounts {
  std::int64_t runs = 0;  ///< Counted by the caller.
  std::int64_t requests = 0;
  std::int64_t rounds = 0;
  std::int64_t spans = 0;
  std::int64_t kernels = 0;
};

class PacedTrace {
 public:
  [[nodiscard]] static Result<PacedTrace> create(const std::filesystem::path& target, bool overwrite);

  /// The writer, for ids and for the few runs, prompts, tracks, names and meta.
  [[nodiscard]] Writer& writer() { return trace_.writer(); }

  // The functions below take rows with an id from the writer.
  void add(const Request& request);
  void add(const Round& round, std::span<const DraftToken> draft_tokens);
  void add(const Span& span);
  void add(const Kernel& kernel);

  void add(const Counter& counter);
  void add(const Decision& decision);
  /// Adds all of a request's shadow tokens.
  void add(std::span<const ShadowToken> shadow_tokens);

  /// Counts rows that the caller gave the writer directly, and waits until the disk has caught up.
  void took(std::int64_t rows);

  /// Rows added so far. Callers count runs, and rows that they gave the writer directly.
  [[nodiscard]] RowCounts& counts() { return counts_; }

  /// Notes that the source lacks something.
  void note(MissingData missing) { missing_.insert(missing); }
  [[nodiscard]] std::set<MissingData>& missing() { return missing_; }

  /// Adds a sentence about what was passed over or changed in the source.
  void remark(std::string sentence) { remarks_.push_back(std::move(sentence)); }
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

  /// Writes the remaining rows, and moves the file to its target.
  [[nodiscard]] Result<void> commit();

 private:
  explicit PacedTrace(AtomicTrace trace) : trace_(std::move(trace)) {}
  template <typename Record>
  void add_to(std::vector<Record>& batch, const Record& row);
  template <typename Record>
  void flush(std::vector<Record>& batch);

  AtomicTrace trace_;
  std::vector<Span> spans_;
  std::vector<Kernel> kernels_;
  std::vector<Counter> counters_;
  std::int64_t added_rows_ = 0;
  RowCounts counts_;
  std::set<MissingData> missing_;
  std::vector<std::string> remarks_;
};

}  // namespace draftscope::traces
