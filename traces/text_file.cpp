// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/text_file.h>

#include <fstream>
#include <iterator>
#include <system_error>

namespace draftscope::traces {

Result<std::string> read_text_file(const std::filesystem::path& path) {
  // Reading a folder's stream throws.
  if (std::error_code error; std::filesystem::is_directory(path, error))
    return fail("{}: is a folder, expected a file", path.string());
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return fail("{}: can't be read", path.string());
  return text;
}

}  // namespace draftscope::traces
