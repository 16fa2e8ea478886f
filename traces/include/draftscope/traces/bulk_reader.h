// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads a large recording fast: first what is small, then the rows in the order in which they lie, in parts
// for several threads, and so that it can be stopped at any time. The file is untrusted input, as it is to
// Reader.
//
// Thread-safety: a BulkReader belongs to one thread; open several for several threads. Each sees the
// recording as it was when it was opened.

#include <draftscope/base/result.h>
#include <draftscope/traces/overview.h>
#include <draftscope/traces/reader.h>
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

/// Ids from `first` to `last`, both included.
struct IdRange {
  std::int64_t first = 1;
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

class BulkReader {
 public:
  /// Opens a file as Reader::open() does. Once `stopped` is true, whatever is being read or asked for fails
  /// soon after; it must outlive the reader.
  [[nodiscard]] static Result<BulkReader> open(const std::filesystem::path& path,
                                               const std::atomic<bool>& stopped);
  BulkReader(BulkReader&&) noexcept;
  BulkReader& operator=(BulkReader&&) noexcept;
  ~BulkReader();

  [[nodiscard]] int schema_version() const;

  /// The recording without its rounds and draft tokens: what is read at once of any file.
  [[nodiscard]] Result<Recording> outline();
  /// The stored overview; none if the recording was not closed, or if nothing lasted.
  [[nodiscard]] Result<std::optional<Overview>> overview();
  [[nodiscard]] Result<Recording> recording();
  [[nodiscard]] Result<std::unordered_map<StringId, std::string>> strings();
  [[nodiscard]] Result<std::unordered_map<std::int32_t, std::string>> token_texts();

  /// The highest id of each table with ids that grows with the recording: known at once, where counting goes
  /// through all rows.
  [[nodiscard]] Result<std::vector<TableCount>> highest_ids();

  // Each streams rows until the callback returns false, in the order of their ids.
  [[nodiscard]] Result<void> rounds(IdRange ids, const std::function<bool(const Round&)>& visit);
  [[nodiscard]] Result<void> spans(IdRange ids, const std::function<bool(const Span&)>& visit);
  [[nodiscard]] Result<void> kernels(IdRange ids, const std::function<bool(const Kernel&)>& visit);
  /// Draft tokens of the rounds with these ids, those of a round one after another by their index.
  [[nodiscard]] Result<void> draft_tokens(IdRange round_ids,
                                          const std::function<bool(const DraftToken&)>& visit);
  [[nodiscard]] Result<void> decisions(const std::function<bool(const Decision&)>& visit);
  [[nodiscard]] Result<void> counters(const std::function<bool(const Counter&)>& visit);

 private:
  class Implementation;
  explicit BulkReader(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace draftscope::traces
