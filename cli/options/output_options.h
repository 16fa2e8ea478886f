// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a command is to write, and the files that its line names: none of them may be its output.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::cli {

/// Everything there is in the file system that a value of an option names, whole or in its parts
/// (tuned:policy=FILE, model=FILE), but for the value of `output`, such as "--output". Of a model's folder,
/// its files.
[[nodiscard]] std::vector<std::filesystem::path> files_named_by(const CLI::App& command,
                                                                std::string_view output);

/// An output that may be left out. An empty name is one that was given: CLI11 would take it for none.
template <typename Path>
CLI::Option* add_optional_output(CLI::App& command, const std::string& names, std::optional<Path>& output,
                                 const std::string& help) {
  return command.add_option_function<std::string>(
      names, [&output](const std::string& name) { output = name; }, help);
}

}  // namespace draftscope::cli
