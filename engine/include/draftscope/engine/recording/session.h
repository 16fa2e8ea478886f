// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Records questions under several strategies so that they can be compared fairly:
//
// - Every question is decoded by every strategy in turn before the next question begins. Speedups are
//   therefore paired, and a drift of the machine's speed affects all strategies alike.
// - The strategy that goes first rotates from question to question and from repeat to repeat, so that no
//   strategy always finds the caches as one particular other left them.
// - A strategy keeps from question to question whatever it learns, but not from repeat to repeat: each repeat
//   is the same experiment.
//
// Call create(), check_questions(), warm_up() and record() in this order. Thread-safety: none.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/recording/device_recording.h>
#include <draftscope/engine/recording/recorder.h>
#include <draftscope/engine/recording/run_identity.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/engine/tokenizer.h>
#include <draftscope/traces/prompt_file.h>
#include <draftscope/traces/writer.h>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::engine {

/// Form in which questions become prompts.
struct PromptForm {
  bool chat = false;   ///< Whether the turns go into the model's chat template.
  std::string system;  ///< System prompt of the chat; empty = none, or the template's own.
};

/// The prompt of a question's turn (counted from 0) after `answers`, which has one answer for each earlier
/// turn. Without a chat template the turns and answers follow each other, with an empty line after each
/// answer. Errors: those of conversation_text() and Tokenizer::encode().
[[nodiscard]] Result<RecordedPrompt> prompt_of_turn(const Tokenizer& tokenizer, const PromptForm& form,
                                                    const traces::Question& question, std::size_t turn = 0,
                                                    std::span<const std::string> answers = {});

struct SessionOptions {
  DecodingOptions decoding;
  PromptForm form;
  std::int32_t repeats = 3;                      ///< Number of times each question is recorded.
  bool skip_unfit = false;                       ///< Whether prompts beyond the context are left out.
  std::int32_t warmup = 1;                       ///< Unrecorded decodes of the first question, per strategy.
  std::string prompts_file;                      ///< File name of the questions, for error messages.
  const std::atomic<bool>* cancelled = nullptr;  ///< Ends the session regularly once it is true; not owned.
};

/// The questions that can be decoded.
struct CheckedQuestions {
  std::vector<traces::Question> questions;
  std::size_t left_out = 0;  ///< Questions whose first prompt is longer than the context.
  std::size_t longest_prompt_tokens = 0;
  std::size_t doubled_starts = 0;  ///< Questions whose text brings the token that the tokenizer adds.
  std::string doubled_start;       ///< The last such token.
};

struct SessionResult {
  std::int64_t requests = 0;  ///< requests recorded
  std::int64_t planned = 0;   ///< requests of a complete session
  /// Later turns that answers made longer than the context, with those after them, if those are left out; not
  /// planned.
  std::int64_t left_out_turns = 0;
  bool cancelled = false;
  std::optional<Error> failure;  ///< Error that ended the session; the requests before it are recorded.
};

class Session {
 public:
  /// Makes the strategies. `checkpoint` and `tokenizer` are not owned. Errors: a specification that
  /// make_strategy() refuses; two that mean the same.
  [[nodiscard]] static Result<Session> create(SessionOptions options, std::vector<std::string> strategies,
                                              const Checkpoint& checkpoint, const Tokenizer& tokenizer,
                                              StrategyResources resources);

  /// ConfiguredStrategy::note of each strategy that has one.
  [[nodiscard]] std::vector<std::string> strategy_notes() const;

  /// Fails on the first question whose first turn can't be decoded, unless it is too long and those are left
  /// out. Later turns contain answers that are unknown before they are recorded.
  [[nodiscard]] Result<CheckedQuestions> check_questions(const Backend& backend,
                                                         std::span<const traces::Question> questions) const;

  /// Decodes a question's first turn without recording it, so that page faults of the mapped weights and the
  /// processor's clock settle.
  [[nodiscard]] Result<void> warm_up(Backend& backend, const traces::Question& question);

  /// Adds a run per strategy and records all questions, then writes the meta key `run_memory`. Also ends if
  /// the writer fails; the writer's close() then says why. `progress` receives the number of requests
  /// recorded and their total.
  [[nodiscard]] SessionResult record(
      const Backend& backend, traces::Writer& writer, Recorder& recorder, DeviceRecording& device,
      std::span<const traces::Question> questions,
      const std::function<void(std::int64_t done, std::int64_t all)>& progress = {});

 private:
  struct Recording;
  Session(SessionOptions options, std::vector<std::string> specifications, const Checkpoint& checkpoint,
          const Tokenizer& tokenizer, StrategyResources resources);
  [[nodiscard]] Result<void> make_strategies();
  [[nodiscard]] DecodeRequest request_for(std::span<const std::int32_t> prompt,
                                          TextEnd* text_end = nullptr) const;
  [[nodiscard]] Error at_turn(const traces::Question& question, std::size_t turn, const Error& error) const;
  [[nodiscard]] bool cancelled() const;
  [[nodiscard]] Result<void> record_question(Recording& recording, std::size_t strategy,
                                             const traces::Question& question, std::int32_t repeat);
  [[nodiscard]] Result<void> record_questions(Recording& recording,
                                              std::span<const traces::Question> questions);

  SessionOptions options_;
  std::vector<std::string> specifications_;
  const Checkpoint* checkpoint_;
  const Tokenizer* tokenizer_;
  StrategyResources resources_;
  std::vector<ConfiguredStrategy> strategies_;
};

}  // namespace draftscope::engine
