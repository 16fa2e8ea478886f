// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/atomic_file.h>
#include <draftscope/traces/atomic_trace.h>
#include <unistd.h>

#include <limits>
#include <system_error>
#include <utility>

#include "storage/database.h"
#include "writing/target.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

void remove_with_side_files(const fs::path& path) {
  remove_side_files(path);
  ::unlink(path.c_str());
}

}  // namespace

AtomicTrace::AtomicTrace(fs::path target, fs::path partial, bool replaces)
    : target_(std::move(target)), partial_(std::move(partial)), replaces_(replaces) {}

AtomicTrace::AtomicTrace(AtomicTrace&& other) noexcept
    : target_(std::move(other.target_)),
      partial_(std::exchange(other.partial_, {})),
      replaces_(other.replaces_),
      writer_(std::move(other.writer_)) {}

Result<AtomicTrace> AtomicTrace::create(const fs::path& target, bool overwrite) {
  DRAFTSCOPE_TRY_ASSIGN(const bool replaces, look_at_target(target, overwrite));
  fs::path partial = target;
  partial += fmt::format(".{}.partial", ::getpid());
  WriterOptions options;
  options.queue_rows = std::numeric_limits<std::size_t>::max();
  // A file of that name can only be left from a crashed process with this number.
  remove_with_side_files(partial);
  // The object is created first, so that its destructor removes the files.
  AtomicTrace trace(target, std::move(partial), replaces);
  DRAFTSCOPE_TRY_ASSIGN(trace.writer_, Writer::create(trace.partial_, {}, options));
  return trace;
}

AtomicTrace::~AtomicTrace() {
  writer_.reset();
  if (!partial_.empty()) remove_with_side_files(partial_);
}

Result<void> AtomicTrace::commit() {
  DRAFTSCOPE_TRY(writer_->close());
  writer_.reset();
  // A reader that opened the file by its temporary name keeps its log separate, with rows in it.
  std::error_code error;
  if (fs::exists(side_file(partial_, "-wal"), error))
    return fail("{}: can't be put in its place: somebody has {} open", target_.string(), partial_.string());
  DRAFTSCOPE_TRY(sync_file(partial_));
  DRAFTSCOPE_TRY(fold_log_of_old(target_));
  DRAFTSCOPE_TRY(put_in_place(partial_, target_, replaces_ ? Replacing::allowed : Replacing::refused));
  partial_.clear();
  return {};
}

}  // namespace draftscope::traces
