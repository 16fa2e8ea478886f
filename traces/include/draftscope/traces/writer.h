// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Writes a trace while a run is in progress. A separate thread owns the database; callers only append to a
// queue.
//
// - Nothing here waits for the disk, except create() and close().
// - Runs, prompts, requests, rounds, draft tokens, decisions and shadow tokens are never dropped.
//   Spans, kernels and counters are dropped when the queue already has `queue_rows` of them, and counted.
// - A round and its draft tokens are committed in one transaction: a reader after a crash sees both or
//   neither. The same holds for the shadow tokens of one call, and a decision never precedes its round.
// - After a failure of the disk, or once others have moved, replaced or removed the file, the writer keeps
//   accepting (and discarding) rows; close() returns the first error, and failed() tells at once.
//
// Thread-safety: one producer thread at a time.

#include <draftscope/base/result.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace draftscope::traces {

/// Identity of the run: keys and values of the table `meta` (traces/SCHEMA.md lists the known keys).
using Meta = std::map<std::string, std::string>;

struct WriterOptions {
  std::size_t queue_rows = 1U << 20U;  ///< Maximum droppable rows that wait to be written.
  std::size_t rows_per_transaction = 65536;
  std::int64_t transaction_ns = 250'000'000;
  bool overwrite = false;  ///< Whether to replace an existing file of that name.
};

struct WriterCounts {
  std::int64_t written_rows = 0;
  std::int64_t dropped_spans = 0;
  std::int64_t dropped_kernels = 0;
  std::int64_t dropped_counters = 0;
};

class Writer {
 public:
  /// Creates the file with its schema and meta rows atomically: an old one stays until the new one exists,
  /// and an error changes nothing. Errors: the path exists (unless overwrite), or can't be written; the old
  /// trace is in use; a file that belongs to no trace has the name of the log (X-wal, X-shm, X-journal).
  [[nodiscard]] static Result<std::unique_ptr<Writer>> create(const std::filesystem::path& path,
                                                              const Meta& meta,
                                                              const WriterOptions& options = {});
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();  ///< Closes like close(), but loses errors.

  /// Adds or replaces a row of `meta` that is only known later, such as the clocks at the end.
  void set_meta(std::string key, std::string text);

  /// Id of a string in the table `strings`; the same text always gives the same id.
  [[nodiscard]] StringId intern(std::string_view text);

  // Each add() returns the id of the new row (the record's own id field is ignored).
  RunId add(Run run);
  PromptId add(Prompt prompt);
  TrackId add(Track track);
  LayerSetId add(LayerSet layer_set);  ///< Equal masks with equal exit and origin give the same id.

  /// Reserves an id for a row that children refer to before the row itself is complete.
  [[nodiscard]] RequestId next_request_id();
  [[nodiscard]] RoundId next_round_id();
  [[nodiscard]] SpanId next_span_id();
  [[nodiscard]] KernelId next_kernel_id();

  // The functions below take rows with a reserved id. A request is written when it begins (so that a crash
  // leaves its rounds readable) and completed by finish().
  void begin(Request request);
  void finish(Request request);
  void add(Round round, std::span<const DraftToken> draft_tokens);

  /// Adds a decision and returns its id. The round may have a reserved id and not be complete yet; if it
  /// never comes, the decision still has its request.
  DecisionId add(Decision decision);

  /// Adds all of a request's shadow tokens in one call, in any order. A million per second in bulk, outside
  /// the calling thread.
  void add(std::span<const ShadowToken> shadow_tokens);

  /// Adds a token's text. It is never dropped; a later text of a token replaces the earlier.
  void add(TokenText token_text);

  void add(std::span<const Span> spans);
  void add(std::span<const Kernel> kernels);
  void add(std::span<const Counter> counters);

  [[nodiscard]] bool failed() const;
  [[nodiscard]] WriterCounts counts() const;

  /// Drains the queue, builds indexes, stores the counts, marks the file as closed cleanly and leaves it a
  /// single file (without a write-ahead log). Returns the first error of the whole recording.
  [[nodiscard]] Result<void> close();

 private:
  class Implementation;
  explicit Writer(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace draftscope::traces
