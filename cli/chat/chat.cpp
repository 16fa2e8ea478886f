// SPDX-License-Identifier: GPL-3.0-or-later
#include "chat/chat.h"

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/output_file.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>

#include "chat/chat_engine.h"
#include "chat/chat_input.h"
#include "chat/conversation.h"
#include "terminal/glyphs.h"
#include "terminal/messages.h"
#include "terminal/numbers.h"
#include "terminal/process.h"
#include "terminal/token_printer.h"

namespace draftscope::cli {

namespace {

/// InterruptScope::exit_code() of the signal that only stops a reply.
constexpr int ended_by_ctrl_c = 128 + SIGINT;

/// Makes a strategy, and prints its note.
Result<engine::ConfiguredStrategy> strategy_of(const std::string& specification, const LoadedModel& model,
                                               const engine::StrategyResources& resources) {
  auto strategy = engine::make_strategy(specification, model.checkpoint->shape, resources);
  if (strategy && !strategy->note.empty()) print_note(strategy->note);
  return strategy;
}

/// State of a running chat.
struct Chat {
  const ConversationOptions& options;
  const LoadedModel& model;
  engine::Backend& backend;
  engine::StrategyResources resources;
  engine::ConfiguredStrategy strategy;
  Conversation conversation;
  ChatEngine engine;
  bool left = false;
  int exit_code = 0;
};

std::string summary_of(const Chat& chat, const engine::DecodeResult& result, const TokenPrinter& printer,
                       const std::optional<VanillaSteps>& vanilla) {
  const double ns = static_cast<double>(result.end_ns - result.first_token_ns);
  const auto emitted = static_cast<double>(printer.emitted());
  std::string line = fmt::format("{} tokens", result.tokens.size());
  if (emitted > 0.0 && ns > 0.0) line += fmt::format(" · {:.1f} tokens/s", emitted / ns * 1e9);
  if (printer.drafted() > 0)
    line += fmt::format(" · {:.2f} accepted per round", static_cast<double>(printer.accepted(result.stop)) /
                                                            static_cast<double>(printer.rounds()));
  if (vanilla && emitted > 0.0 && ns > 0.0)
    line += fmt::format(" · {:.2f}x vanilla (over {} steps)", vanilla->ns_per_step * emitted / ns,
                        vanilla->steps);
  line += fmt::format(" · ended by {}", traces::request_stop_name(result.stop));
  if (chat.model.checkpoint->synthetic) line += " · synthetic weights";
  if (result.stop == traces::RequestStop::context)
    line += " · the context is full: /reset begins anew, --context holds more";
  return line;
}

Result<void> check_room(const Chat& chat, const std::vector<std::int32_t>& prompt) {
  const auto room = static_cast<std::size_t>(chat.backend.cache_rows());
  if (prompt.size() <= room) return {};
  return fail(
      "context: the conversation takes {} tokens, expected at most {}; /reset begins anew, --context "
      "holds more",
      prompt.size(), room);
}

Result<void> reply(Chat& chat, const std::string& text) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::int32_t> prompt, chat.conversation.prompt_for(text));
  DRAFTSCOPE_TRY(check_room(chat, prompt));
  const bool colour = marks_tokens(chat.options.colour, chat.options.quiet);
  const InterruptScope interrupt;
  TokenPrinter printer(chat.model.tokenizer, chat.options.decoding.stop_strings, colour,
                       InterruptScope::ask_to_end);
  const Result<engine::DecodeResult> replied = chat.engine.reply(prompt, *chat.strategy.strategy, printer);
  const Result<void> written = printer.finish();
  if (!written) chat.left = true;  // No reader is left.
  DRAFTSCOPE_TRY(written);
  if (!replied) return tl::unexpected(replied.error());
  // Other signals than Ctrl-C end the program, and so the chat, whatever they interrupt.
  const auto take_signal = [&chat] {
    if (!InterruptScope::flag() || InterruptScope::exit_code() == ended_by_ctrl_c) return;
    chat.left = true;
    chat.exit_code = InterruptScope::exit_code();
  };
  take_signal();
  const engine::DecodeResult& result = *replied;
  const std::string answer = chat.model.tokenizer.decode(result.tokens);
  chat.conversation.add_turn(text,
                             std::string(engine::before_stop(answer, chat.options.decoding.stop_strings)));
  const bool interrupted = result.stop == traces::RequestStop::cancelled;
  if (chat.options.quiet) return {};
  std::optional<VanillaSteps> vanilla;
  if (!interrupted && !chat.strategy.is_vanilla) {
    DRAFTSCOPE_TRY_ASSIGN(vanilla, chat.engine.time_vanilla_steps());
    take_signal();
  }
  if (colour) draw("\033[2m");
  print_note(summary_of(chat, result, printer, vanilla));
  if (colour) draw("\033[0m");
  return {};
}

