// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/put_in_place.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace draftscope {
namespace {

/// Returns 0, or errno.
int sync_path(const std::filesystem::path& path, int flags) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return errno;
  const int error = ::fsync(file) == 0 ? 0 : errno;
  ::close(file);
  return error;
}

int rename_to(const std::filesystem::path& file, const std::filesystem::path& target, Replacing replacing) {
  if (replacing == Replacing::refused) {
    if (::renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0) return 0;
    const bool is_unknown_here = errno == EINVAL || errno == ENOSYS;
    if (!is_unknown_here) return errno;
  }
  return ::rename(file.c_str(), target.c_str()) == 0 ? 0 : errno;
}

}  // namespace

Result<void> sync_file(const std::filesystem::path& file) {
  const int error = sync_path(file, O_RDONLY);
  if (error != 0) return fail("{}: can't be synced: {}", file.string(), std::strerror(error));
  return {};
}

Result<void> put_in_place(const std::filesystem::path& file, const std::filesystem::path& target,
                          Replacing replacing) {
  // What needs memory comes first: nobody is told of a failure once the file is there.
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const int error = rename_to(file, target, replacing);
  if (error == EEXIST && replacing == Replacing::refused)
    return fail("{}: exists already, although it did not before, expected a new file", target.string());
  if (error != 0) return fail("{}: can't be put in its place: {}", target.string(), std::strerror(error));
  // A folder that can't be synced does not undo the rename, which everybody sees already.
  sync_path(folder, O_RDONLY | O_DIRECTORY);
  return {};
}

}  // namespace draftscope
