// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>

#include "entries.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  draftscope::engine::fuzz_safetensors_header(std::as_bytes(std::span(data, size)));
  return 0;
}
