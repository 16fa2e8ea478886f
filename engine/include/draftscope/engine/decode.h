// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The decode loop: prefill, then rounds of plan → draft → verify → accept until the text ends.
//
// Invariant at the start of a round (n = root position): K/V of positions [0, n) is complete in every layer
// and was written by the target. The token at n, the root, is emitted but has no K/V yet. Draft tokens are at
// n+1, n+2, …. Cache rows equal positions. A rollback does nothing: the next round overwrites rows ≥ its
// root.
//
// Losslessness: greedy output equals vanilla's bit for bit (batch invariance of Backend); with a temperature
// its distribution equals the target's (sampling.h).

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/random.h>
#include <draftscope/engine/sampling.h>
#include <draftscope/engine/stop_strings.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/profiler/span_recorder.h>
#include <draftscope/traces/records.h>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::engine {

/// One text to decode; nothing is owned, and everything must outlive decode().
struct DecodeRequest {
  std::span<const std::int32_t> prompt;  ///< token ids, at least one
  /// Number of leading prompt tokens whose K/V the target wrote in an earlier request and nothing has
  /// overwritten since (DecodeResult::cached_tokens). The prefill skips them. Must be below the prompt's
  /// size.
  std::int32_t cached_tokens = 0;
  std::int32_t max_new_tokens = 128;  ///< ≥ 1
  SamplingOptions sampling;
  std::span<const std::int32_t> eos_tokens;  ///< Any of these ends the text and is not part of it.
  TextEnd* text_end = nullptr;  ///< Ends the text with the token that completes a stop string; null = none.
  const std::atomic<bool>* cancelled = nullptr;  ///< checked between rounds
};

struct DecodeResult {
  std::vector<std::int32_t> tokens;  ///< output without an end-of-sequence token
  /// Number of leading tokens of prompt and output that have K/V written by the target. A later request whose
  /// prompt begins with them may reuse it.
  std::int32_t cached_tokens = 0;
  traces::RequestStop stop = traces::RequestStop::length;
  std::int64_t start_ns = 0;  ///< on the profiler's clock, like all times here
  std::int64_t first_token_ns = 0;
  std::int64_t end_ns = 0;
};

/// One round as a listener sees it: the row of the trace, its draft tokens, and the tokens that reached the
/// output. At most the first `round.accepted` of them were drafted.
struct RoundReport {
  traces::Round round;
  traces::LayerSet layer_set;  ///< empty (n_layers = 0) if nothing was drafted
  std::span<const traces::DraftToken> draft_tokens;
  std::span<const std::int32_t> emitted;  ///< tokens that reached the output
};

/// Receives tokens and rounds as they happen. Its time counts as the next round's control phase.
class DecodeListener {
 public:
  virtual ~DecodeListener() = default;
  /// The id for the spans and the row of the round that is about to start.
  [[nodiscard]] virtual traces::RoundId next_round_id() { return {}; }
  virtual void on_first_token(std::int32_t /*token*/) {}
  virtual void on_round(const RoundReport& /*report*/) {}
  /// Receiver of the strategy's decisions; null = none are recorded.
  [[nodiscard]] virtual DecisionLog* decisions() { return nullptr; }
};

/// Checks a request without computing anything. Fails on an empty prompt or one longer than the context,
/// token ids outside the vocabulary, a budget below one token, and sampling options that are out of range or
/// that `chooser` can't serve.
[[nodiscard]] Result<void> check_request(const Backend& backend, const DecodeRequest& request,
                                         const Chooser& chooser);

/// Decodes one request. Fails, before anything is computed, on an empty prompt, token ids outside the
/// vocabulary, a prompt longer than the context, or a plan that the model can't run; also fails as the
/// backend does. If the target's logits form no distribution (NaN, +∞, all −∞), it fails with a line that
/// says where they come from; if a draft's do, only the draft ends. No argument is stored; `recorder` may be
/// null. Needs exclusive use of backend, strategy and listener: one call at a time.
[[nodiscard]] Result<DecodeResult> decode(Backend& backend, Strategy& strategy, const DecodeRequest& request,
                                          Chooser& chooser, DecodeListener& listener,
                                          profiler::SpanRecorder* recorder = nullptr);

}  // namespace draftscope::engine
