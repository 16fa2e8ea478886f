// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/recording/session.h>

#include <draftscope/base/number.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/conversation.h>
#include <draftscope/engine/prompt_tokens.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/traces/records.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace draftscope::engine {

namespace {

// Memory used by each run of a recording: the sizes that its parts report, and the peak of the process, or of
// the device's allocations, while its requests were decoded.

/// Sizes in bytes. Mapped weights and a cache count completely, though their pages become resident only when
/// they are touched.
struct RunMemory {
  std::size_t peak_bytes = 0;  ///< 0 = unknown
  std::size_t weight_bytes = 0;
  std::size_t draft_weight_bytes = 0;  ///< weights of the draft: a second model, the layers in another type
  std::size_t kv_bytes = 0;            ///< K/V of the target and of a second model
  std::size_t workspace_bytes = 0;     ///< the backends' buffers
};

/// Peak resident size of the process since reset_peak_memory(), or since its start if that failed. 0 if the
/// system does not report it. Linux: VmHWM of /proc/self/status.
std::size_t peak_memory_bytes() {
  constexpr std::string_view key = "VmHWM:";
  constexpr std::size_t bytes_per_kib = 1024;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_of("0123456789");
    if (begin == std::string::npos) return 0;
    const std::string number = line.substr(begin, line.find(' ', begin) - begin);
    return parse_number<std::size_t>(number).value_or(0) * bytes_per_kib;
  }
  return 0;
}

/// Resets the peak; returns false if the system does not allow it.
bool reset_peak_memory() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << "5" << std::flush;  // See proc(5): the peak resident size becomes the current one.
  return clear.good();
}

/// Stores the peak of each run. One thread at a time.
class RunMemories {
 public:
  explicit RunMemories(const Backend& target) : target_(target) {}

  /// To be called before and after each request.
  void begin_request();
  void end_request(traces::RunId run, const Strategy& strategy);

  /// Value of the trace's meta key `run_memory`.
  [[nodiscard]] std::string json() const;

 private:
  const Backend& target_;
  std::map<traces::RunId, RunMemory> by_run_;
};

void RunMemories::begin_request() {
  static_cast<void>(reset_peak_memory());
}

void RunMemories::end_request(traces::RunId run, const Strategy& strategy) {
  const BackendDescription target = target_.describe();
  RunMemory& memory = by_run_[run];
  memory.weight_bytes = target.weight_bytes;
  memory.draft_weight_bytes = target.draft_weight_bytes;
  memory.kv_bytes = target.kv_bytes;
  memory.workspace_bytes = target.workspace_bytes;
  if (const Backend* const own = strategy.own_backend()) {
    const BackendDescription draft = own->describe();
    memory.draft_weight_bytes += draft.weight_bytes;
    memory.kv_bytes += draft.kv_bytes;
    memory.workspace_bytes += draft.workspace_bytes;
  }
  // A device's memory is allocated before the first request, all of it by its backends.
  const std::size_t allocated =
      memory.weight_bytes + memory.draft_weight_bytes + memory.kv_bytes + memory.workspace_bytes;
  memory.peak_bytes = std::max(memory.peak_bytes, target.device == "cpu" ? peak_memory_bytes() : allocated);
}

std::string RunMemories::json() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [run, memory] : by_run_) {
    nlohmann::ordered_json entry = nlohmann::ordered_json::object();
    entry["peak_bytes"] = memory.peak_bytes;
    entry["weight_bytes"] = memory.weight_bytes;
    entry["draft_weight_bytes"] = memory.draft_weight_bytes;
    entry["kv_bytes"] = memory.kv_bytes;
    entry["workspace_bytes"] = memory.workspace_bytes;
    json[std::to_string(run.value())] = std::move(entry);
  }
  return json.dump();
}

constexpr std::int32_t max_warmup_tokens = 16;

}  // namespace

