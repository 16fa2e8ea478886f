// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/model_options.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cpu_backend.h>
#include <draftscope/engine/cuda_backend.h>
#include <draftscope/engine/opening_notes.h>
#include <draftscope/engine/shared_tokens.h>
#include <draftscope/speculation/weight_format.h>
#include <draftscope/traces/record_help.h>
#include <draftscope/traces/template_arguments.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "options/numbers.h"
#include "options/unread_options.h"
#include "terminal/messages.h"

namespace draftscope::cli {

namespace {

/// Values of --weights.
std::vector<std::string> held_weights() {
  std::vector<std::string> words{"as-stored", "bf16"};
  for (const speculation::WeightFormatRow& row : speculation::weight_formats())
    if (row.made_by != speculation::MadeBy::none) words.emplace_back(row.name);
  return words;
}

/// Packed matrices are multiplied without unpacking, unless another option needs plain numbers.
engine::BlockMatrices block_matrices(const ModelOptions& options) {
  using enum engine::BlockMatrices;
  if (!options.adapter.empty()) return widened;
  if (options.device == "cpu") return options.weights == "as-stored" ? as_stored : widened;
  return options.weights == "as-stored" || options.weights == "fp8" ? cuda_as_stored : widened;
}

/// Error: bf16 is requested for a model of another type.
Result<void> check_bf16(const engine::Checkpoint& checkpoint) {
  if (const engine::DType dtype = checkpoint.weights.embedding.dtype; dtype != engine::DType::bf16)
    return fail("weights: found bf16 for a model of {}, expected as-stored", engine::dtype_name(dtype));
  return {};
}

/// Format to which a backend rounds plain matrices, if any.
Result<std::optional<speculation::WeightFormat>> rounded_weights(const ModelOptions& options,
                                                                 const engine::Checkpoint& checkpoint,
                                                                 speculation::MadeBy backend) {
  if (options.weights == "as-stored") return std::nullopt;
  DRAFTSCOPE_TRY_ASSIGN(const speculation::WeightFormat format,
                        speculation::parse_weight_format(options.weights));
  if (speculation::makes(backend, speculation::weight_format_row(format))) return format;
  if (format != speculation::WeightFormat::bf16)
    return fail("weights: found {} for device {}, expected as-stored, bf16 or one of {}", options.weights,
                options.device, speculation::made_weight_formats(backend));
  DRAFTSCOPE_TRY(check_bf16(checkpoint));
  return std::nullopt;
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("-m,--model", options.model, traces::record_help::model)->required();
  command.add_option("--adapter", options.adapter, "Folder of a PEFT LoRA adapter to merge into the weights");
  command.add_option("--device", options.device, "cpu, cuda, or cuda:N for the N-th GPU")
      ->capture_default_str();
  command
      .add_option(
          "--weights", options.weights,
          fmt::format(
              "How matrices are held: as-stored, or bf16 (packed ones widened); on a CPU also rounded "
              "to blocks of {}; on a GPU the layers' to {}",
              speculation::made_weight_formats(speculation::MadeBy::cpu),
              speculation::made_weight_formats(speculation::MadeBy::cuda)))
      ->check(one_of(held_weights()))
      ->capture_default_str();
  add_number(command, "--threads", options.threads, "Threads; 0 = one a core (cpu)", {0, 1024});
  add_number(command, "--context", options.context,
             "Tokens of context to hold; 0 = the model's, at most 4096", {.min = 0});
  command.add_option("--kernels", options.kernels,
                     "portable, avx2, avx512, avx512-bf16 or amx-bf16; default: the best here (cpu)");
  command
      .add_option("--cuda-pass", options.cuda_pass,
                  "On a GPU: a pass or a round is one kernel (program), or a launch an operation (plain)")
      ->check(one_of({"program", "plain"}))
      ->capture_default_str();
  command.add_flag("--check-weights", options.check_weights,
                   "Read every weight once and refuse NaN and infinity");
}

namespace {

/// As number_in(), for a share that may not be 0.
CLI::Validator share_above_zero() {
  const auto check = [](std::string& text) -> std::string {
    const auto number = parse_number<double>(text);
    if (!number || !(*number > 0.0 && *number <= 1.0))
      return fmt::format("found {}, expected a number above 0, up to 1", quote(text));
    text = fmt::format("{}", *number);
    return {};
  };
  return {check, "above 0, up to 1"};
}

/// The bias that "ID=VALUE" says.
std::optional<engine::TokenBias> token_bias(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const auto token = parse_number<std::int32_t>(text.substr(0, equals));
  const auto bias = parse_number<double>(text.substr(std::min(equals + 1, text.size())));
  if (!token || !bias) return std::nullopt;
  return engine::TokenBias{*token, *bias};
}

void add_logit_bias(CLI::App& command, std::vector<engine::TokenBias>& biases) {
  const auto check = [](const std::string& text) {
    return token_bias(text)
               ? std::string()
               : fmt::format("found {}, expected ID=VALUE, a token's id and a number", quote(text));
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--logit-bias",
          [&biases](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) biases.push_back(token_bias(text).value());
          },
          "Add VALUE to the logit of a token; may be given several times")
      ->check(CLI::Validator(check, "ID=VALUE"))
      ->allow_extra_args(false);
}

}  // namespace

void add_decoding_options(CLI::App& command, engine::DecodingOptions& options) {
  add_number(command, "-n,--max-tokens", options.max_tokens, traces::record_help::max_tokens, {.min = 1});
  add_number(command, "--temperature", options.sampling.temperature, "0 = greedy", {0.0, 1000.0});
  add_number(command, "--top-k", options.sampling.top_k, "Keep the k most probable tokens; 0 = all",
             {.min = 0});
  command.add_option("--top-p", options.sampling.top_p, "Keep the most probable tokens up to this sum")
      ->transform(share_above_zero())
      ->capture_default_str();
  add_number(command, "--min-p", options.sampling.min_p,
             "Keep tokens at least this times as probable as the best; 0 = all", {0.0, 1.0});
  constexpr double most = engine::max_count_penalty;
  add_number(command, "--frequency-penalty", options.sampling.frequency_penalty,
             "Subtracted from a token's logit for each time that the output has it", {-most, most});
  add_number(command, "--presence-penalty", options.sampling.presence_penalty,
             "Subtracted once from the logit of a token that the output has", {-most, most});
  add_logit_bias(command, options.sampling.logit_bias);
  add_number(
      command, "--repetition-penalty", options.sampling.repetition_penalty,
      "Makes tokens that occurred less likely: divides their logits by this, or multiplies negative ones",
      {engine::min_repetition_penalty, engine::max_repetition_penalty});
  command
      .add_option("--stop", options.stop_strings,
                  "A text that ends the output, which is cut before it; may be given several times")
      ->allow_extra_args(false);
  add_number(
      command, "--seed", options.seed,
      "Same seed, same text; at a temperature --coupled makes sure of it for strategies whose drafts depend "
      "on the clock or on earlier requests");
  command.add_flag(
      "--coupled", options.sampling.coupled,
      "With a temperature: target and draft choose with the same noise, so that the text depends on "
      "the seed alone, whatever drafts");
}

void refuse_unread_sampling(CLI::App& command) {
  unread_with(command, "--temperature 0", {"--top-k", "--top-p", "--min-p", "--coupled"},
              "it only with a temperature above 0");
}

void add_colour_options(CLI::App& command, std::string& colour, bool& quiet) {
  command.add_option("--colour", colour, "Tell accepted, rejected and bonus tokens apart")
      ->check(one_of({"auto", "always", "never"}))
      ->capture_default_str();
  command.add_flag("-q,--quiet", quiet, "Print the text alone");
  unread_with(command, "--quiet", {"--colour always"});
}

Result<LoadedModel> load_model(const ModelOptions& options) {
  using enum engine::SyntheticMatrices;
  std::vector<std::string> notes;
  DRAFTSCOPE_TRY_ASSIGN(engine::Checkpoint checkpoint,
                        engine::open_model(options.model, options.device == "cpu" ? in_memory : by_backend,
                                           block_matrices(options), notes));
  for (const std::string& note : notes) print_note(fmt::format("{}: {}", options.model, note));
  if (!checkpoint.why_widened.empty())
    print_error(fmt::format("{}: packed layers are widened to {}, for {}", options.model,
                            engine::dtype_name(checkpoint.weights.embedding.dtype), checkpoint.why_widened));
  if (!options.adapter.empty()) DRAFTSCOPE_TRY(engine::merge_adapter(options.adapter, checkpoint));
  if (options.check_weights) DRAFTSCOPE_TRY(engine::check_finite(checkpoint));
  auto held = std::make_unique<engine::Checkpoint>(std::move(checkpoint));
  if (held->synthetic) {
    engine::Tokenizer bytes = engine::Tokenizer::bytes(held->shape.vocab);
    return LoadedModel{std::move(held), std::move(bytes)};
  }
  DRAFTSCOPE_TRY_ASSIGN(engine::Tokenizer tokenizer, engine::Tokenizer::load(held->path));
  const std::string path = held->path.string();
  if (tokenizer.model_vocab_size() > held->shape.vocab)
    return fail("{}: the tokenizer has ids up to {}, expected fewer than the model's vocabulary of {}", path,
                tokenizer.model_vocab_size() - 1, held->shape.vocab);
  for (const std::string& note : tokenizer.notes()) print_note(fmt::format("{}: {}", path, note));
  if (!options.template_arguments.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string arguments,
                          traces::template_arguments_json(options.template_arguments));
    if (const auto set = tokenizer.set_template_arguments(arguments); !set)
      return fail("template-arg: {}", set.error().message);
  }
  if (tokenizer.vocab_size() > held->shape.vocab)
    print_note(
        fmt::format("{}: added tokens have ids up to {} and the model {} rows: a prompt that holds "
                    "one beyond them is refused",
                    path, tokenizer.vocab_size() - 1, held->shape.vocab));
  return LoadedModel{std::move(held), std::move(tokenizer)};
}

