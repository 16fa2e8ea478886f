// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/record_command.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/sha256.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/recording/recorder.h>
#include <draftscope/engine/recording/run_identity.h>
#include <draftscope/engine/recording/run_memory.h>
#include <draftscope/speculation/model_shape_json.h>
#include <draftscope/traces/prompt_file.h>
#include <draftscope/traces/reader.h>
#include <draftscope/traces/trace_target.h>
#include <draftscope/traces/writer.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands/commands.h"
#include "options/device_trace_options.h"
#include "options/numbers.h"
#include "options/output_options.h"
#include "options/shard_options.h"
#include "terminal/interrupt.h"
#include "terminal/messages.h"
#include "terminal/progress_bar.h"

namespace draftscope::cli {

namespace {

constexpr std::int32_t max_warmup_tokens = 16;

profiler::Level level_of(const std::string& name) {
  if (name == "rounds") return profiler::Level::off;
  if (name == "phases") return profiler::Level::phases;
  return name == "layers" ? profiler::Level::layers : profiler::Level::ops;
}

Result<std::vector<engine::ConfiguredStrategy>> make_strategies(const RecordOptions& options,
                                                                const LoadedModel& model,
                                                                const engine::StrategyResources& resources) {
  std::vector<engine::ConfiguredStrategy> strategies;
  for (const std::string& specification : options.strategies) {
    DRAFTSCOPE_TRY_ASSIGN(engine::ConfiguredStrategy strategy,
                          engine::make_strategy(specification, model.checkpoint->shape, resources));
    const auto same = [&](const engine::ConfiguredStrategy& other) {
      return other.name == strategy.name && other.parameters == strategy.parameters;
    };
    if (std::any_of(strategies.begin(), strategies.end(), same))
      return fail("strategy: {} is given twice, expected each once (--repeats records it more often)",
                  strategy.specification);
    strategies.push_back(std::move(strategy));
  }
  return strategies;
}

/// The text that turn `turn` of a conversation starts from.
Result<engine::RecordedPrompt> prompt_of_turn(const RecordOptions& options,
                                              const engine::Tokenizer& tokenizer,
                                              const traces::Question& question, std::size_t turn,
                                              std::span<const std::string> answers) {
  engine::RecordedPrompt prompt{.question_id = question.question_id,
                                .category = question.category,
                                .turn = static_cast<std::int32_t>(turn)};
  if (options.chat.chat) {
    std::vector<engine::Message> messages;
    for (std::size_t i = 0; i <= turn; ++i) {
      messages.push_back({"user", question.turns[i]});
      if (i < turn) messages.push_back({"assistant", answers[i]});
    }
    DRAFTSCOPE_TRY_ASSIGN(prompt.text, conversation_text(tokenizer, options.chat.system, messages));
  } else {
    for (std::size_t i = 0; i < turn; ++i) prompt.text += question.turns[i] + answers[i] + "\n\n";
    prompt.text += question.turns[turn];
  }
  DRAFTSCOPE_TRY_ASSIGN(prompt.tokens,
                        tokenizer.encode(prompt.text, {.add_special_tokens = !options.chat.chat}));
  return prompt;
}

/// A request of the recording: all have everything but their prompt in common.
engine::DecodeRequest request_for(const RecordOptions& options, const LoadedModel& model,
                                  std::span<const std::int32_t> prompt, engine::TextEnd* text_end = nullptr) {
  return {.prompt = prompt,
          .max_new_tokens = options.decoding.max_tokens,
          .sampling = options.decoding.sampling,
          .eos_tokens = model.checkpoint->shape.eos_tokens,
          .text_end = text_end,
          .cancelled = &InterruptScope::flag()};
}

/// The same error, behind the place of the file that it is about.
Error at_turn(const RecordOptions& options, const traces::Question& question, std::size_t turn,
              const Error& error) {
  return {fmt::format("{}: question {}, turn {}: {}", options.prompts.string(), question.question_id,
                      turn + 1, error.message)};
}

/// Fails on the first question that can't be decoded, while nothing has been written yet. Later turns hold
/// answers that are not known by now.
Result<void> check_questions(const RecordOptions& options, const LoadedModel& model,
                             const engine::Backend& backend, std::span<const traces::Question> questions) {
  const engine::SeededChooser chooser(options.decoding.seed, 0);
  for (const traces::Question& question : questions) {
    const auto prompt = prompt_of_turn(options, model.tokenizer, question, 0, {});
    if (!prompt) return tl::unexpected(at_turn(options, question, 0, prompt.error()));
    const auto checked = check_request(backend, request_for(options, model, prompt->tokens), chooser);
    if (!checked) return tl::unexpected(at_turn(options, question, 0, checked.error()));
  }
  return {};
}

/// One recording under way: what the loops below share.
struct Session {
  const RecordOptions& options;
  const LoadedModel& model;
  traces::Writer& writer;
  engine::Recorder& recorder;
  engine::DeviceRecording& device;
  const engine::StrategyResources& resources;
  std::vector<engine::ConfiguredStrategy>& strategies;
  ProgressBar& progress;
  engine::RunMemories memories;
  std::vector<traces::RunId> run_ids;
  std::int64_t planned;  // requests
  engine::TextEnd text_end;
  std::int64_t requests = 0;
  bool interrupted = false;