Result<RecordedPrompt> prompt_of_turn(const Tokenizer& tokenizer, const PromptForm& form,
                                      const traces::Question& question, std::size_t turn,
                                      std::span<const std::string> answers) {
  RecordedPrompt prompt{.question_id = question.question_id,
                        .category = question.category,
                        .turn = static_cast<std::int32_t>(turn)};
  if (!form.chat && !question.given.empty())
    return fail("found messages before the prompt, expected --chat (the chat template holds them)");
  if (form.chat) {
    std::vector<Message> messages;
    for (const traces::QuestionMessage& given : question.given)
      messages.push_back({given.role, given.content});
    if (!form.system.empty() && !messages.empty() && messages.front().role == "system")
      return fail("system: found a system prompt beside the question's own, expected one of them");
    for (std::size_t i = 0; i <= turn; ++i) {
      messages.push_back({"user", question.turns[i]});
      if (i < turn) messages.push_back({"assistant", answers[i]});
    }
    DRAFTSCOPE_TRY_ASSIGN(prompt.text, conversation_text(tokenizer, form.system, messages));
  } else {
    for (std::size_t i = 0; i < turn; ++i) prompt.text += question.turns[i] + answers[i] + "\n\n";
    prompt.text += question.turns[turn];
  }
  if (form.chat) {
    DRAFTSCOPE_TRY_ASSIGN(prompt.tokens, tokenizer.encode(prompt.text, {.add_special_tokens = false}));
    return prompt;
  }
  DRAFTSCOPE_TRY_ASSIGN(PromptTokens encoded, prompt_tokens(tokenizer, prompt.text));
  prompt.tokens = std::move(encoded.tokens);
  prompt.doubled_start = std::move(encoded.doubled_start);
  return prompt;
}

/// State of a recording in progress.
struct Session::Recording {
  traces::Writer& writer;
  Recorder& recorder;
  DeviceRecording& device;
  const std::function<void(std::int64_t, std::int64_t)>& progress;
  RunMemories memories;
  TextEnd text_end;
  std::size_t room;                    ///< tokens that the context holds
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

std::vector<std::string> Session::strategy_notes() const {
  std::vector<std::string> notes;
  for (const ConfiguredStrategy& strategy : strategies_)
    if (!strategy.note.empty()) notes.push_back(strategy.note);
  return notes;
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
  return {fmt::format("{}: question {}, turn {}: {}", options_.prompts_file, traces::question_label(question),
                      turn + 1, error.message)};
}

bool Session::cancelled() const {
  return options_.cancelled != nullptr && options_.cancelled->load();
}

Result<CheckedQuestions> Session::check_questions(const Backend& backend,
                                                  std::span<const traces::Question> questions) const {
  const SeededChooser chooser(options_.decoding.seed, 0);
  CheckedQuestions found;
  const auto room = static_cast<std::size_t>(backend.cache_rows());
  for (const traces::Question& question : questions) {
    const auto prompt = prompt_of_turn(*tokenizer_, options_.form, question);
    if (!prompt) return tl::unexpected(at_turn(question, 0, prompt.error()));
    if (options_.skip_unfit && prompt->tokens.size() > room) {
      ++found.left_out;
      continue;
    }
    const auto checked = check_request(backend, request_for(prompt->tokens), chooser);
    if (!checked) return tl::unexpected(at_turn(question, 0, checked.error()));
    found.longest_prompt_tokens = std::max(found.longest_prompt_tokens, prompt->tokens.size());
    if (!prompt->doubled_start.empty()) {
      ++found.doubled_starts;
      found.doubled_start = prompt->doubled_start;
    }
    found.questions.push_back(question);
  }
  if (found.questions.empty())
    return fail(
        "{}: no prompt fits the context of {} tokens, expected at least one (--context sets it, up to {})",
        options_.prompts_file, room, backend.shape().max_positions);
  return found;
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
                      .room = static_cast<std::size_t>(backend.cache_rows()),
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
    if (options_.skip_unfit && turn > 0 && prompt.tokens.size() > recording.room) {
      const auto rest = static_cast<std::int64_t>(question.turns.size() - turn);
      result.left_out_turns += rest;
      result.planned -= rest;
      return {};
    }
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
