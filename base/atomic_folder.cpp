// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/atomic_folder.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace draftscope {

AtomicFolder::AtomicFolder(std::filesystem::path target, std::filesystem::path temporary)
    : target_(std::move(target)), temporary_(std::move(temporary)) {}

AtomicFolder::AtomicFolder(AtomicFolder&& other) noexcept
    : target_(std::move(other.target_)), temporary_(std::exchange(other.temporary_, {})) {}

Result<AtomicFolder> AtomicFolder::create(const std::filesystem::path& target) {
  // "name/" has no last part to put a suffix to.
  std::filesystem::path temporary = target.has_filename() ? target : target.parent_path();
  temporary += fmt::format(".{}.partial", ::getpid());
  std::error_code error;
  std::filesystem::remove_all(temporary, error);
  if (!error) std::filesystem::create_directories(temporary, error);
  if (error) return fail("{}: can't be created: {}", target.string(), error.message());
  return AtomicFolder(target, std::move(temporary));
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, ignored);
}

Result<void> AtomicFolder::commit() {
  std::error_code error;
  std::filesystem::create_directories(target_, error);
  if (error) return fail("{}: can't be created: {}", target_.string(), error.message());
  std::filesystem::directory_iterator file(temporary_, error);
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    const std::filesystem::path place = target_ / file->path().filename();
    std::filesystem::rename(file->path(), place, error);
    if (error) return fail("{}: can't be put in its place: {}", place.string(), error.message());
  }
  if (error) return fail("{}: can't be read: {}", temporary_.string(), error.message());
  return {};
}

}  // namespace draftscope