namespace {

/// Number of the GPU that `device` names; none for the CPU.
Result<std::optional<std::int32_t>> gpu_of(std::string_view device) {
  constexpr std::string_view cuda = "cuda";
  if (device == "cpu") return std::nullopt;
  if (device == cuda) return 0;
  const auto number =
      device.starts_with("cuda:") ? parse_number<std::int32_t>(device.substr(cuda.size() + 1)) : std::nullopt;
  if (!number || *number < 0) return fail("device: found {}, expected cpu, cuda or cuda:N", quote(device));
  return number;
}

Result<std::unique_ptr<engine::Backend>> make_gpu_backend(const ModelOptions& options,
                                                          const engine::Checkpoint& checkpoint,
                                                          std::int32_t gpu, std::int32_t cache_rows,
                                                          profiler::DeviceTrace* trace) {
  DRAFTSCOPE_TRY_ASSIGN(const engine::CudaWeights weights,
                        rounded_weights(options, checkpoint, speculation::MadeBy::cuda));
  if (options.threads != 0 || !options.kernels.empty())
    return fail("{}: given for device {}, expected it for cpu only",
                options.threads != 0 ? "threads" : "kernels", options.device);
  using enum engine::DecodingPasses;
  return engine::make_cuda_backend(checkpoint, {.device = gpu,
                                                .cache_rows = cache_rows,
                                                .weights = weights,
                                                .device_trace = trace,
                                                .passes = options.cuda_pass == "plain" ? plain : programs});
}

Result<std::unique_ptr<engine::Backend>> make_cpu_backend(const ModelOptions& options,
                                                          const engine::Checkpoint& checkpoint,
                                                          std::int32_t cache_rows) {
  DRAFTSCOPE_TRY_ASSIGN(const auto weights, rounded_weights(options, checkpoint, speculation::MadeBy::cpu));
  if (options.cuda_pass != "program")
    return fail("cuda-pass: found {} for device {}, expected it for cuda only", options.cuda_pass,
                options.device);
  return engine::make_cpu_backend(
      checkpoint,
      {.threads = options.threads, .cache_rows = cache_rows, .kernels = options.kernels, .weights = weights});
}

}  // namespace

