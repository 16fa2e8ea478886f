// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/serve.h"

#include <draftscope/base/clock.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/prompt_tokens.h>
#include <draftscope/engine/sampling.h>
#include <draftscope/engine/stop_strings.h>
#include <draftscope/traces/atomic_trace.h>
#include <draftscope/traces/template_arguments.h>
#include <draftscope/traces/writer.h>

#include <fmt/format.h>
#include <chrono>
#include <memory>
#include <span>
#include <utility>

#include "commands/record_command.h"
#include "serve/endpoint.h"
#include "serve/exchange.h"
#include "serve/served_recording.h"
#include "terminal/messages.h"
#include "terminal/process.h"

namespace draftscope::cli {

namespace {

constexpr std::chrono::milliseconds signal_poll{50};
constexpr std::chrono::seconds max_farewell{5};

/// Gives text and counts to the exchange as rounds emit them.
class ReplyWriter final : public engine::DecodeListener {
 public:
  ReplyWriter(Exchange& exchange, Completion& completion, const engine::Tokenizer& tokenizer)
      : exchange_(exchange),
        completion_(completion),
        decoder_(tokenizer),
        search_(completion.request.decoding.stop_strings) {}

  void on_first_token(std::int32_t token) override {
    exchange_.add_first_token();
    add(std::span(&token, 1));
  }
  void on_round(const engine::RoundReport& report) override {
    exchange_.add_round(report.round);
    add(report.emitted);
  }
  /// Gives the text that waited for the end of a character or of a stop string.
  void finish() {
    text_ += decoder_.finish();
    (void)search_.add(std::string_view(text_).substr(searched_));
    search_.end();
    send();
  }

 private:
  void add(std::span<const std::int32_t> tokens) {
    tokens_ += static_cast<std::int64_t>(tokens.size());
    for (const std::int32_t token : tokens) text_ += decoder_.next(token);
    (void)search_.add(std::string_view(text_).substr(searched_));
    searched_ = text_.size();
    send();
    if (InterruptScope::flag()) completion_.cancelled = true;
  }
  void send() {
    exchange_.add_text(completion_, std::string_view(text_).substr(sent_, search_.settled_bytes() - sent_),
                       tokens_);
    sent_ = search_.settled_bytes();
  }

