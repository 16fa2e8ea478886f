// SPDX-License-Identifier: GPL-3.0-or-later
#include "options/output_options.h"

#include <draftscope/base/folder_names.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>

namespace draftscope::cli {

namespace {

namespace fs = std::filesystem;

/// Whether a name belongs to a checkpoint: other files of its folder may well be outputs.
bool is_of_model(std::string_view name) {
  return name.ends_with(".safetensors") || name.ends_with("config.json") || name.ends_with("index.json") ||
         name == "tokenizer.json" || name == "chat_template.jinja";
}

void add_if_there(const std::string& name, std::vector<fs::path>& files) {
  std::error_code error;
  const fs::file_status status = fs::status(name, error);
  if (name.empty() || !fs::exists(status)) return;
  if (!fs::is_directory(status)) {
    files.emplace_back(name);
    return;
  }
  // The command itself reports a folder that can't be read.
  if (const auto inside = folder_names(name))
    for (const std::string& file : *inside)
      if (is_of_model(file)) files.push_back(fs::path(name) / file);
}

}  // namespace

std::vector<fs::path> files_named_by(const CLI::App& command, std::string_view output) {
  constexpr std::string_view separators = ":,=";
  std::vector<fs::path> files;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_name(false, true).find(output) != std::string::npos) continue;
    for (const std::string& value : option->results()) {
      add_if_there(value, files);
      for (std::size_t begin = 0; begin < value.size();) {
        const std::size_t end = std::min(value.find_first_of(separators, begin), value.size());
        if (end - begin < value.size()) add_if_there(value.substr(begin, end - begin), files);
        begin = end + 1;
      }
    }
  }
  return files;
}

}  // namespace draftscope::cli
