// SPDX-License-Identifier: GPL-3.0-or-later
#include "serve/serve.h"

#include <draftscope/traces/record_help.h>
#include <fmt/format.h>
#include <memory>

#include "commands/commands.h"
#include "commands/record_command.h"
#include "options/numbers.h"
#include "options/output_options.h"
#include "serve/host_names.h"
#include "terminal/messages.h"

namespace draftscope::cli {

namespace {

constexpr std::int32_t tokens_of_a_completion = 512;
constexpr std::int32_t max_port = 65535;
constexpr std::int32_t max_queue = 256;

Result<int> serve_and_say_where(const ServeOptions& options) {
  if (!is_loopback(options.host))
    print_error(
        fmt::format("host {}: whoever reaches this address can use the model, without a key", options.host));
  return serve(options, [&options](std::int32_t port) {
    const bool is_bracketed = options.host.find(':') != std::string::npos;
    // A closed stdout ends no server.
    (void)write_out(fmt::format("listening on http://{}{}{}:{}/v1\n", is_bracketed ? "[" : "", options.host,
                                is_bracketed ? "]" : "", port));
  });
}

}  // namespace

void add_serve_command(CLI::App& app, Outcome& outcome, const std::string& command_line) {
  auto options = std::make_shared<ServeOptions>();
  options->decoding.max_tokens = tokens_of_a_completion;
  CLI::App* command =
      app.add_subcommand("serve", "Answer OpenAI's API for one model, and record what it decodes");
  command->footer(
      "POST /v1/completions and /v1/chat/completions, GET /v1/models, /health and /metrics. Options of "
      "decoding hold where a request leaves them open. Ctrl-C ends it and the trace.");
  add_model_options(*command, options->model);
  add_template_arguments(*command, options->model);
  command->add_option("-s,--strategy", options->strategy, "name:key=value,… (see draftscope strategies)")
      ->capture_default_str();
  add_decoding_options(*command, options->decoding);
  command->add_option("--host", options->host, "The address to listen on")->capture_default_str();
  command->add_option(
      "--allow-host", options->further_names,
      "A name by which clients call the server, beside loopback's and --host; others are refused");
  add_number(*command, "--port", options->port, "The port; 0 = any that is free", {0, max_port});
  add_number(*command, "--queue", options->queue, "Requests that may wait while one is decoded",
             {0, max_queue});
  CLI::Option* output =
      add_optional_output(*command, "-o,--output,--out", options->output, traces::record_help::output);
  add_device_trace_options(*command, options->device_trace);
  add_level_options(*command, options->level, options->shadow);
  command->add_flag("--overwrite", options->overwrite, traces::record_help::overwrite);
  for (const char* name : {"--device-trace", "--level", "--shadow", "--overwrite"})
    command->get_option(name)->needs(output);
  options->command_line = command_line;
  run_with_inputs(*command, options, outcome, serve_and_say_where);
}

}  // namespace draftscope::cli
