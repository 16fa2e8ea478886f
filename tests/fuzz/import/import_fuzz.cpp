// SPDX-License-Identifier: GPL-3.0-or-later
// Input: the bytes of a file of one format (DRAFTSCOPE_IMPORT_FORMAT). Whatever comes becomes a trace in
// which every rule holds, or is refused in one line and leaves nothing behind.

#include <draftscope/traces/import.h>
#include <draftscope/traces/reader.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

namespace {

using namespace draftscope;

void require(bool property, const std::string& what = {}) {
  if (property) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string stem = "/dev/shm/draftscope-import-" + std::to_string(getpid());
  const std::filesystem::path source = stem + ".source";
  const std::filesystem::path target = stem + ".dstrace";
  const int file = open(source.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  require(file >= 0);
  require(write(file, data, size) == static_cast<ssize_t>(size));
  close(file);
  traces::ImportOptions options;
  options.format = traces::ImportFormat::DRAFTSCOPE_IMPORT_FORMAT;
  options.overwrite = true;
  const auto imported = traces::import_recordings({source}, options, target);
  if (imported) {
    auto reader = traces::Reader::open(target);
    require(reader.has_value(), "the trace can't be opened");
    const auto violations = reader->validate();
    require(violations.has_value(), "the trace can't be validated");
    if (!violations->empty()) require(false, violations->front().table + ": " + violations->front().rule);
    require(reader->recording().has_value(), "the trace can't be read");
  } else {
    const std::string& message = imported.error().message;
    require(!message.empty() && message.find('\n') == std::string::npos, message);
    require(!std::filesystem::exists(target), "a refused import left a trace");
  }
  unlink(source.c_str());
  unlink(target.c_str());
  return 0;
}
