// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/record_command.h"

#include <draftscope/base/clock.h>
#include <draftscope/base/sha256.h>
#include <draftscope/engine/prompt_tokens.h>
#include <draftscope/engine/recording/recorder.h>
#include <draftscope/engine/recording/run_identity.h>
#include <draftscope/engine/recording/session.h>
#include <draftscope/speculation/model_shape_json.h>
#include <draftscope/traces/atomic_trace.h>
#include <draftscope/traces/prompt_file.h>
#include <draftscope/traces/reader.h>
#include <draftscope/traces/record_help.h>
#include <draftscope/traces/template_arguments.h>
#include <draftscope/traces/writer.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands/commands.h"
#include "options/model_options.h"
#include "options/numbers.h"
#include "options/output_options.h"
#include "options/shard_options.h"
#include "terminal/messages.h"
#include "terminal/process.h"
#include "terminal/progress_bar.h"

namespace draftscope::cli {

profiler::Level level_of(const std::string& name) {
  if (name == "rounds") return profiler::Level::off;
  if (name == "phases") return profiler::Level::phases;
  return name == "layers" ? profiler::Level::layers : profiler::Level::ops;
}

engine::StrategyResources noting_models(engine::StrategyResources resources, NotedModels& into) {
  if (!resources.open_draft_model) return resources;
  resources.open_draft_model = [open = std::move(resources.open_draft_model),
                                &into](const std::string& model) -> Result<engine::OpenedDraftModel> {
    DRAFTSCOPE_TRY_ASSIGN(engine::OpenedDraftModel opened, open(model));
    into.insert_or_assign(model, NotedModel{opened.backend->shape(), opened.backend->cache_rows()});
    return opened;
  };
  if (!resources.open_next_token_layer) return resources;
  resources.open_next_token_layer = [open = std::move(resources.open_next_token_layer),
                                     &into]() -> Result<engine::OpenedDraftModel> {
    DRAFTSCOPE_TRY_ASSIGN(engine::OpenedDraftModel layer, open());
    into.insert_or_assign("next-token layer",
                          NotedModel{layer.backend->shape(), layer.backend->cache_rows()});
    return layer;
  };
  return resources;
}

void add_shapes(const NotedModels& models, traces::Meta& meta) {
  if (models.empty()) return;
  // An object {"model as the strategy names it": its shape}.
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [model, noted] : models)
    json[model] = nlohmann::ordered_json::parse(speculation::recorded_shape_json(noted.shape));
  meta["draft_model_shapes"] = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

namespace {

/// Says what was left out or changed, and which draft models hold less than the longest prompt.
void note_context(const engine::CheckedQuestions& checked, const engine::Backend& backend,
                  const NotedModels& draft_models) {
  if (checked.left_out > 0)
    print_note(
        fmt::format("{} of {} questions left out: their prompts are longer than the context of {} tokens "
                    "(--context sets it, up to {})",
                    checked.left_out, checked.left_out + checked.questions.size(), backend.cache_rows(),
                    backend.shape().max_positions));
  if (checked.doubled_starts > 0)
    print_note(fmt::format("{} prompts: {}", checked.doubled_starts,
                           engine::doubled_start_note(checked.doubled_start)));
  for (const auto& [model, noted] : draft_models)
    if (static_cast<std::size_t>(noted.cache_rows) < checked.longest_prompt_tokens)
      print_note(
          fmt::format("draft model {} holds {} tokens, the longest prompt {}: beyond its context it drafts "
                      "nothing",
                      model, noted.cache_rows, checked.longest_prompt_tokens));
}

/// The text ids of a prompt file's questions, as {"the number in the trace": "the id"}; empty if it has none.
traces::Meta question_names(std::span<const traces::Question> questions) {
  nlohmann::ordered_json names = nlohmann::ordered_json::object();
  for (const traces::Question& question : questions)
    if (!question.name.empty()) names[std::to_string(question.question_id)] = question.name;
  if (names.empty()) return {};
  return {{"question_names", names.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)}};
}

/// Records the questions into one trace, at `output`.
Result<int> record_into(const RecordOptions& options, std::span<const traces::Question> questions,
                        const traces::Meta& further_meta, const std::filesystem::path& output,
                        bool overwrite) {
  DRAFTSCOPE_TRY_ASSIGN(const LoadedModel model, load_model(options.model));
  hint_at_chat_template(model, options.chat.chat, options.quiet);
  NotedModels draft_models;
  DRAFTSCOPE_TRY_ASSIGN(
      engine::Session session,
      engine::Session::create({.decoding = options.decoding,
                               .form = {.chat = options.chat.chat, .system = options.chat.system},
                               .repeats = options.repeats,
                               .skip_unfit = options.skip_unfit,
                               .warmup = options.warmup,
                               .prompts_file = options.prompts.string(),
                               .cancelled = &InterruptScope::flag()},
                              options.strategies, *model.checkpoint, model.tokenizer,
                              noting_models(strategy_resources(options.model, model), draft_models)));
  for (const std::string& note : session.strategy_notes()) print_note(note);

  DRAFTSCOPE_TRY_ASSIGN(engine::DeviceRecording device,
                        engine::DeviceRecording::start(options.device_trace, options.model.device));
  DRAFTSCOPE_TRY_ASSIGN(const auto backend, make_backend(options.model, model, device.trace()));
  if (!device.notice().empty()) print_error(device.notice());
  traces::Meta meta =
      engine::run_identity(*model.checkpoint, *backend, options.decoding,
                           {options.prompts.string(), options.repeats, options.level, options.command_line,
                            options.model.weights, options.model.cuda_pass});
  add_shapes(draft_models, meta);
  if (!options.model.template_arguments.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(meta["template_arguments"],
                          traces::template_arguments_json(options.model.template_arguments));
  }
  meta.insert(further_meta.begin(), further_meta.end());
  const InterruptScope interrupt;
  DRAFTSCOPE_TRY_ASSIGN(const engine::CheckedQuestions checked, session.check_questions(*backend, questions));
  note_context(checked, *backend, draft_models);
  DRAFTSCOPE_TRY(session.warm_up(*backend, checked.questions.front()));
  if (InterruptScope::flag()) {
    print_note(fmt::format("interrupted: nothing recorded in {}", output.string()));
    return InterruptScope::exit_code();
  }

  DRAFTSCOPE_TRY_ASSIGN(const auto writer, traces::Writer::create(output, meta, {.overwrite = overwrite}));
  profiler::SpanRecorder spans(level_of(options.level), writer.get());
  backend->set_recorder(&spans);
  engine::Recorder recorder(*writer, spans, *backend, model.tokenizer, options.shadow);
  device.begin(*writer, spans);

  engine::SessionResult recorded;
  {
    ProgressBar bar("recording", options.quiet);
    recorded = session.record(*backend, *writer, recorder, device, checked.questions,
                              [&](std::int64_t done, std::int64_t all) { bar.update(done, all); });
  }
  device.end();
  const ClockPair clock = read_clock_pair();
  writer->set_meta("clock_end_monotonic_ns", std::to_string(clock.monotonic_ns));
  writer->set_meta("clock_end_realtime_ns", std::to_string(clock.realtime_ns));
  if (recorded.cancelled || recorded.failure)
    writer->set_meta("requests_planned", std::to_string(recorded.planned));
  const Result<void> closed = writer->close();
  if (!closed) return tl::unexpected(closed.error());
  if (recorded.failure) return tl::unexpected(*recorded.failure);

  if (recorded.left_out_turns > 0)
    print_note(
        fmt::format("{} requests left out: answers made their prompts longer than the context of {} tokens",
                    recorded.left_out_turns, backend->cache_rows()));
  if (!options.quiet || recorded.cancelled)
    print_note(fmt::format("{}{} of {} requests recorded in {}", recorded.cancelled ? "interrupted: " : "",
                           recorded.requests, recorded.planned, output.string()));
  return recorded.cancelled ? InterruptScope::exit_code() : 0;
}

/// Shard that a recording names. Errors: the recording has not ended.
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

/// Records a shard's questions into a separate file, which appears once it is complete.
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
  traces::Meta meta{{"shard", traces::shard_text(output.shard)},
                    {"prompts_sha256", std::move(digest)},
                    {"prompts_in_all", std::to_string(questions.size())}};
  meta.merge(question_names(questions));
  DRAFTSCOPE_TRY_ASSIGN(const int code, record_into(options, own, meta, output.partial, true));
  if (code != 0) return code;
  DRAFTSCOPE_TRY(put_shard_in_place(output, options.overwrite, options.quiet));
  return 0;
}

}  // namespace

