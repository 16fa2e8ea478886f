// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/atomic_file.h>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

namespace draftscope {
namespace {

constexpr std::size_t buffer_bytes = 1U << 20U;

/// Refuses a device or a pipe, which the rename would replace instead of writing to it.
Result<void> check_replaceable(const std::filesystem::path& target) {
  if (target.empty()) return fail("found an empty name, expected a file's");
  std::error_code unknown;
  const std::filesystem::file_status status = std::filesystem::status(target, unknown);
  // If the target can't be examined, creating it will fail and give the reason.
  if (unknown || !std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return {};
  return fail("{}: found {}, expected a new or a regular file", target.string(),
              std::filesystem::is_directory(status) ? "a folder" : "a device or a pipe");
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target, std::filesystem::path temporary)
    : target_(std::move(target)), temporary_(std::move(temporary)) {
  buffer_.reserve(buffer_bytes);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      file_(std::exchange(other.file_, -1)),
      buffer_(std::move(other.buffer_)),
      error_(std::move(other.error_)) {}

Result<AtomicFile> AtomicFile::create(const std::filesystem::path& target) {
  DRAFTSCOPE_TRY(check_replaceable(target));
  std::filesystem::path temporary = target;
  temporary += fmt::format(".{}.partial", ::getpid());
  // Allocate memory before there is something to remove.
  AtomicFile file(target, std::move(temporary));
  // No other process has this process id, so a file of that name is left from a crash.
  ::unlink(file.temporary_.c_str());
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  file.file_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.file_ < 0) return fail("{}: can't be created: {}", target.string(), std::strerror(errno));
  return file;
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::keep_error(std::string_view what) {
  if (!failed())
    error_.message = fmt::format("{}: can't be {}: {}", target_.string(), what, std::strerror(errno));
}

void AtomicFile::write(std::string_view bytes) {
  if (failed()) return;
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  buffer_.append(bytes);
}

void AtomicFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty() && !failed()) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written > 0)
      rest.remove_prefix(static_cast<std::size_t>(written));
    else if (written == 0 || errno != EINTR)
      keep_error("written");
  }
  buffer_.clear();
}

Result<void> AtomicFile::sync() {
  flush();
  if (!failed() && ::fsync(file_) != 0) keep_error("synced");
  if (failed()) return tl::unexpected<Error>(error_);
  return {};
}

Result<void> AtomicFile::commit(Replacing replacing) {
  DRAFTSCOPE_TRY(sync());
  DRAFTSCOPE_TRY(put_in_place(temporary_, target_, replacing));
  ::close(std::exchange(file_, -1));
  return {};
}

namespace {

/// Syncs a path; returns 0, or errno.
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
  // Allocate memory first, since a failure can no longer be reported once the file is there.
  const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
  const int error = rename_to(file, target, replacing);
  if (error == EEXIST && replacing == Replacing::refused)
    return fail("{}: exists already, although it did not before, expected a new file", target.string());
  if (error != 0) return fail("{}: can't be put in its place: {}", target.string(), std::strerror(error));
  // If the folder can't be synced, the rename still stands, since others can see it already.
  sync_path(folder, O_RDONLY | O_DIRECTORY);
  return {};
}

}  // namespace draftscope
