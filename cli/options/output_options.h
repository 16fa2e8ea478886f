// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Outputs of a command, and the files that its command line names, none of which may be its output.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/messages.h"

namespace draftscope::cli {

/// All existing paths that the value of an option names, as a whole or in parts (tuned:policy=FILE,
/// model=FILE). The value of `output`, such as "--output", is left out. A model's folder stands for its
/// files.
[[nodiscard]] std::vector<std::filesystem::path> files_named_by(const CLI::App& command,
                                                                std::string_view output);

/// Calls `run` with the options when the command is given. Their `inputs` are what the command line names but
/// for --output.
template <typename Options, typename Run>
void run_with_inputs(CLI::App& command, const std::shared_ptr<Options>& options, Outcome& outcome, Run run) {
  command.callback([options, run, &command, &outcome] {
    options->inputs = files_named_by(command, "--output");
    finish(outcome, run(*options));
  });
}

/// Adds an optional output. An empty name counts as given, which CLI11 would otherwise treat as absent.
template <typename Path>
CLI::Option* add_optional_output(CLI::App& command, const std::string& names, std::optional<Path>& output,
                                 const std::string& help) {
  return command.add_option_function<std::string>(
      names, [&output](const std::string& name) { output = name; }, help);
}

}  // namespace draftscope::cli
