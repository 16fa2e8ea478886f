// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <filesystem>

namespace draftscope::engine::gguf {

/// Loads the next-token layer of a GGUF file: the block of index n_layers, with the tensors
/// "nextn.…". Errors: those of load_gguf(); a file without such a layer.
[[nodiscard]] Result<Checkpoint> load_next_token_layer(const std::filesystem::path& path,
                                                       BlockMatrices blocks);

}  // namespace draftscope::engine::gguf
