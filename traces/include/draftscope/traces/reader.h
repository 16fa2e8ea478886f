// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads a trace, whole or in parts. The file is untrusted input: ranges, sizes and references are checked,
// and memory is bounded by the file's size.
//
// Thread-safety: a Reader belongs to one thread; open several for several threads. Each sees the recording as
// it was when it was opened.

#include <draftscope/base/result.h>
#include <draftscope/traces/overview.h>
#include <draftscope/traces/records.h>
#include <draftscope/traces/writer.h>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace draftscope::traces {

/// All rows but decisions, shadow tokens, token texts, spans, kernels and counters. They are small enough to
/// keep in memory (about 200 bytes per round).
struct Recording {
  std::filesystem::path path;
  Meta meta;
  bool closed_cleanly = false;
  std::vector<Run> runs;
  std::vector<Prompt> prompts;
  std::vector<Request> requests;  ///< Ordered by start_ns.
  std::vector<LayerSet> layer_sets;
  std::vector<Round> rounds;             ///< Ordered by (request, index).
  std::vector<DraftToken> draft_tokens;  ///< Ordered by (round, index).
  std::vector<Track> tracks;
};

/// Newest schema whose tables and columns are all known. In files of a newer one, the known part is read.
[[nodiscard]] int newest_schema_version();

/// Ids from `first` to `last`, both included.
struct IdRange {
  std::int64_t first = 1;
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

struct TableCount {
  std::string table;
  std::int64_t rows = 0;
};

/// One broken rule: "rounds row 17: accepted is 9, expected at most drafted (6)".
struct Violation {
  std::string table;
  std::int64_t row = 0;
  std::string rule;
};

class Reader {
 public:
  /// Opens read-only; never modifies the file. A file left by a crash is read with its write-ahead log. Of a
  /// recording in progress, the reader sees everything that was committed before opening, and nothing later.
  /// Fails with one line if the file is not a trace, lacks a table or column of its schema, or is damaged.
  /// The file stays open even if another takes its place; if it is itself changed or cut short, the current
  /// read fails.
  [[nodiscard]] static Result<Reader> open(const std::filesystem::path& path);
  /// Opens like the overload above. Once `stopped` is true, the current read or query fails soon after.
  /// `stopped` must outlive the reader.
  [[nodiscard]] static Result<Reader> open(const std::filesystem::path& path,
                                           const std::atomic<bool>& stopped);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  [[nodiscard]] int schema_version() const;
  [[nodiscard]] Result<Recording> recording();
  /// The recording without its rounds and draft tokens, which is fast to read from any file.
  [[nodiscard]] Result<Recording> outline();
  /// The stored overview; none if the recording was not closed, or if no row had a duration.
  [[nodiscard]] Result<std::optional<Overview>> overview();
  [[nodiscard]] Result<std::unordered_map<StringId, std::string>> strings();
  /// Token texts by token id; a token without a stored text has no entry.
  [[nodiscard]] Result<std::unordered_map<std::int32_t, std::string>> token_texts();
  [[nodiscard]] Result<std::vector<TableCount>> row_counts();
  /// The highest id of each table with ids that grows with the recording. It is known at once, whereas
  /// counting visits all rows.
  [[nodiscard]] Result<std::vector<TableCount>> highest_ids();

  // The functions below stream rows until the callback returns false.

  /// Streams decisions in the order of start_ns.
  [[nodiscard]] Result<void> decisions(const std::function<bool(const Decision&)>& visit);
  /// Streams shadow tokens in the order of (request, layer, position).
  [[nodiscard]] Result<void> shadow_tokens(const std::function<bool(const ShadowToken&)>& visit);
  // The rows come in the order of (track, start_ns).
  [[nodiscard]] Result<void> spans(const std::function<bool(const Span&)>& visit);
  [[nodiscard]] Result<void> kernels(const std::function<bool(const Kernel&)>& visit);
  [[nodiscard]] Result<void> counters(const std::function<bool(const Counter&)>& visit);

  // The rows come in the order of their ids, in which the file stores them: faster, and in parts for several
  // readers.
  [[nodiscard]] Result<void> rounds(IdRange ids, const std::function<bool(const Round&)>& visit);
  [[nodiscard]] Result<void> decisions(IdRange ids, const std::function<bool(const Decision&)>& visit);
  [[nodiscard]] Result<void> spans(IdRange ids, const std::function<bool(const Span&)>& visit);
  [[nodiscard]] Result<void> kernels(IdRange ids, const std::function<bool(const Kernel&)>& visit);
  /// Streams draft tokens of the rounds with these ids, grouped by round in the order of their index.
  [[nodiscard]] Result<void> draft_tokens(IdRange round_ids,
                                          const std::function<bool(const DraftToken&)>& visit);

  /// Checks every rule of traces/SCHEMA.md and SQLite's own integrity; stops after `most` violations. Errors
  /// say nothing about the file's content: no memory, no room for temporary files, an unreadable disk.
  [[nodiscard]] Result<std::vector<Violation>> validate(std::size_t most = 20);

 private:
  class Implementation;
  explicit Reader(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace draftscope::traces
