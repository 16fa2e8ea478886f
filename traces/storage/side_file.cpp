// SPDX-License-Identifier: GPL-3.0-or-later
#include "storage/side_file.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstring>

namespace draftscope::traces {

void remove_side_files(const std::filesystem::path& path) noexcept {
  std::array<char, PATH_MAX> name{};
  const std::size_t length = path.native().size();
  constexpr std::size_t longest_suffix = 16;
  if (length + longest_suffix > name.size()) return;  // no file has so long a name
  std::memcpy(name.data(), path.c_str(), length);
  for (const char* const suffix : side_file_suffixes) {
    std::memcpy(name.data() + length, suffix, std::strlen(suffix) + 1);
    ::unlink(name.data());
  }
}

}  // namespace draftscope::traces
