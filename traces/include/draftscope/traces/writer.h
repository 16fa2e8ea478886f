// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Writes a trace while a run goes on. A thread of its own owns the database; callers only append to a queue.
//
// - Nothing here waits for the disk, except create() and close().
// - Runs, prompts, requests, rounds, draft tokens, decisions and shadow tokens are never dropped.
//   Spans, kernels and counters are dropped when the queue already holds `queue_rows` of them, and counted.
// - A round and its draft tokens are committed in one transaction: a reader after a crash sees both or
//   neither. So are the shadow tokens of one call, and a decision never comes before its round.
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

/// The run's identity: keys and values of the table `meta` (traces/SCHEMA.md lists the known keys).
using Meta = std::map<std::string, std::string>;

struct WriterOptions {
  std::size_t queue_rows = 1U << 20U;  ///< bound on droppable rows waiting to be written
  std::size_t rows_per_transaction = 65536;
  std::int64_t transaction_ns = 250'000'000;
  bool overwrite = false;  ///< replace an existing file of that name
};

struct WriterCounts {
  std::int64_t written_rows = 0;
  std::int64_t dropped_spans = 0;
  std::int64_t dropped_kernels = 0;
  std::int64_t dropped_counters = 0;
};

class Writer {
 public:
  /// Creates the file with its schema and meta rows, whole: an old one stays until the new one is there, and
  /// after an error everything is as it was. Errors: the path exists (unless overwrite), or can't be written;
  /// the old trace is in use; a file that is no trace's has the name of the log (X-wal, X-shm, X-journal).
  [[nodiscard]] static Result<std::unique_ptr<Writer>> create(const std::filesystem::path& path,
                                                              const Meta& meta,
                                                              const WriterOptions& options = {});
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();  ///< as close(), errors lost

  /// Adds or replaces a row of `meta`: what is only known later, such as the clocks at the end.
  void set_meta(std::string key, std::string text);

  /// Id of a string in the table `strings`; the same text always gives the same id.
  [[nodiscard]] StringId intern(std::string_view text);

  // Each returns the id that it gave the row (the record's own id field is ignored).
  RunId add(Run run);
  PromptId add(Prompt prompt);
  TrackId add(Track track);
  LayerSetId add(LayerSet layer_set);  ///< the same mask, exit and origin give the same id

  /// Ids for rows that children refer to before the row itself is complete.
  [[nodiscard]] RequestId next_request_id();
  [[nodiscard]] RoundId next_round_id();
  [[nodiscard]] SpanId next_span_id();
  [[nodiscard]] KernelId next_kernel_id();

  // These carry an id taken above. A request is written when it begins (so that a crash leaves its rounds
  // readable) and completed by finish().
  void begin(Request request);
  void finish(Request request);
  void add(Round round, std::span<const DraftToken> draft_tokens);

  /// Returns the id that it gave the row. The round may be one whose id was taken and that is not complete
  /// yet; of one that never comes, the decision keeps the request.
  DecisionId add(Decision decision);

  /// All of a request's in one call, in any order. A million a second in bulk, away from the calling thread.
  void add(std::span<const ShadowToken> shadow_tokens);

  /// Never dropped; a later text of a token replaces the earlier.
  void add(TokenText token_text);

  void add(std::span<const Span> spans);
  void add(std::span<const Kernel> kernels);
  void add(std::span<const Counter> counters);

  [[nodiscard]] bool failed() const;
  [[nodiscard]] WriterCounts counts() const;

  /// Drains the queue, builds indexes, stores the counts, marks the file as closed cleanly and leaves it a
  /// single file (no write-ahead log beside it). Returns the first error of the whole recording.
  [[nodiscard]] Result<void> close();

 private:
  class Implementation;
  explicit Writer(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace draftscope::traces
