// SPDX-License-Identifier: GPL-3.0-or-later
// Input: the bytes of a file of one format (DRAFTSCOPE_IMPORT_FORMAT). Any input becomes a trace in which
// every rule holds, or is refused in one line and leaves no file.

#include <draftscope/traces/import.h>
#include <draftscope/traces/reader.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "promises.h"

namespace {

using namespace draftscope;
using fuzz::require;

void require_sound(const std::filesystem::path& trace) {
  auto reader = traces::Reader::open(trace);
  require(reader.has_value(), "the trace can be opened");
  const auto violations = reader->validate();
  require(violations.has_value(), "the trace can be validated");
  if (!violations->empty()) require(false, violations->front().table + ": " + violations->front().rule);
  require(reader->recording().has_value(), "the trace can be read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::InputFile source(".source", {reinterpret_cast<const char*>(data), size});
  const std::filesystem::path target = source.path().string() + ".dstrace";
  traces::ImportOptions options;
  options.format = DRAFTSCOPE_IMPORT_FORMAT;
  options.overwrite = true;
  for (const bool partial : {false, true}) {
    options.partial = partial;
    const auto imported = traces::import_recordings({source.path()}, options, target);
    if (imported) {
      require_sound(target);
      unlink(target.c_str());
      break;  // A complete file is imported in the same way with both settings.
    }
    fuzz::require_one_line(imported.error());
    require(!std::filesystem::exists(target), "a refused import leaves no trace");
  }
  return 0;
}
