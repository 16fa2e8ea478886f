// SPDX-License-Identifier: GPL-3.0-or-later
// Input: the bytes of a trace. Any input is read in full or refused in one line; nothing crashes and nothing
// is written.

#include <cstdint>

#include "../traces/read_everything.h"
#include "promises.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace draftscope;
  const fuzz::InputFile file(".dstrace", {reinterpret_cast<const char*>(data), size});
  static_cast<void>(
      traces::hear_errors(file.path(), [](const std::string& error) { fuzz::require_one_line({error}); }));
  return 0;
}
