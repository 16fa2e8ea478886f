// SPDX-License-Identifier: GPL-3.0-or-later
#include <dirent.h>
#include <draftscope/base/folder_names.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

namespace draftscope {

Result<std::vector<std::string>> folder_names(const std::filesystem::path& folder) {
  struct Close {
    void operator()(DIR* opened) const { ::closedir(opened); }
  };
  const std::unique_ptr<DIR, Close> opened(::opendir(folder.c_str()));
  if (opened == nullptr) return fail("{}: can't be read: {}", folder.string(), std::strerror(errno));
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* const entry = ::readdir(opened.get())) {
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return fail("{}: can't be read: {}", folder.string(), std::strerror(errno));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace draftscope
