// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/recording/session.h>

#include <draftscope/engine/conversation.h>

#include <algorithm>
#include <utility>

#include "recording/run_memory.h"

namespace draftscope::engine {

namespace {

constexpr std::int32_t max_warmup_tokens = 16;

}  // namespace

Result<RecordedPrompt> prompt_of_turn(const Tokenizer& tokenizer, const PromptForm& form,
                                      const traces::Question& question, std::size_t turn,
                                      std::span<const std::string> answers) {
  RecordedPrompt prompt{.question_id = question.question_id,
                        .category = question.category,
                        .turn = static_cast<std::int32_t>(turn)};
  if (form.chat) {
    std::vector<Message> messages;
    for (std::size_t i = 0; i <= turn; ++i) {
      messages.push_back({"user", question.turns[i]});
      if (i < turn) messages.push_back({"assistant", answers[i]});
    }
    DRAFTSCOPE_TRY_ASSIGN(prompt.text, conversation_text(tokenizer, form.system, messages));
  } else {
    for (std::size_t i = 0; i < turn; ++i) prompt.text += question.turns[i] + answers[i] + "\n\n";
    prompt.text += question.turns[turn];
  }
  DRAFTSCOPE_TRY_ASSIGN(prompt.tokens, tokenizer.encode(prompt.text, {.add_special_tokens = !form.chat}));
  return prompt;
}

/// A recording under way.
struct Session::Recording {
  traces::Writer& writer;
  Recorder& recorder;
  DeviceRecording& device;
  const std::function<void(std::int64_t, std::int64_t)>& progress;
  RunMemories memories;
  TextEnd text_end;
  std::vector<traces::RunId> run_ids;  ///< by strategy
  SessionResult result;
};

Session::Session(SessionOptions options, std::vector<std::string> specifications,
                 const Checkpoint& checkpoint, const Tokenizer& tokenizer, StrategyResources resources)
    : options_(std::move(options)),
      specifications_(std::move(specifications)),
      checkpoint_(&checkpoint),
      tokenizer_(&tokenizer),
      resources_(std::move(resources)) {}

Result<Session> Session::create(SessionOptions options, std::vector<std::string> strategies,
                                const Checkpoint& checkpoint, const Tokenizer& tokenizer,
                                StrategyResources resources) {
  Session session(std::move(options), std::move(strategies), checkpoint, tokenizer, std::move(resources));
  DRAFTSCOPE_TRY(session.make_strategies());
  return session;
}

Result<void> Session::make_strategies() {
  std::vector<ConfiguredStrategy> strategies;
  for (const std::string& specification : specifications_) {
    DRAFTSCOPE_TRY_ASSIGN(ConfiguredStrategy strategy,
                          make_strategy(specification, checkpoint_->shape, resources_));
    const auto same = [&](const ConfiguredStrategy& other) {
      return other.name == strategy.name && other.parameters == strategy.parameters;
    };
    if (std::any_of(strategies.begin(), strategies.end(), same))
      return fail("strategy: {} is given twice, expected each once (--repeats records it more often)",
                  strategy.specification);
    strategies.push_back(std::move(strategy));
  }
  strategies_ = std::move(strategies);
  return {};
}

DecodeRequest Session::request_for(std::span<const std::int32_t> prompt, TextEnd* text_end) const {
  return {.prompt = prompt,
          .max_new_tokens = options_.decoding.max_tokens,
          .sampling = options_.decoding.sampling,
          .eos_tokens = checkpoint_->shape.eos_tokens,
          .text_end = text_end,
          .cancelled = options_.cancelled};
}

Error Session::at_turn(const traces::Question& question, std::size_t turn, const Error& error) const {
  return {fmt::format("{}: question {}, turn {}: {}", options_.prompts_file, question.question_id, turn + 1,
                      error.message)};
}

bool Session::cancelled() const {
  return options_.cancelled != nullptr && options_.cancelled->load();
}

Result<void> Session::check_questions(const Backend& backend,
                                      std::span<const traces::Question> questions) const {
  const SeededChooser chooser(options_.decoding.seed, 0);
  for (const traces::Question& question : questions) {
    const auto prompt = prompt_of_turn(*tokenizer_, options_.form, question);
    if (!prompt) return tl::unexpected(at_turn(question, 0, prompt.error()));
    const auto checked = check_request(backend, request_for(prompt->tokens), chooser);
    if (!checked) return tl::unexpected(at_turn(question, 0, checked.error()));
  }
  return {};
}

Result<void> Session::warm_up(Backend& backend, const traces::Question& question) {
  DRAFTSCOPE_TRY_ASSIGN(const RecordedPrompt prompt, prompt_of_turn(*tokenizer_, options_.form, question));
  DecodeListener nobody;
  for (std::int32_t i = 0; i < options_.warmup; ++i) {
    for (ConfiguredStrategy& strategy : strategies_) {
      SeededChooser chooser(options_.decoding.seed, 0);
      DecodeRequest request = request_for(prompt.tokens);
      request.max_new_tokens = std::min(request.max_new_tokens, max_warmup_tokens);
      const auto decoded = decode(backend, *strategy.strategy, request, chooser, nobody);
      if (!decoded) return tl::unexpected(at_turn(question, 0, decoded.error()));
    }
  }
  return {};
}

SessionResult Session::record(const Backend& backend, traces::Writer& writer, Recorder& recorder,
                              DeviceRecording& device, std::span<const traces::Question> questions,
                              const std::function<void(std::int64_t, std::int64_t)>& progress) {
  Recording recording{.writer = writer,
                      .recorder = recorder,
                      .device = device,
                      .progress = progress,
                      .memories = RunMemories(backend),
                      .text_end = TextEnd(*tokenizer_, options_.decoding.stop_strings),
                      .run_ids = {},
                      .result = {}};
  std::int64_t turns = 0;
  for (const traces::Question& question : questions)
    turns += static_cast<std::int64_t>(question.turns.size());
  recording.result.planned = turns * options_.repeats * static_cast<std::int64_t>(strategies_.size());
  for (const ConfiguredStrategy& strategy : strategies_)
    recording.run_ids.push_back(recorder.add_run(strategy));
  const Result<void> done = record_questions(recording, questions);
  if (!done) recording.result.failure = done.error();
  writer.set_meta("run_memory", recording.memories.json());
  return std::move(recording.result);
}

Result<void> Session::record_questions(Recording& recording, std::span<const traces::Question> questions) {
  for (std::int32_t repeat = 0; repeat < options_.repeats; ++repeat) {
    DRAFTSCOPE_TRY(make_strategies());
    for (std::size_t q = 0; q < questions.size(); ++q) {
      for (std::size_t s = 0; s < strategies_.size(); ++s) {
        const std::size_t strategy = (s + q + static_cast<std::size_t>(repeat)) % strategies_.size();
        DRAFTSCOPE_TRY(record_question(recording, strategy, questions[q], repeat));
        if (recording.result.cancelled || recording.writer.failed()) return {};
      }
    }
  }
  return {};
}

/// Records all turns of one question under one strategy.
Result<void> Session::record_question(Recording& recording, std::size_t strategy,
                                      const traces::Question& question, std::int32_t repeat) {
  Strategy& decides = *strategies_[strategy].strategy;
  SessionResult& result = recording.result;
  std::vector<std::string> answers;
  for (std::size_t turn = 0; turn < question.turns.size() && !result.cancelled; ++turn) {
    DRAFTSCOPE_TRY_ASSIGN(const RecordedPrompt prompt,
                          prompt_of_turn(*tokenizer_, options_.form, question, turn, answers));
    recording.memories.begin_request();
    const Result<traces::Request> request = recording.recorder.request(
        recording.run_ids[strategy], decides, prompt, repeat, request_for(prompt.tokens, &recording.text_end),
        options_.decoding.seed, options_.decoding.stop_strings);
    recording.device.end_request();
    recording.memories.end_request(recording.run_ids[strategy], decides);
    if (!request) return tl::unexpected(at_turn(question, turn, request.error()));
    answers.push_back(request->text);
    result.cancelled = cancelled();
    ++result.requests;
    if (recording.progress) recording.progress(result.requests, result.planned);
  }
  return {};
}

}  // namespace draftscope::engine
