// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

#include "../../../temporary_folder.h"

namespace draftscope::engine::test {

using draftscope::test::bytes_of;
using draftscope::test::write_bytes;

inline std::filesystem::path gguf_goldens() {
  return DRAFTSCOPE_SOURCE_DIR "/tests/engine/checkpoint/gguf/goldens";
}

}  // namespace draftscope::engine::test
