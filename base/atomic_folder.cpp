// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/atomic_folder.h>
#include <draftscope/base/folder_names.h>
#include <draftscope/base/put_in_place.h>
#include <draftscope/base/remove_folder.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace draftscope {
namespace {

namespace fs = std::filesystem;

/// Folders above `path` that are not there yet, the outermost first.
std::vector<fs::path> missing_parents(const fs::path& path) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path parent = path.parent_path();
       !parent.empty() && !fs::exists(fs::symlink_status(parent, error)); parent = parent.parent_path())
    missing.insert(missing.begin(), parent);
  return missing;
}

/// Every file of `from` gets its place in `to`, which exists.
Result<void> move_files(const fs::path& from, const fs::path& to) {
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::string> names, folder_names(from));
  std::error_code error;
  // What could fail for one of them is looked at before the first is moved.
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
  // "name/" has no last part to put a suffix to.
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

}  // namespace draftscope