Result<std::unique_ptr<engine::Backend>> make_backend(const ModelOptions& options, const LoadedModel& model,
                                                      profiler::DeviceTrace* trace) {
  DRAFTSCOPE_TRY_ASSIGN(const std::optional<std::int32_t> gpu, gpu_of(options.device));
  const engine::Checkpoint& checkpoint = *model.checkpoint;
  if (options.context > checkpoint.shape.max_positions)
    return fail("context: found {} tokens, expected at most {} (the model's)", options.context,
                checkpoint.shape.max_positions);
  const std::int32_t cache_rows =
      options.min_cache_rows > 0 ? std::max(options.context, options.min_cache_rows) : options.context;
  return gpu ? make_gpu_backend(options, checkpoint, *gpu, cache_rows, trace)
             : make_cpu_backend(options, checkpoint, cache_rows);
}

namespace {

struct OpenedModel {
  LoadedModel model;
  std::unique_ptr<engine::Backend> backend;
  std::vector<bool> shared_tokens;
};

Result<engine::OpenedDraftModel> open_next_token_layer(const ModelOptions& options,
                                                       const LoadedModel& target) {
  DRAFTSCOPE_TRY_ASSIGN(engine::Checkpoint layer,
                        engine::open_next_token_layer(*target.checkpoint, block_matrices(options)));
  DRAFTSCOPE_TRY_ASSIGN(engine::StateJoin join, engine::StateJoin::make(*target.checkpoint, layer));
  const auto opened = std::make_shared<OpenedModel>(OpenedModel{
      LoadedModel{std::make_unique<engine::Checkpoint>(std::move(layer)), target.tokenizer}, nullptr, {}});
  DRAFTSCOPE_TRY_ASSIGN(opened->backend, make_backend(options, opened->model));
  return engine::OpenedDraftModel{std::shared_ptr<engine::Backend>(opened, opened->backend.get()), nullptr,
                                  std::make_shared<const engine::StateJoin>(std::move(join))};
}

}  // namespace

