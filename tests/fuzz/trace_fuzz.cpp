// SPDX-License-Identifier: GPL-3.0-or-later
// Input: the bytes of a trace. Whatever comes is read in full or refused in one line; nothing crashes and
// nothing is written.

#include <draftscope/traces/bulk_reader.h>
#include <draftscope/traces/reader.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace {

using namespace draftscope;

void require(bool property) {
  if (!property) __builtin_trap();
}

void require_one_line(const Error& error) {
  require(!error.message.empty());
  require(error.message.find('\n') == std::string::npos);
}

void read_everything(const std::filesystem::path& path) {
  auto reader = traces::Reader::open(path);
  if (!reader) return require_one_line(reader.error());
  if (const auto recording = reader->recording(); !recording) require_one_line(recording.error());
  if (const auto strings = reader->strings(); !strings) require_one_line(strings.error());
  if (const auto counts = reader->row_counts(); !counts) require_one_line(counts.error());
  if (const auto done = reader->decisions([](const traces::Decision&) { return true; }); !done)
    require_one_line(done.error());
  if (const auto done = reader->shadow_tokens([](const traces::ShadowToken&) { return true; }); !done)
    require_one_line(done.error());
  if (const auto done = reader->spans([](const traces::Span&) { return true; }); !done)
    require_one_line(done.error());
  if (const auto done = reader->kernels([](const traces::Kernel&) { return true; }); !done)
    require_one_line(done.error());
  if (const auto done = reader->counters([](const traces::Counter&) { return true; }); !done)
    require_one_line(done.error());
  const std::atomic<bool> never{false};
  auto bulk = traces::BulkReader::open(path, never);
  if (!bulk) return require_one_line(bulk.error());
  if (const auto overview = bulk->overview(); !overview) require_one_line(overview.error());
  if (const auto done = bulk->spans({}, [](const traces::Span&) { return true; }); !done)
    require_one_line(done.error());
  if (const auto violations = reader->validate(); !violations) require_one_line(violations.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // One file a process, on the memory-backed file system: SQLite wants a path.
  static const std::filesystem::path path =
      "/dev/shm/draftscope-fuzz-" + std::to_string(getpid()) + ".dstrace";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  require(file >= 0);
  require(write(file, data, size) == static_cast<ssize_t>(size));
  close(file);
  read_everything(path);
  unlink(path.c_str());
  return 0;
}
