// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The decode loop: prefill, then rounds of plan → draft → verify → accept until the text ends.
//
// Invariant at the start of a round (n = root position): K/V of positions [0, n) is complete in every layer
// and was written by the target; the token at n, the root, is emitted but has no K/V yet. Draft tokens are at
// n+1, n+2, …. Cache rows equal positions. Rolling back is forgetting: the next round writes over rows ≥ its
// root.
//
// Losslessness: greedy output equals vanilla's bit for bit (Backend's batch-invariance); with a temperature
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
  /// Tokens of the prompt whose K/V the target wrote at their positions in an earlier request and nobody has
  /// written over since (DecodeResult::cached_tokens); the prefill leaves them out. Below the prompt's size.
  std::int32_t cached_tokens = 0;
  std::int32_t max_new_tokens = 128;  ///< ≥ 1
  SamplingOptions sampling;
  std::span<const std::int32_t> eos_tokens;  ///< any of them ends the text and is not part of it
  TextEnd* text_end = nullptr;  ///< ends the text with the token that completes a stop string; null = none
  const std::atomic<bool>* cancelled = nullptr;  ///< looked at between rounds
};

struct DecodeResult {
  std::vector<std::int32_t> tokens;  ///< the output, without an end-of-sequence token
  /// The first so many tokens of prompt and output have K/V that the target wrote: a later request whose
  /// prompt begins with them may build on it.
  std::int32_t cached_tokens = 0;
  traces::RequestStop stop = traces::RequestStop::length;
  std::int64_t start_ns = 0;  ///< on the profiler's clock, as the others
  std::int64_t first_token_ns = 0;
  std::int64_t end_ns = 0;
};

/// One round as a listener sees it: the row of the trace, its draft tokens, and the tokens that reached
/// the output (the first `round.accepted` of them, at most, were drafted).
struct RoundReport {
  traces::Round round;
  traces::LayerSet layer_set;  ///< empty (n_layers = 0) if nothing was drafted
  std::span<const traces::DraftToken> draft_tokens;
  std::span<const std::int32_t> emitted;  ///< tokens that reached the output
};

/// Hears of tokens and rounds as they happen. Its time counts as the next round's control phase.
class DecodeListener {
 public:
  virtual ~DecodeListener() = default;
  /// The id that spans and the row of the round about to start will carry.
  [[nodiscard]] virtual traces::RoundId next_round_id() { return {}; }
  virtual void on_first_token(std::int32_t /*token*/) {}
  virtual void on_round(const RoundReport& /*report*/) {}
  /// Receiver of the strategy's decisions; null = nobody records them.
  [[nodiscard]] virtual DecisionLog* decisions() { return nullptr; }
};

/// Whether decode() would take the request. Fails on an empty prompt or one longer than the context, token
/// ids outside the vocabulary, a budget below one token, and sampling options that are out of range or that
/// `chooser` can't serve. Nothing is computed.
[[nodiscard]] Result<void> check_request(const Backend& backend, const DecodeRequest& request,
                                         const Chooser& chooser);

/// Decodes one request. Fails, before anything is computed, on an empty prompt, token ids outside the
/// vocabulary, a prompt longer than the context, or a plan that the model can't run; and as the backend does.
/// Logits of the target that make no distribution (NaN, +∞, all −∞) end it with a line that says where they
/// come from; a draft's end the draft alone. Nothing is kept; `recorder` may be null. Uses backend, strategy
/// and listener alone: one call at a time.
[[nodiscard]] Result<DecodeResult> decode(Backend& backend, Strategy& strategy, const DecodeRequest& request,
                                          Chooser& chooser, DecodeListener& listener,
                                          profiler::SpanRecorder* recorder = nullptr);

}  // namespace draftscope::engine