void hint_at_chat_template(const LoadedModel& model, bool chat, bool quiet) {
  if (chat || quiet || !model.tokenizer.has_chat_template() || model.tokenizer.chat_template_problem())
    return;
  print_note("hint: this model has a chat template; --chat puts prompts into it");
}

engine::StrategyResources strategy_resources(const ModelOptions& options, const LoadedModel& target) {
  const auto known = std::make_shared<std::map<std::string, std::shared_ptr<OpenedModel>>>();
  const auto parts_of = [](const std::shared_ptr<OpenedModel>& opened) {
    return engine::OpenedDraftModel(std::shared_ptr<engine::Backend>(opened, opened->backend.get()),
                                    std::shared_ptr<const std::vector<bool>>(opened, &opened->shared_tokens));
  };
  const auto open = [&, known, parts_of](const std::string& name) -> Result<engine::OpenedDraftModel> {
    if (const auto place = known->find(name); place != known->end()) return parts_of(place->second);
    ModelOptions second = options;
    second.model = name;
    second.adapter.clear();
    DRAFTSCOPE_TRY_ASSIGN(LoadedModel loaded, load_model(second));
    const auto opened = std::make_shared<OpenedModel>(OpenedModel{std::move(loaded), nullptr, {}});
    DRAFTSCOPE_TRY_ASSIGN(
        opened->shared_tokens,
        engine::shared_tokens({target.tokenizer, target.checkpoint->shape.vocab},
                              {opened->model.tokenizer, opened->model.checkpoint->shape.vocab}, name));
    second.context = std::min(second.context, opened->model.checkpoint->shape.max_positions);
    DRAFTSCOPE_TRY_ASSIGN(opened->backend, make_backend(second, opened->model));
    (*known)[name] = opened;
    return parts_of(opened);
  };
  engine::StrategyResources resources{.open_draft_model = open, .checkpoint_hash = target.checkpoint->hash};
  if (target.checkpoint->has_next_token_layer)
    resources.open_next_token_layer = [&] { return open_next_token_layer(options, target); };
  return resources;
}

void add_chat_options(CLI::App& command, ChatOptions& options, const std::string& what) {
  command.add_flag("--chat", options.chat, "Put " + what + " into the model's chat template");
  command.add_option("--system", options.system,
                     "The system prompt in front: of a conversation, or with --chat");
}

void add_template_arguments(CLI::App& command, ModelOptions& options) {
  command.add_option("--template-arg", options.template_arguments, traces::record_help::template_arguments);
}

Result<void> check(const ChatOptions& options, const ModelOptions& model) {
  if (!options.system.empty() && !options.chat)
    return fail("system: found a system prompt without --chat, expected both (the chat template holds it)");
  if (!model.template_arguments.empty() && !options.chat)
    return fail(
        "template-arg: found {} without --chat, expected both (it is a variable of the chat template)",
        quote(model.template_arguments.front()));
  return {};
}

void add_device_trace_options(CLI::App& command, engine::DeviceTraceOptions& options) {
  const auto& words = traces::record_help::device_traces;
  command.add_option("--device-trace", options.mode, traces::record_help::device_trace)
      ->check(one_of({words.begin(), words.end()}))
      ->capture_default_str();
}

}  // namespace draftscope::cli