  /// All turns of one question under one strategy.
  Result<void> record_question(std::size_t strategy, const traces::Question& question, std::int32_t repeat) {
    std::vector<std::string> answers;
    for (std::size_t turn = 0; turn < question.turns.size() && !interrupted; ++turn) {
      DRAFTSCOPE_TRY_ASSIGN(const engine::RecordedPrompt prompt,
                            prompt_of_turn(options, model.tokenizer, question, turn, answers));
      memories.begin_request();
      const Result<traces::Request> request =
          recorder.request(run_ids[strategy], *strategies[strategy].strategy, prompt, repeat,
                           request_for(options, model, prompt.tokens, &text_end), options.decoding.seed,
                           options.decoding.stop_strings);
      device.end_request();
      memories.end_request(run_ids[strategy], *strategies[strategy].strategy);
      if (!request) return tl::unexpected(at_turn(options, question, turn, request.error()));
      answers.push_back(request->text);
      interrupted = InterruptScope::flag();
      progress.update(++requests, planned);
    }
    return {};
  }

  /// Prompt by prompt, every strategy in turn, so that speedups are paired and a drift of the machine hits
  /// all alike. Who goes first rotates, so that no strategy always finds the caches as another left them.
  /// What a strategy learns it keeps from prompt to prompt, but not into the next repeat: each repeat is the
  /// same experiment.
  Result<void> record_questions(std::span<const traces::Question> questions) {
    for (std::int32_t repeat = 0; repeat < options.repeats; ++repeat) {
      DRAFTSCOPE_TRY_ASSIGN(strategies, make_strategies(options, model, resources));
      for (std::size_t q = 0; q < questions.size(); ++q) {
        for (std::size_t s = 0; s < strategies.size(); ++s) {
          const std::size_t strategy = (s + q + static_cast<std::size_t>(repeat)) % strategies.size();
          DRAFTSCOPE_TRY(record_question(strategy, questions[q], repeat));
          if (interrupted || writer.failed()) return {};
        }
      }
    }
    return {};
  }
};

struct Recorded {
  std::int64_t requests = 0;
  std::int64_t planned = 0;
  bool interrupted = false;
  std::optional<Error> failure;  ///< what decoding failed with; everything before it is recorded
};

Recorded record_all(const RecordOptions& options, const LoadedModel& model, const engine::Backend& backend,
                    traces::Writer& writer, engine::Recorder& recorder, engine::DeviceRecording& device,
                    const engine::StrategyResources& resources,
                    std::vector<engine::ConfiguredStrategy>& strategies,
                    std::span<const traces::Question> questions) {
  std::int64_t turns = 0;
  for (const traces::Question& question : questions)
    turns += static_cast<std::int64_t>(question.turns.size());
  ProgressBar progress("recording", options.quiet);
  Session session{options,
                  model,
                  writer,
                  recorder,
                  device,
                  resources,
                  strategies,
                  progress,
                  engine::RunMemories(backend),
                  {},
                  turns * options.repeats * static_cast<std::int64_t>(strategies.size()),
                  engine::TextEnd(model.tokenizer, options.decoding.stop_strings)};
  for (const engine::ConfiguredStrategy& strategy : strategies)
    session.run_ids.push_back(recorder.add_run(strategy));
  const Result<void> done = session.record_questions(questions);
  writer.set_meta("run_memory", session.memories.json());
  Recorded recorded{session.requests, session.planned, session.interrupted, {}};
  if (!done) recorded.failure = done.error();
  return recorded;
}

/// Decodes without recording: page faults of the mapped weights and the processor's clock settle here.
Result<void> warm_up(const RecordOptions& options, const LoadedModel& model, engine::Backend& backend,
                     std::span<engine::ConfiguredStrategy> strategies, const traces::Question& question) {
  DRAFTSCOPE_TRY_ASSIGN(const engine::RecordedPrompt prompt,
                        prompt_of_turn(options, model.tokenizer, question, 0, {}));
  engine::DecodeListener nobody;
  for (std::int32_t i = 0; i < options.warmup; ++i) {
    for (engine::ConfiguredStrategy& strategy : strategies) {
      engine::SeededChooser chooser(options.decoding.seed, 0);
      engine::DecodeRequest request = request_for(options, model, prompt.tokens);
      request.max_new_tokens = std::min(request.max_new_tokens, max_warmup_tokens);
      const auto decoded = engine::decode(backend, *strategy.strategy, request, chooser, nobody);
      if (!decoded) return tl::unexpected(at_turn(options, question, 0, decoded.error()));
    }
  }
  return {};
}

using DraftModelShapes = std::map<std::string, speculation::ModelShape>;

/// The same resources; `into`, which must outlive them, learns the shapes of the models that are opened.
engine::StrategyResources noting_shapes(engine::StrategyResources resources, DraftModelShapes& into) {
  if (!resources.open_draft_model) return resources;
  resources.open_draft_model = [open = std::move(resources.open_draft_model),
                                &into](const std::string& model) -> Result<std::shared_ptr<engine::Backend>> {
    DRAFTSCOPE_TRY_ASSIGN(std::shared_ptr<engine::Backend> backend, open(model));
    into.insert_or_assign(model, backend->shape());
    return backend;
  };
  return resources;
}

/// {"model as the strategy names it": its shape}.
std::string draft_model_shapes_json(const DraftModelShapes& shapes) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [model, shape] : shapes)
    json[model] = nlohmann::ordered_json::parse(speculation::recorded_shape_json(shape));
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Records the questions into one trace, which is `output`.
Result<int> record_into(const RecordOptions& options, std::span<const traces::Question> questions,
                        const traces::Meta& further_meta, const std::filesystem::path& output,
                        bool overwrite) {
  DRAFTSCOPE_TRY_ASSIGN(const LoadedModel model, load_model(options.model));
  hint_at_chat_template(model, options.chat.chat, options.quiet);
  DraftModelShapes draft_models;
  const engine::StrategyResources resources =
      noting_shapes(strategy_resources(options.model, model), draft_models);
  DRAFTSCOPE_TRY_ASSIGN(auto strategies, make_strategies(options, model, resources));

  DRAFTSCOPE_TRY_ASSIGN(engine::DeviceRecording device,
                        engine::DeviceRecording::start(options.device_trace, options.model.device));
  if (!device.notice().empty()) print_error(device.notice());
  DRAFTSCOPE_TRY_ASSIGN(const auto backend, make_backend(options.model, model, device.trace()));
  traces::Meta meta = engine::run_identity(*model.checkpoint, *backend, options.decoding,
                                           {options.prompts.string(), options.repeats, options.level,
                                            options.command_line, options.model.weights});
  if (!draft_models.empty()) meta["draft_model_shapes"] = draft_model_shapes_json(draft_models);
  meta.insert(further_meta.begin(), further_meta.end());
  const InterruptScope interrupt;
  DRAFTSCOPE_TRY(check_questions(options, model, *backend, questions));
  DRAFTSCOPE_TRY(warm_up(options, model, *backend, strategies, questions.front()));

  DRAFTSCOPE_TRY_ASSIGN(const auto writer, traces::Writer::create(output, meta, {.overwrite = overwrite}));
  profiler::SpanRecorder spans(level_of(options.level), writer.get());
  backend->set_recorder(&spans);
  engine::Recorder recorder(*writer, spans, *backend, model.tokenizer, options.shadow);
  device.begin(*writer, spans);

  const Recorded recorded =
      record_all(options, model, *backend, *writer, recorder, device, resources, strategies, questions);
  device.end();
  const ClockPair clock = read_clock_pair();
  writer->set_meta("clock_end_monotonic_ns", std::to_string(clock.monotonic_ns));
  writer->set_meta("clock_end_realtime_ns", std::to_string(clock.realtime_ns));
  const Result<void> closed = writer->close();
  if (!closed) return tl::unexpected(closed.error());
  if (recorded.failure) return tl::unexpected(*recorded.failure);

  if (!options.quiet || recorded.interrupted)
    print_note(fmt::format("{}{} of {} requests recorded in {}", recorded.interrupted ? "interrupted: " : "",
                           recorded.requests, recorded.planned, output.string()));
  return recorded.interrupted ? InterruptScope::exit_code() : 0;
}

/// The shard that a recording says it is. Errors: it has not ended.
Result<std::optional<std::string>> shard_of_recording(const std::filesystem::path& file) {
  DRAFTSCOPE_TRY_ASSIGN(traces::Reader reader, traces::Reader::open(file));
  DRAFTSCOPE_TRY_ASSIGN(const traces::Recording recording, reader.recording());
  if (!recording.closed_cleanly)
    return fail("{}: was not closed, expected a recording that has ended (--overwrite replaces it)",
                file.string());
  const auto named = recording.meta.find("shard");
  if (named == recording.meta.end()) return std::nullopt;
  return named->second;
}

/// A shard's questions into a file of its own, which is there once it is whole.
Result<int> record_shard(const RecordOptions& options, std::span<const traces::Question> questions) {
  const ShardOutput output = shard_output(options.output, options.shard);
  if (!options.overwrite) {
    DRAFTSCOPE_TRY_ASSIGN(const bool is_done, is_there(output, shard_of_recording, options.quiet));
    if (is_done) return 0;
  }
  DRAFTSCOPE_TRY(traces::check_trace_target(output.target, {options.inputs, options.overwrite}));
  DRAFTSCOPE_TRY(traces::check_trace_target(output.partial, {options.inputs, true}));
  std::vector<traces::Question> own;
  for (std::size_t i = 0; i < questions.size(); ++i)
    if (output.shard.has(i)) own.push_back(questions[i]);
  if (own.empty())
    return fail("{}: found {} questions, expected at least {} for shard {}", options.prompts.string(),
                questions.size(), output.shard.index, traces::shard_text(output.shard));
  DRAFTSCOPE_TRY_ASSIGN(std::string digest, sha256_of_file(options.prompts));
  const traces::Meta meta{{"shard", traces::shard_text(output.shard)},
                          {"prompts_sha256", std::move(digest)},
                          {"prompts_in_all", std::to_string(questions.size())}};
  DRAFTSCOPE_TRY_ASSIGN(const int code, record_into(options, own, meta, output.partial, true));
  if (code != 0) return code;
  DRAFTSCOPE_TRY(put_shard_in_place(output, options.overwrite, options.quiet));
  return 0;
}

}  // namespace

