// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/commands.h"

#include "terminal/process.h"

#include <draftscope/base/result.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

namespace draftscope::cli {

namespace {

constexpr const char* app_name = "draftscope-gui";

/// Path of the app: beside this program in an installation, in the app's folder in a build tree, else
/// searched in PATH.
std::string app_path() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error)
    for (const std::filesystem::path& place :
         {program.parent_path() / app_name, program.parent_path() / "../gui" / app_name})
      if (std::filesystem::exists(place, error)) return place.string();
  return app_name;
}

/// Replaces this process by the app; returns only if that fails.
Result<int> view(const std::vector<std::string>& files) {
  for (const std::string& file : files)
    if (std::error_code error; !std::filesystem::exists(file, error)) return fail("{}: no such file", file);
  std::string program = app_path();
  std::vector<std::string> words{program};
  words.insert(words.end(), files.begin(), files.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  restore_signals();
  ::execvp(program.c_str(), arguments.data());
  return fail("{}: can't be started: {}; it comes with the package draftscope-gui", app_name,
              std::strerror(errno));
}

}  // namespace

void add_view_command(CLI::App& app, Outcome& outcome) {
  const auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = app.add_subcommand("view", "Open recordings in the desktop app");
  command->footer("Example: draftscope view demo-traces/early-exit.dstrace");
  command->add_option("FILE", *files, "Traces to open");
  command->callback([files, &outcome] { finish(outcome, view(*files)); });
}

}  // namespace draftscope::cli