Result<void> change_strategy(Chat& chat, const std::string& specification) {
  DRAFTSCOPE_TRY_ASSIGN(chat.strategy, strategy_of(specification, chat.model, chat.resources));
  return {};
}

Result<void> save(const Chat& chat, const std::string& name) {
  DRAFTSCOPE_TRY(check_output_file(name, {}));
  DRAFTSCOPE_TRY_ASSIGN(AtomicFile file, AtomicFile::create(name));
  file.write(chat.conversation.json_lines());
  return file.commit(Replacing::refused);
}

Result<void> handle(Chat& chat, const ChatLine& line) {
  switch (line.verb) {
    case ChatVerb::say:
      return reply(chat, line.text);
    case ChatVerb::system:
      return chat.conversation.set_system(line.text);
    case ChatVerb::strategy:
      return change_strategy(chat, line.text);
    case ChatVerb::reset:
      chat.conversation.reset();
      return {};
    case ChatVerb::save:
      return save(chat, line.text);
    case ChatVerb::help:
      return write_out(chat_help());
    case ChatVerb::quit:
      chat.left = true;
      return {};
  }
  return {};
}

/// Reads and executes lines; returns whether all succeeded.
bool talk(Chat& chat) {
  const bool is_terminal = isatty(STDIN_FILENO) != 0;
  bool all_handled = true;
  while (!chat.left) {
    if (is_terminal && !chat.options.quiet) draw("> ");
    const Result<std::optional<ChatLine>> line = read_chat_line(std::cin);
    if (line && !*line) break;
    const Result<void> handled = line ? handle(chat, **line) : tl::unexpected(line.error());
    if (handled) continue;
    print_error(handled.error().message);
    all_handled = false;
  }
  if (is_terminal && !chat.left && !chat.options.quiet) draw("\n");
  return all_handled || is_terminal;
}

}  // namespace

Result<int> converse(const ConversationOptions& options) {
  DRAFTSCOPE_TRY(engine::check_stop_strings(options.decoding.stop_strings));
  DRAFTSCOPE_TRY(engine::check(options.decoding.sampling));
  DRAFTSCOPE_TRY_ASSIGN(const LoadedModel model, load_model(options.model));
  engine::StrategyResources resources = strategy_resources(options.model, model);
  DRAFTSCOPE_TRY_ASSIGN(engine::ConfiguredStrategy strategy, strategy_of(options.strategy, model, resources));
  if (const auto problem = model.tokenizer.chat_template_problem())
    return fail("the chat template cannot be rendered, expected one that can: {}", *problem);
  Conversation conversation(model.tokenizer);
  DRAFTSCOPE_TRY(conversation.set_system(options.system));
  DRAFTSCOPE_TRY_ASSIGN(const auto backend, make_backend(options.model, model));
  if (!model.tokenizer.has_chat_template() && !options.quiet)
    print_note("this model has no chat template: it goes on with the turns, joined by blank lines");
  Chat state{options,
             model,
             *backend,
             std::move(resources),
             std::move(strategy),
             std::move(conversation),
             ChatEngine(*backend, model, options.decoding)};
  const bool all_handled = talk(state);
  return state.exit_code != 0 || all_handled ? state.exit_code : exit_failure;
}

}  // namespace draftscope::cli
