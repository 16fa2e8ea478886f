// SPDX-License-Identifier: GPL-3.0-or-later
#include "import_target.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <system_error>
#include <thread>

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t rows_a_batch = 4096;
// One transaction waits while another is written: some ten megabytes.
constexpr std::int64_t most_waiting_rows = 1 << 17;

void sync(const fs::path& path, int flags) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

}  // namespace

ImportTarget::ImportTarget(fs::path target, fs::path partial, std::unique_ptr<Writer> writer)
    : target_(std::move(target)), partial_(std::move(partial)), writer_(std::move(writer)) {}

ImportTarget::ImportTarget(ImportTarget&& other) noexcept
    : target_(std::move(other.target_)),
      partial_(std::exchange(other.partial_, {})),
      writer_(std::move(other.writer_)),
      spans_(std::move(other.spans_)),
      kernels_(std::move(other.kernels_)),
      counters_(std::move(other.counters_)),
      lacks_(std::move(other.lacks_)),
      counts_(std::move(other.counts_)),
      added_rows_(other.added_rows_) {}

Result<ImportTarget> ImportTarget::create(const fs::path& target, bool overwrite) {
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
  return ImportTarget(target, std::move(partial), std::move(writer));
}

ImportTarget::~ImportTarget() {
  writer_.reset();
  if (partial_.empty()) return;
  for (const char* const suffix : {"", "-wal", "-shm", "-journal"}) {
    fs::path file = partial_;
    file += suffix;
    ::unlink(file.c_str());
  }
}

void ImportTarget::wait_for_disk() {
  while (added_rows_ - writer_->counts().written_rows > most_waiting_rows && !writer_->failed())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

template <typename Record>
void ImportTarget::flush(std::vector<Record>& batch) {
  added_rows_ += static_cast<std::int64_t>(batch.size());
  writer_->add(std::span<const Record>(batch));
  batch.clear();
  wait_for_disk();
}

template <typename Record>
void ImportTarget::add_to(std::vector<Record>& batch, const Record& row) {
  batch.push_back(row);
  if (batch.size() >= rows_a_batch) flush(batch);
}

void ImportTarget::add(const Request& request) {
  ++counts_.requests;
  ++added_rows_;
  writer_->finish(request);
  wait_for_disk();
}

void ImportTarget::add(const Round& round, std::span<const DraftToken> draft_tokens) {
  ++counts_.rounds;
  added_rows_ += 1 + static_cast<std::int64_t>(draft_tokens.size());
  writer_->add(round, draft_tokens);
  wait_for_disk();
}

void ImportTarget::add(const Span& span) {
  ++counts_.spans;
  add_to(spans_, span);
}

void ImportTarget::add(const Kernel& kernel) {
  ++counts_.kernels;
  add_to(kernels_, kernel);
}

void ImportTarget::add(const Counter& counter) {
  add_to(counters_, counter);
}

Result<ImportSummary> ImportTarget::commit() {
  flush(spans_);
  flush(kernels_);
  flush(counters_);
  counts_.lacks.assign(lacks_.begin(), lacks_.end());
  writer_->set_meta("lacks", lacks_text(counts_.lacks));
  if (auto closed = writer_->close(); !closed) return tl::unexpected<Error>(std::move(closed).error());
  writer_.reset();
  sync(partial_, O_RDONLY);
  if (::rename(partial_.c_str(), target_.c_str()) != 0)
    return fail("{}: can't be put in its place: {}", target_.string(), std::strerror(errno));
  partial_.clear();
  sync(target_.has_parent_path() ? target_.parent_path() : ".", O_RDONLY | O_DIRECTORY);
  return counts_;
}

}  // namespace draftscope::traces
