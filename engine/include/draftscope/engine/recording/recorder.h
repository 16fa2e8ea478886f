// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Turns decoding into rows of a trace: one object per recording, one call per request.
//
// Ownership: writer, spans, backend and tokenizer belong to the caller and must outlive the recorder.
// Thread-safety: none.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/engine/tokenizer.h>
#include <draftscope/profiler/span_recorder.h>
#include <draftscope/traces/writer.h>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

namespace draftscope::engine {

struct RecordedPrompt {
  std::int64_t question_id = 0;
  std::string category;
  std::int32_t turn = 0;             ///< turn of the conversation, counted from 0
  std::string text;                  ///< text including earlier turns and answers
  std::vector<std::int32_t> tokens;  ///< tokens of `text`
  std::string doubled_start;         ///< see PromptTokens (prompt_tokens.h)
  /// Stream of random numbers; none = that of the question, the turn and the repeat.
  std::optional<std::uint64_t> stream;
};

/// A chain whose tokens were drawn from a model's distributions.
struct DrawnChain {
  traces::RoundId round_id;
  std::int64_t end_ns = 0;         ///< end of the round
  std::int32_t root_position = 0;  ///< position in prompt and output together
  std::vector<std::int32_t> tokens;
};

class Recorder final : public DecodeListener, private DecisionLog {
 public:
  /// Makes a recorder. With `shadow`, it records after each request every layer's prediction of each output
  /// token, of its end token and of the prompt's last positions; up to the output's first token these are 32
  /// predictions. Each chain drawn at a temperature without coupled noise gets a decision "target
  /// probabilities": the probabilities that the target gave to its tokens.
  Recorder(traces::Writer& writer, profiler::SpanRecorder& spans, Backend& backend,
           const Tokenizer& tokenizer, bool shadow = false)
      : writer_(writer), spans_(spans), backend_(backend), tokenizer_(tokenizer), shadow_(shadow) {}

  /// Sets a listener that hears of tokens and rounds beside the trace; null = none. Not owned.
  void set_listener(DecodeListener* listener) { listener_ = listener; }

  /// Adds the row of a strategy and returns its id, which request() takes.
  [[nodiscard]] traces::RunId add_run(const ConfiguredStrategy& strategy);

  /// Decodes one prompt and writes its request, rounds, draft tokens and spans. The stream of random numbers
  /// does not depend on the strategy. The row's text ends before the
  /// stop strings of the request's `text_end`. Returns the request's row. Fails as decode() does; the request
  /// is then written as one that ended in an error.
  [[nodiscard]] Result<traces::Request> request(traces::RunId run_id, Strategy& strategy,
                                                const RecordedPrompt& prompt, std::int32_t repeat,
                                                const DecodeRequest& request, std::uint64_t seed,
                                                const StopStrings& stop_strings = {});

  traces::RoundId next_round_id() override { return round_id_ = writer_.next_round_id(); }
  DecisionLog* decisions() override { return this; }
  void on_first_token(std::int32_t token) override {
    if (listener_ != nullptr) listener_->on_first_token(token);
  }
  void on_round(const RoundReport& report) override;

 private:
  void add(const Decision& decision) override;
  [[nodiscard]] traces::PromptId prompt_id(const RecordedPrompt& prompt);
  void add_token_text(std::int32_t token);
  void keep_drawn_chain(const RoundReport& report);
  [[nodiscard]] Result<void> record_drawn_chains(const DecodeRequest& request,
                                                 std::span<const std::int32_t> text);
  [[nodiscard]] Result<void> record_shadow(const DecodeRequest& request, const traces::Request& row);
  [[nodiscard]] Result<void> shadow_rows(std::span<const std::int32_t> text, std::int32_t prompt_tokens,
                                         std::vector<traces::ShadowToken>& rows);

  traces::Writer& writer_;
  profiler::SpanRecorder& spans_;
  Backend& backend_;
  const Tokenizer& tokenizer_;
  bool shadow_;
  DecodeListener* listener_ = nullptr;
  bool keeps_drawn_chains_ = false;  // of the current request
  bool has_draft_model_ = false;     // whether the request's strategy has one
  std::vector<DrawnChain> drawn_;    // drawn chains of the request's rounds, in order
  traces::RequestId request_id_;
  std::unordered_set<std::int32_t> tokens_with_text_;
  std::vector<std::int32_t> drafted_tokens_;  // draft tokens of the request
  traces::RoundId round_id_;                  // none before the first round of a request
  std::int32_t end_token_ = -1;               // token that ended the text, or -1
  std::map<std::tuple<std::int64_t, std::int32_t, std::string>, traces::PromptId> prompt_ids_;
};

}  // namespace draftscope::engine
