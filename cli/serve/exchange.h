// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where the threads of a server meet: connections hand in completions and take their text as it comes, and
// the one decoding thread takes completions in order and adds text. One mutex guards everything shared.
//
// Thread-safety: every member function may be called from any thread.

#include <draftscope/traces/records.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/completion_request.h"

namespace draftscope::cli {

enum class CompletionEnd : std::uint8_t {
  stop,    ///< At an end-of-sequence token or a stop string.
  length,  ///< At the limit of tokens, or of the context.
  abort,   ///< The client left, or the server ends.
  error,
};
inline constexpr std::size_t completion_ends = 4;
[[nodiscard]] std::string_view completion_end_name(CompletionEnd end);

struct CompletionResult {
  CompletionEnd end = CompletionEnd::error;
  std::int64_t completion_tokens = 0;
  std::string error;  ///< One line; "" = none.
};

/// A completion that a client waits for. All but `cancelled` and what Exchange keeps is constant after
/// submit().
struct Completion {
  CompletionRequest request;
  std::string prompt_text;
  std::vector<std::int32_t> prompt;
  std::string doubled_start;           ///< See engine::PromptTokens.
  std::int64_t number = 0;             ///< Number in order of arrival, from 1.
  std::atomic<bool> cancelled{false};  ///< Ends decoding after the current round.

 private:
  friend class Exchange;
  std::string text_;  // Text that was not taken yet.
  std::int64_t tokens_ = 0;
  std::optional<CompletionResult> result_;
};

/// Counts since the server began, named as vLLM's metrics are.
struct ServedCounts {
  std::int64_t drafts = 0;  ///< Rounds with at least one draft token.
  std::int64_t draft_tokens = 0;
  std::int64_t accepted_tokens = 0;
  std::vector<std::int64_t> accepted_per_position;  ///< Accepted tokens by draft position, from 0.
  std::int64_t prompt_tokens = 0;  ///< Tokens of the prompts whose completions ended without an error.
  std::int64_t generation_tokens = 0;
  std::int64_t ended[completion_ends] = {};
  std::int64_t refused = 0;  ///< Completions for which the queue had no place.
  std::int64_t running = 0;  ///< Value 0 or 1.
  std::int64_t waiting = 0;
};

class Exchange {
 public:
  /// At most `max_waiting` completions wait while one is decoded.
  explicit Exchange(std::size_t max_waiting) : max_waiting_(max_waiting) {}

  enum class Refusal : std::uint8_t { none, full, closed };
  /// Puts the completion at the end of the queue, unless that is full or the server ends. Whoever submits
  /// must leave().
  [[nodiscard]] Refusal submit(const std::shared_ptr<Completion>& completion);

  struct Piece {
    std::string text;                    ///< Valid UTF-8; "" = none.
    std::int64_t completion_tokens = 0;  ///< Tokens of the whole text so far.
    std::optional<CompletionResult> result;
  };
  /// Text since the last call, and the result after the last text. Waits for either, at most so long.
  [[nodiscard]] Piece take(Completion& completion, std::chrono::milliseconds max_wait);
  /// Ends the client's interest: a completion that has not ended is cancelled.
  void leave(const std::shared_ptr<Completion>& completion);

  /// Next completion to decode; null if none came in this time, or the server ends.
  [[nodiscard]] std::shared_ptr<Completion> next(std::chrono::milliseconds max_wait);
  /// Counts the token that a prefill gives.
  void add_first_token();
  void add_round(const traces::Round& round);
  /// `completion_tokens`: those of the whole text so far.
  void add_text(Completion& completion, std::string_view text, std::int64_t completion_tokens);
  /// Ends the completion that next() returned last.
  void finish(Completion& completion, CompletionResult result);

  /// Refuses completions from now on, ends those that wait, and cancels the running one.
  void close();
  [[nodiscard]] bool is_closed() const;
  /// Waits until all have left, at most so long.
  void wait_until_left(std::chrono::milliseconds max_wait);

  [[nodiscard]] ServedCounts counts() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t max_waiting_;
  std::deque<std::shared_ptr<Completion>> waiting_;
  std::shared_ptr<Completion> running_;
  std::int64_t submitted_ = 0;
  std::int64_t present_ = 0;  // Completions that were submitted and not left.
  bool is_closed_ = false;
  ServedCounts counts_;
};

}  // namespace draftscope::cli
