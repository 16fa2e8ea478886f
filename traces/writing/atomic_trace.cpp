// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/atomic_trace.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

void sync(const fs::path& path, int flags) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

AtomicTrace::AtomicTrace(fs::path target, fs::path partial, std::unique_ptr<Writer> writer)
    : target_(std::move(target)), partial_(std::move(partial)), writer_(std::move(writer)) {}

AtomicTrace::AtomicTrace(AtomicTrace&& other) noexcept
    : target_(std::move(other.target_)),
      partial_(std::exchange(other.partial_, {})),
      writer_(std::move(other.writer_)) {}

Result<AtomicTrace> AtomicTrace::create(const fs::path& target, bool overwrite) {
  std::error_code error;
  const auto status = fs::status(target, error);
  if (fs::exists(status) && !overwrite)
    return fail("{}: exists already, and replacing it was not asked for", target.string());
  if (fs::exists(status) && !fs::is_regular_file(status))
    return fail("{}: is not a regular file, so a trace can't replace it", target.string());
  fs::path partial = target;
  partial += fmt::format(".{}.partial", ::getpid());
  WriterOptions options;
  options.queue_rows = std::numeric_limits<std::size_t>::max();
  options.overwrite = true;  // of that name only what a crash of a process with this number left
  DRAFTSCOPE_TRY_ASSIGN(std::unique_ptr<Writer> writer, Writer::create(partial, {}, options));
  return AtomicTrace(target, std::move(partial), std::move(writer));
}

AtomicTrace::~AtomicTrace() {
  writer_.reset();
  if (partial_.empty()) return;
  for (const char* const suffix : {"", "-wal", "-shm", "-journal"}) {
    fs::path file = partial_;
    file += suffix;
    ::unlink(file.c_str());
  }
}

Result<void> AtomicTrace::commit() {
  DRAFTSCOPE_TRY(writer_->close());
  writer_.reset();
  sync(partial_, O_RDONLY);
  if (::rename(partial_.c_str(), target_.c_str()) != 0)
    return fail("{}: can't be put in its place: {}", target_.string(), std::strerror(errno));
  partial_.clear();
  sync(target_.has_parent_path() ? target_.parent_path() : ".", O_RDONLY | O_DIRECTORY);
  return {};
}

}  // namespace draftscope::traces