Result<int> record(const RecordOptions& options) {
  DRAFTSCOPE_TRY(check(options.chat));
  DRAFTSCOPE_TRY(engine::check_stop_strings(options.decoding.stop_strings));
  if (!options.shard.shard)
    DRAFTSCOPE_TRY(traces::check_trace_target(options.output, {options.inputs, options.overwrite}));
  DRAFTSCOPE_TRY_ASSIGN(std::vector<traces::Question> questions, traces::read_questions(options.prompts));
  if (options.limit > 0)
    questions.resize(std::min(questions.size(), static_cast<std::size_t>(options.limit)));
  if (options.shard.shard) return record_shard(options, questions);
  return record_into(options, questions, {}, options.output, options.overwrite);
}

void add_recording_options(CLI::App& command, RecordOptions& options) {
  add_model_options(command, options.model);
  command.add_option("--prompts", options.prompts, "Questions, one JSON object a line (Spec-Bench's format)")
      ->required();
  command.add_option("-o,--output", options.output, "The trace to write (.dstrace)")->required();
  add_decoding_options(command, options.decoding);
  add_device_trace_options(command, options.device_trace);
  add_number(command, "--repeats", options.repeats,
             "How often to record each prompt and strategy; each repeat starts every strategy anew",
             {.min = 1})
      ->capture_default_str();
  add_number(command, "--warmup", options.warmup, "Unrecorded decodes of the first prompt before the start",
             {.min = 0})
      ->capture_default_str();
  add_number(command, "--limit", options.limit, "Only the first questions; 0 = all", {.min = 0})
      ->capture_default_str();
  command.add_option("--level", options.level, "How fine to record time")
      ->check(one_of({"rounds", "phases", "layers", "ops"}))
      ->capture_default_str();
  command.add_flag("--shadow", options.shadow,
                   "After each request, record what every layer would have predicted at every position");
  add_chat_options(command, options.chat, "the turns");
  command.add_flag("--overwrite", options.overwrite, "Replace an existing trace");
  command.add_flag("-q,--quiet", options.quiet, "No progress, no closing line");
}

void add_record_command(CLI::App& app, Outcome& outcome, const std::string& command_line) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* command =
      app.add_subcommand("record", "Decode prompts under one or several strategies and write a trace");
  add_recording_options(*command, *options);
  command
      ->add_option("-s,--strategy", options->strategies,
                   "name:key=value,…; several are interleaved prompt by prompt")
      ->required();
  add_shard_options(*command, options->shard, "each N-th prompt");
  options->command_line = command_line;
  command->callback([options, command, &outcome] {
    options->inputs = files_named_by(*command, "--output");
    if (const auto read = read_shard(options->shard); !read)
      return finish(outcome, tl::unexpected(read.error()));
    finish(outcome, record(*options));
  });
}

}  // namespace draftscope::cli
