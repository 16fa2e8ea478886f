// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/remove_folder.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstddef>

namespace draftscope {
namespace {

/// Removes files until the folder has no more to name; true if there was one.
bool remove_some(int folder) {
  alignas(dirent64) std::array<std::byte, 4096> entries;
  bool removed = false;
  ::lseek(folder, 0, SEEK_SET);
  for (ssize_t bytes = 0; (bytes = ::getdents64(folder, entries.data(), entries.size())) > 0;) {
    for (ssize_t at = 0; at < bytes;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries.data() + at);
      removed |= ::unlinkat(folder, static_cast<const char*>(entry->d_name), 0) == 0;
      at += entry->d_reclen;
    }
  }
  return removed;
}

}  // namespace

void remove_folder_of_files(const char* folder) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int opened = ::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  // A folder that changes while it is read may pass over a file.
  while (remove_some(opened)) {
  }
  ::close(opened);
  ::rmdir(folder);
}

}  // namespace draftscope
