// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/output_file.h>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <draftscope/base/folder_names.h>
#include <draftscope/base/quote.h>

namespace draftscope {
namespace {

namespace fs = std::filesystem;

/// Refuses names that do not denote a file of that name.
Result<void> check_name(const fs::path& target, std::string_view expected) {
  const std::string name = target.string();
  if (name.empty()) return fail("--output: found an empty name, expected {} to write", expected);
  if (name == ":memory:" || name.starts_with("file:"))
    return fail("--output: found {}, which names no file for SQLite, expected {} (./{} is one)", quote(name),
                expected, name);
  return {};
}

/// Checks that the target's folder exists and that files can be made in it.
Result<void> check_parent(const fs::path& target) {
  fs::path named = target.has_filename() ? target : target.parent_path();
  const fs::path folder = named.has_parent_path() ? named.parent_path() : ".";
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return fail("{}: found no folder {}, expected one to write into", target.string(), folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail("{}: the folder {} can't be written to: {}", target.string(), folder.string(),
                std::strerror(errno));
  return {};
}

Result<void> check_not_input(const fs::path& target, const fs::path& input) {
  std::error_code error;
  if (fs::equivalent(target, input, error))
    return fail("{}: is the same file as the input {}, expected another", target.string(), input.string());
  if (!fs::is_directory(input, error)) return {};
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::string> names, folder_names(input));
  for (const std::string& name : names)
    if (fs::equivalent(target, input / name, error))
      return fail("{}: is a file of the input {}, expected another", target.string(), input.string());
  return {};
}

Result<void> check_no_input(const fs::path& target, const OutputRules& rules) {
  for (const fs::path& input : rules.inputs) DRAFTSCOPE_TRY(check_not_input(target, input));
  return {};
}

}  // namespace

Result<void> check_output_file(const fs::path& target, const OutputRules& rules) {
  DRAFTSCOPE_TRY(check_name(target, "a file"));
  if (!target.has_filename()) return fail("{}: found a folder's name, expected a file's", target.string());
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) return fail("{}: is a folder, expected a file", target.string());
  if (fs::exists(status)) {
    if (!fs::is_regular_file(status))
      return fail("{}: found a device or a pipe, expected a new or a regular file", target.string());
    DRAFTSCOPE_TRY(check_no_input(target, rules));
    if (!rules.overwrite)
      return fail("{}: exists already, expected a new file (or --overwrite)", target.string());
  }
  return check_parent(target);
}

Result<void> check_output_folder(const fs::path& target, const OutputRules& rules) {
  DRAFTSCOPE_TRY(check_name(target, "a folder"));
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (!fs::exists(status)) return check_parent(target);
  DRAFTSCOPE_TRY(check_no_input(target, rules));
  if (!fs::is_directory(status)) return fail("{}: found a file, expected a folder", target.string());
  if (!fs::is_empty(target, error) && !rules.overwrite)
    return fail("{}: exists already and is not empty, expected a new folder (or --overwrite)",
                target.string());
  return {};
}

}  // namespace draftscope
