// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads a trace, whole or in parts. The file is untrusted input: ranges, sizes and references are checked,
// memory is bounded by the file.
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

/// Everything but decisions, shadow tokens, token texts, spans, kernels and counters: small enough to hold
/// (about 200 bytes a round).
struct Recording {
  std::filesystem::path path;
  Meta meta;
  bool closed_cleanly = false;
  std::vector<Run> runs;
  std::vector<Prompt> prompts;
  std::vector<Request> requests;  ///< ordered by start_ns
  std::vector<LayerSet> layer_sets;
  std::vector<Round> rounds;             ///< ordered by (request, index)
  std::vector<DraftToken> draft_tokens;  ///< ordered by (round, index)
  std::vector<Track> tracks;
};

/// Newest schema of which every table and column is known. Of a newer one, what is known is read.
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
  /// Opens read-only; never modifies the file. A file left by a crash is read with its write-ahead log; of a
  /// recording that goes on, everything that was committed before opening, and nothing after. Fails with one
  /// line if the file is not a trace, lacks what its schema has, or is damaged. The file stays open, whatever
  /// takes its place; if it is itself changed or cut short, what was being read fails.
  [[nodiscard]] static Result<Reader> open(const std::filesystem::path& path);
  /// Opens as above. Once `stopped` is true, whatever is being read or asked for fails soon after; it must
  /// outlive the reader.
  [[nodiscard]] static Result<Reader> open(const std::filesystem::path& path,
                                           const std::atomic<bool>& stopped);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  [[nodiscard]] int schema_version() const;
  [[nodiscard]] Result<Recording> recording();
  /// The recording without its rounds and draft tokens: what is read at once of any file.
  [[nodiscard]] Result<Recording> outline();
  /// The stored overview; none if the recording was not closed, or if nothing lasted.
  [[nodiscard]] Result<std::optional<Overview>> overview();
  [[nodiscard]] Result<std::unordered_map<StringId, std::string>> strings();
  /// Token texts by token id; a token without a stored text has no entry.
  [[nodiscard]] Result<std::unordered_map<std::int32_t, std::string>> token_texts();
  [[nodiscard]] Result<std::vector<TableCount>> row_counts();
  /// The highest id of each table with ids that grows with the recording: known at once, where counting goes
  /// through all rows.
  [[nodiscard]] Result<std::vector<TableCount>> highest_ids();

  // Each streams rows until the callback returns false.

  /// Streams decisions in the order of start_ns.
  [[nodiscard]] Result<void> decisions(const std::function<bool(const Decision&)>& visit);
  /// Streams shadow tokens in the order of (request, layer, position).
  [[nodiscard]] Result<void> shadow_tokens(const std::function<bool(const ShadowToken&)>& visit);
  // In the order of (track, start_ns).
  [[nodiscard]] Result<void> spans(const std::function<bool(const Span&)>& visit);
  [[nodiscard]] Result<void> kernels(const std::function<bool(const Kernel&)>& visit);
  [[nodiscard]] Result<void> counters(const std::function<bool(const Counter&)>& visit);

  // In the order of their ids, in which they lie in the file: faster, and in parts for several readers.
  [[nodiscard]] Result<void> rounds(IdRange ids, const std::function<bool(const Round&)>& visit);
  [[nodiscard]] Result<void> decisions(IdRange ids, const std::function<bool(const Decision&)>& visit);
  [[nodiscard]] Result<void> spans(IdRange ids, const std::function<bool(const Span&)>& visit);
  [[nodiscard]] Result<void> kernels(IdRange ids, const std::function<bool(const Kernel&)>& visit);
  /// Streams draft tokens of the rounds with these ids, those of a round one after another by their index.
  [[nodiscard]] Result<void> draft_tokens(IdRange round_ids,
                                          const std::function<bool(const DraftToken&)>& visit);

  /// Checks every rule of traces/SCHEMA.md and SQLite's own integrity; stops after `most` violations. Errors
  /// say nothing about what the file holds: no memory, no room for temporary files, an unreadable disk.
  [[nodiscard]] Result<std::vector<Violation>> validate(std::size_t most = 20);

 private:
  class Implementation;
  explicit Reader(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace draftscope::traces