Result<int> record(const RecordOptions& options) {
  DRAFTSCOPE_TRY(check(options.chat, options.model));
  DRAFTSCOPE_TRY(engine::check_stop_strings(options.decoding.stop_strings));
  if (!options.shard.shard)
    DRAFTSCOPE_TRY(traces::check_trace_target(options.output, {options.inputs, options.overwrite}));
  std::size_t without_prompt = 0;
  DRAFTSCOPE_TRY_ASSIGN(
      std::vector<traces::Question> questions,
      traces::read_questions(options.prompts, options.skip_unfit ? &without_prompt : nullptr));
  if (without_prompt > 0)
    print_note(fmt::format("{} questions left out: they have no prompt", without_prompt));
  if (options.limit > 0)
    questions.resize(std::min(questions.size(), static_cast<std::size_t>(options.limit)));
  if (options.shard.shard) return record_shard(options, questions);
  return record_into(options, questions, question_names(questions), options.output, options.overwrite);
}

void add_level_options(CLI::App& command, std::string& level, bool& shadow) {
  command.add_option("--level", level, traces::record_help::level)
      ->check(one_of({"rounds", "phases", "layers", "ops"}))
      ->capture_default_str();
  command.add_flag("--shadow", shadow, traces::record_help::shadow);
}

void add_recording_options(CLI::App& command, RecordOptions& options) {
  add_model_options(command, options.model);
  command.add_option("--prompts", options.prompts, traces::record_help::prompts)->required();
  command.add_option("-o,--output", options.output, traces::record_help::output)->required();
  add_decoding_options(command, options.decoding);
  refuse_unread_sampling(command);
  add_device_trace_options(command, options.device_trace);
  add_number(command, "--repeats", options.repeats, traces::record_help::repeats, {.min = 1});
  add_number(command, "--warmup", options.warmup, traces::record_help::warmup, {.min = 0});
  add_number(command, "--limit", options.limit, "Only the first questions; 0 = all", {.min = 0});
  command.add_flag("--skip-unfit", options.skip_unfit, traces::record_help::skip_unfit);
  add_level_options(command, options.level, options.shadow);
  add_chat_options(command, options.chat, "the turns");
  add_template_arguments(command, options.model);
  command.add_flag("--overwrite", options.overwrite, traces::record_help::overwrite);
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
