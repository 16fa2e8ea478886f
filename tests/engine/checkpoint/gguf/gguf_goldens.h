// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/checkpoint.h>
#include <filesystem>
#include <stdexcept>

#include "../../../temporary_folder.h"
#include "gguf_bytes.h"

namespace draftscope::engine::test {

using draftscope::test::bytes_of;
using draftscope::test::write_bytes;

inline std::filesystem::path gguf_goldens() {
  return DRAFTSCOPE_SOURCE_DIR "/tests/engine/checkpoint/gguf/goldens";
}

/// Loads a file of these parts, or throws with the error. The file is gone afterwards, but not its mapping.
[[nodiscard]] inline Checkpoint loaded_gguf(const GgufParts& parts,
                                            BlockMatrices blocks = BlockMatrices::widened) {
  const draftscope::test::TemporaryFolder folder;
  write_bytes(folder / "model.gguf", parts.file());
  auto checkpoint = load_gguf(folder / "model.gguf", blocks);
  if (!checkpoint) throw std::runtime_error(checkpoint.error().message);
  return *std::move(checkpoint);
}

}  // namespace draftscope::engine::test