  Exchange& exchange_;
  Completion& completion_;
  engine::StreamDecoder decoder_;
  engine::StopSearch search_;
  std::string text_;
  std::int64_t tokens_ = 0;
  std::size_t searched_ = 0;  // Bytes of the text that the search has.
  std::size_t sent_ = 0;
};

CompletionEnd end_of(traces::RequestStop stop) {
  using traces::RequestStop;
  if (stop == RequestStop::eos || stop == RequestStop::stop_string) return CompletionEnd::stop;
  if (stop == RequestStop::length || stop == RequestStop::context) return CompletionEnd::length;
  return stop == RequestStop::cancelled ? CompletionEnd::abort : CompletionEnd::error;
}

/// The model and the strategy that decode, and the recording.
struct Decoding {
  const LoadedModel& model;
  engine::Backend& backend;
  engine::Strategy& strategy;
  engine::RecordingSettings settings;
  ServedRecording* recording = nullptr;  ///< Null = nothing is recorded.
};

struct Decoded {
  traces::RequestStop stop = traces::RequestStop::error;
  std::size_t tokens = 0;
};

Result<Decoded> decode_completion(Decoding& decoding, Completion& completion, ReplyWriter& writer) {
  const engine::DecodingOptions& options = completion.request.decoding;
  engine::TextEnd text_end(decoding.model.tokenizer, options.stop_strings);
  engine::DecodeRequest request{.prompt = completion.prompt,
                                .max_new_tokens = options.max_tokens,
                                .sampling = options.sampling,
                                .text_end = &text_end,
                                .cancelled = &completion.cancelled};
  if (!completion.request.ignores_end) request.eos_tokens = decoding.model.checkpoint->shape.eos_tokens;
  if (decoding.recording == nullptr) {
    engine::SeededChooser chooser(options.seed, 0);
    DRAFTSCOPE_TRY_ASSIGN(const engine::DecodeResult result,
                          engine::decode(decoding.backend, decoding.strategy, request, chooser, writer));
    return Decoded{result.stop, result.tokens.size()};
  }
  DRAFTSCOPE_TRY_ASSIGN(
      const traces::Request row,
      decoding.recording->record(
          completion, decoding.strategy, request,
          engine::run_identity(*decoding.model.checkpoint, decoding.backend, options, decoding.settings),
          writer));
  return Decoded{row.stop, row.tokens.size()};
}

/// Decodes what comes until a signal, the end of the endpoint, or a failure of the trace. Returns the number
/// of completions.
std::int64_t decode_all(Decoding& decoding, Exchange& exchange) {
  std::int64_t decoded = 0;
  bool has_told_of_start = false;
  while (!InterruptScope::flag() && !exchange.is_closed()) {
    const std::shared_ptr<Completion> completion = exchange.next(signal_poll);
    if (completion == nullptr) continue;
    if (!completion->doubled_start.empty() && !std::exchange(has_told_of_start, true))
      print_note(engine::doubled_start_note(completion->doubled_start) + " (told once)");
    ReplyWriter writer(exchange, *completion, decoding.model.tokenizer);
    const Result<Decoded> result = decode_completion(decoding, *completion, writer);
    writer.finish();
    if (!result) print_error(result.error().message);
    exchange.finish(*completion,
                    result ? CompletionResult{.end = end_of(result->stop),
                                              .completion_tokens = static_cast<std::int64_t>(result->tokens)}
                           : CompletionResult{.error = result.error().message});
    ++decoded;
    if (decoding.recording != nullptr && decoding.recording->failed()) break;
  }
  return decoded;
}

/// Name of the model for clients: the last part of its path.
std::string served_name(const std::string& model) {
  std::string name = std::filesystem::path(model).lexically_normal().filename().string();
  if (name.empty()) name = std::filesystem::path(model).lexically_normal().parent_path().filename().string();
  return name.empty() ? model : name;
}

}  // namespace

Result<int> serve(const ServeOptions& options, const std::function<void(std::int32_t port)>& started) {
  DRAFTSCOPE_TRY(engine::check_stop_strings(options.decoding.stop_strings));
  DRAFTSCOPE_TRY(engine::check(options.decoding.sampling));
  if (options.output)
    DRAFTSCOPE_TRY(traces::check_trace_target(*options.output, {options.inputs, options.overwrite}));
  DRAFTSCOPE_TRY_ASSIGN(const LoadedModel model, load_model(options.model));
  NotedModels draft_models;
  DRAFTSCOPE_TRY_ASSIGN(
      engine::ConfiguredStrategy strategy,
      engine::make_strategy(options.strategy, model.checkpoint->shape,
                            noting_models(strategy_resources(options.model, model), draft_models)));
  if (!strategy.note.empty()) print_note(strategy.note);
  engine::DeviceTraceOptions device_trace = options.device_trace;
  if (!options.output) device_trace.mode = "off";
  DRAFTSCOPE_TRY_ASSIGN(engine::DeviceRecording device,
                        engine::DeviceRecording::start(device_trace, options.model.device));
  DRAFTSCOPE_TRY_ASSIGN(const auto backend, make_backend(options.model, model, device.trace()));
  if (!device.notice().empty()) print_error(device.notice());

  Exchange exchange(static_cast<std::size_t>(options.queue));
  std::vector<std::string> host_names = options.further_names;
  host_names.push_back(options.host);
  Endpoint endpoint(exchange, {.model = &model,
                               .name = served_name(options.model.model),
                               .path = options.model.model,
                               .cache_rows = backend->cache_rows(),
                               .defaults = options.decoding,
                               .max_connections = static_cast<std::size_t>(options.queue) + spare_connections,
                               .host_names = std::move(host_names)});
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t port, endpoint.bind(options.host, options.port));

  Decoding decoding{.model = model,
                    .backend = *backend,
                    .strategy = *strategy.strategy,
                    .settings = {.repeats = 1,
                                 .level = options.level,
                                 .command_line = options.command_line,
                                 .weights = options.model.weights,
                                 .launches = options.model.cuda_pass}};
  const InterruptScope interrupt;
  std::unique_ptr<ServedRecording> recording;
  if (options.output) {
    const auto meta_of = [&](const engine::DecodingOptions& settings) {
      traces::Meta meta = engine::run_identity(*model.checkpoint, *backend, settings, decoding.settings);
      add_shapes(draft_models, meta);
      return meta;
    };
    traces::Meta meta = meta_of(options.decoding);
    if (!options.model.template_arguments.empty()) {
      DRAFTSCOPE_TRY_ASSIGN(meta["template_arguments"],
                            traces::template_arguments_json(options.model.template_arguments));
    }
    DRAFTSCOPE_TRY_ASSIGN(auto writer,
                          traces::Writer::create(*options.output, meta, {.overwrite = options.overwrite}));
    recording = std::make_unique<ServedRecording>(ServedRecording::Parts{.writer = std::move(writer),
                                                                         .backend = *backend,
                                                                         .tokenizer = model.tokenizer,
                                                                         .device = device,
                                                                         .level = level_of(options.level),
                                                                         .shadow = options.shadow,
                                                                         .meta = std::move(meta),
                                                                         .neutral = meta_of({})},
                                                  strategy);
    decoding.recording = recording.get();
  }

  endpoint.start();
  started(port);
  const std::int64_t decoded = decode_all(decoding, exchange);
  exchange.close();
  exchange.wait_until_left(max_farewell);
  endpoint.stop();
  if (recording) {
    DRAFTSCOPE_TRY(recording->end());
    print_note(fmt::format("{} requests recorded in {}", decoded, options.output->string()));
  }
  if (endpoint.failed()) return fail("port: the listening socket {} failed, expected it to stay open", port);
  return 0;
}

}  // namespace draftscope::cli
