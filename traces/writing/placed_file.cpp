// SPDX-License-Identifier: GPL-3.0-or-later
#include "writing/placed_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "storage/database.h"

namespace draftscope::traces {

namespace fs = std::filesystem;

PlacedFile::PlacedFile(fs::path target, fs::path old, dev_t device, ino_t inode)
    : target_(std::move(target)), old_(std::move(old)), device_(device), inode_(inode) {}

PlacedFile::PlacedFile(PlacedFile&& other) noexcept
    : target_(std::move(other.target_)),
      old_(std::move(other.old_)),
      device_(other.device_),
      inode_(other.inode_),
      is_kept_(std::exchange(other.is_kept_, true)) {}

Result<PlacedFile> PlacedFile::put(AtomicFile file, const fs::path& target, bool replaces) {
  struct stat status {};
  if (::stat(file.temporary().c_str(), &status) != 0)
    return fail("{}: can't be created: {}", target.string(), std::strerror(errno));
  PlacedFile placed(fs::absolute(target), {}, status.st_dev, status.st_ino);
  if (replaces) {
    fs::path old = placed.target_;
    old += fmt::format(".{}.replaced", ::getpid());
    ::unlink(old.c_str());  // left over from a crash, as no other process has this one's number
    if (::link(placed.target_.c_str(), old.c_str()) == 0) placed.old_ = std::move(old);
  }
  DRAFTSCOPE_TRY(file.commit(replaces ? Replacing::allowed : Replacing::refused));
  return placed;
}

PlacedFile::~PlacedFile() {
  if (is_kept_) return;
  if (is_in_place()) {
    remove_side_files(target_);
    if (old_.empty())
      ::unlink(target_.c_str());
    else
      ::rename(old_.c_str(), target_.c_str());
  } else {
    keep();  // somebody else's file is there now
  }
}

void PlacedFile::keep() {
  is_kept_ = true;
  if (!old_.empty()) ::unlink(old_.c_str());
}

bool PlacedFile::is_in_place() const {
  struct stat status {};
  return ::stat(target_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

}  // namespace draftscope::traces
