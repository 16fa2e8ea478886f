// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include <draftscope/base/text_file.h>
#include <draftscope/engine/conversation.h>
#include <draftscope/engine/decode.h>
#include <draftscope/engine/prompt_tokens.h>
#include <iostream>
#include <iterator>
#include <memory>

#include "chat/chat.h"
#include "chat/chat_input.h"
#include "options/model_options.h"
#include "options/unread_options.h"
#include "terminal/messages.h"
#include "terminal/process.h"
#include "terminal/progress_bar.h"
#include "terminal/token_printer.h"

namespace draftscope::cli {

namespace {

constexpr std::int32_t tokens_of_a_reply = 512;
constexpr std::size_t max_prompt_bytes = std::size_t{64} << 20U;

struct GenerateOptions {
  ModelOptions model;
  engine::DecodingOptions decoding;
  std::string prompt;
  std::string prompt_file;
  std::string strategy = "vanilla";
  std::string colour = "auto";
  ChatOptions chat;
  bool quiet = false;
};

Result<std::string> read_prompt(const GenerateOptions& options) {
  if (options.prompt_file.empty()) return options.prompt;
  if (options.prompt_file != "-") return read_text_file(options.prompt_file, max_prompt_bytes);
  std::string text(max_prompt_bytes + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  if (text.size() > max_prompt_bytes)
    return fail("standard input: found more than {} bytes, expected a prompt of at most that",
                max_prompt_bytes);
  return text;
}

Result<std::vector<std::int32_t>> encode_prompt(const GenerateOptions& options,
                                                const engine::Tokenizer& tokenizer) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_prompt(options));
  if (text.empty()) return fail("prompt: found an empty text, expected at least one character");
  if (!options.chat.chat) {
    auto prompt = engine::prompt_tokens(tokenizer, text);
    if (!prompt)
      return fail("{}: {}", options.prompt_file.empty() ? "prompt" : options.prompt_file,
                  prompt.error().message);
    if (!prompt->doubled_start.empty()) print_note(engine::doubled_start_note(prompt->doubled_start));
    return std::move(prompt->tokens);
  }
  const engine::Message message{.role = "user", .content = text};
  DRAFTSCOPE_TRY_ASSIGN(const std::string conversation,
                        conversation_text(tokenizer, options.chat.system, std::span(&message, 1)));
  return tokenizer.encode(conversation, {.add_special_tokens = false});
}

void print_summary(const GenerateOptions& options, const LoadedModel& model,
                   const engine::DecodeResult& result, const TokenPrinter& printer) {
  const double seconds = static_cast<double>(result.end_ns - result.start_ns) * 1e-9;
  const double decode_seconds = static_cast<double>(result.end_ns - result.first_token_ns) * 1e-9;
  std::string line = fmt::format(
      "{} tokens in {:.2f} s ({:.1f} tokens/s decoding, first token after {:.0f} ms), ended by {}",
      result.tokens.size(), seconds,
      decode_seconds > 0.0 ? static_cast<double>(printer.emitted()) / decode_seconds : 0.0,
      static_cast<double>(result.first_token_ns - result.start_ns) * 1e-6,
      traces::request_stop_name(result.stop));
  if (printer.drafted() > 0)
    line += fmt::format(
        " · α {:.2f} · τ {:.2f}",
        static_cast<double>(printer.accepted(result.stop)) / static_cast<double>(printer.drafted()),
        static_cast<double>(printer.emitted()) / static_cast<double>(printer.rounds()));
  if (model.checkpoint->synthetic) line += " · synthetic weights";
  const bool colour = marks_tokens(options.colour, options.quiet);
  draw(colour ? "\n\033[2m" : "\n");
  print_note(line);
  if (colour) draw("\033[0m");
}

Result<int> generate(const GenerateOptions& options) {
  DRAFTSCOPE_TRY(check(options.chat, options.model));
  DRAFTSCOPE_TRY(engine::check_stop_strings(options.decoding.stop_strings));
  DRAFTSCOPE_TRY_ASSIGN(const LoadedModel model, load_model(options.model));
  hint_at_chat_template(model, options.chat.chat, options.quiet);
  DRAFTSCOPE_TRY_ASSIGN(const engine::ConfiguredStrategy strategy,
                        engine::make_strategy(options.strategy, model.checkpoint->shape,
                                              strategy_resources(options.model, model)));
  if (!strategy.note.empty()) print_note(strategy.note);
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::int32_t> prompt, encode_prompt(options, model.tokenizer));
  DRAFTSCOPE_TRY_ASSIGN(const auto backend, make_backend(options.model, model));

  const InterruptScope interrupt;
  TokenPrinter printer(model.tokenizer, options.decoding.stop_strings,
                       marks_tokens(options.colour, options.quiet), InterruptScope::ask_to_end);
  auto progress = std::make_unique<ProgressBar>("reading the prompt", options.quiet);
  printer.before_first_token([&progress] { progress.reset(); });
  engine::SeededChooser chooser(options.decoding.seed, 0);
  engine::TextEnd text_end(model.tokenizer, options.decoding.stop_strings);
  const engine::DecodeRequest request{.prompt = prompt,
                                      .max_new_tokens = options.decoding.max_tokens,
                                      .sampling = options.decoding.sampling,
                                      .eos_tokens = model.checkpoint->shape.eos_tokens,
                                      .text_end = &text_end,
                                      .cancelled = &InterruptScope::flag()};
  const auto result = engine::decode(*backend, *strategy.strategy, request, chooser, printer);
  progress.reset();
  DRAFTSCOPE_TRY(printer.finish());
  if (!result) return tl::unexpected(result.error());
  if (!options.quiet) print_summary(options, model, *result, printer);
  return result->stop == traces::RequestStop::cancelled ? InterruptScope::exit_code() : 0;
}

}  // namespace

void add_generate_command(CLI::App& app, Outcome& outcome) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command = app.add_subcommand(
      "generate", "Stream text from a model under a strategy; without a prompt, talk to it");
  command->alias("chat");
  command->footer(
      "Without a prompt it holds a conversation by the model's chat template, 512 tokens a reply unless "
      "given.\nCommands inside:\n" +
      std::string(chat_help()));
  add_model_options(*command, options->model);
  CLI::Option* prompt = command->add_option("-p,--prompt", options->prompt, "The prompt");
  CLI::Option* prompt_file = command
                                 ->add_option("--prompt-file", options->prompt_file,
                                              "A file that holds the prompt; - reads standard input")
                                 ->excludes(prompt);
  command->add_option("-s,--strategy", options->strategy, "name:key=value,… (see draftscope strategies)")
      ->capture_default_str();
  add_decoding_options(*command, options->decoding);
  refuse_unread_sampling(*command);
  add_chat_options(*command, options->chat, "the prompt");
  add_template_arguments(*command, options->model);
  add_colour_options(*command, options->colour, options->quiet);
  read_only_with(*command, {"--prompt", "--prompt-file"}, {"--chat"});
  const CLI::Option* max_tokens = command->get_option("--max-tokens");
  command->callback([=, &outcome] {
    if (prompt->count() + prompt_file->count() > 0) return finish(outcome, generate(*options));
    if (max_tokens->count() == 0) options->decoding.max_tokens = tokens_of_a_reply;
    finish(outcome, converse({options->model, options->decoding, options->strategy, options->chat.system,
                              options->colour, options->quiet}));
  });
}

}  // namespace draftscope::cli
