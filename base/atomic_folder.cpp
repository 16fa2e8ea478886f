// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/atomic_folder.h>

#include <draftscope/base/atomic_file.h>
#include <draftscope/base/folder_names.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#include <array>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace draftscope {
namespace {

namespace fs = std::filesystem;

/// Missing parent folders of `path`, the outermost first.
std::vector<fs::path> missing_parents(const fs::path& path) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path parent = path.parent_path();
       !parent.empty() && !fs::exists(fs::symlink_status(parent, error)); parent = parent.parent_path())
    missing.insert(missing.begin(), parent);
  return missing;
}

/// Moves every file of `from` into `to`, which exists.
Result<void> move_files(const fs::path& from, const fs::path& to) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::string> names, folder_names(from));
  std::error_code error;
  // Check every file for obstacles before the first one is moved.
  for (const std::string& name : names)
    if (fs::is_directory(to / name, error))
      return fail("{}: is a folder, expected a new or a regular file", (to / name).string());
  for (const std::string& name : names) {
    DRAFTSCOPE_TRY(put_in_place(from / name, to / name, Replacing::allowed));
  }
  return {};
}

}  // namespace

AtomicFolder::AtomicFolder(fs::path target, fs::path temporary, std::vector<fs::path> parents)
    : target_(std::move(target)), temporary_(std::move(temporary)), parents_(std::move(parents)) {}

AtomicFolder::AtomicFolder(AtomicFolder&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      parents_(std::move(other.parents_)) {}

Result<AtomicFolder> AtomicFolder::create(const fs::path& target) {
  // A path such as "name/" has no last part to append a suffix to.
  fs::path place = target.has_filename() ? target : target.parent_path();
  if (place.empty()) return fail("found an empty name, expected a folder's");
  std::error_code error;
  const fs::file_status status = fs::status(place, error);
  if (fs::exists(status) && !fs::is_directory(status))
    return fail("{}: is not a folder, expected a new or an existing one", target.string());
  fs::path temporary = place;
  temporary += fmt::format(".{}.partial", ::getpid());
  std::vector<fs::path> parents = missing_parents(temporary);
  AtomicFolder folder(std::move(place), std::move(temporary), std::move(parents));
  error.clear();
  fs::remove_all(folder.temporary_, error);
  if (!error) fs::create_directories(folder.temporary_, error);
  if (error) return fail("{}: can't be created: {}", target.string(), error.message());
  return folder;
}

AtomicFolder::~AtomicFolder() {
  if (temporary_.empty()) return;
  remove_folder_of_files(temporary_.c_str());
  for (auto parent = parents_.rbegin(); parent != parents_.rend(); ++parent) ::rmdir(parent->c_str());
}

Result<void> AtomicFolder::commit() {
  std::error_code error;
  if (fs::exists(target_, error)) {
    DRAFTSCOPE_TRY(move_files(temporary_, target_));
    fs::remove(temporary_, error);
  } else {
    DRAFTSCOPE_TRY(put_in_place(temporary_, target_, Replacing::refused));
  }
  temporary_.clear();
  return {};
}

namespace {

/// Removes files until no more are listed; returns true if there was one.
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
  // Listing may skip a file if the folder changes meanwhile, so it is repeated.
  while (remove_some(opened)) {
  }
  ::close(opened);
  ::rmdir(folder);
}

}  // namespace draftscope
